"""The names of pydoop.mapreduce."""
