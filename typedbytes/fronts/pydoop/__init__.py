"""The names of pydoop's MapReduce, by typedbytes: mappers and reducers with a context, and scripts of functions.

``typedbytes run --as pydoop script.py INPUT`` runs a module with mapper(key, value, writer[, conf]) and the like,
or one whose __main__() calls pipes.run_task(factory).
"""
