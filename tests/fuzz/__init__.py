"""Fuzzing: many small generated inputs, and what must be true of each.

The command is `python tests/fuzz/run.py`; --help lists its options.

    run.py          the command: all targets for some seconds or some executions, and the table of what came out
    engine.py       one target in a process of its own; an input that kills it is known all the same
    coverage.py     the same targets under atheris, whose inputs are led by the branches that they reach
    targets.py      the targets by name, each a function of bytes that raises when something is wrong
    decoding.py     whole buffers: values, structure, the reference
    streams.py      the same bytes in pieces
    calls.py        sequences of calls on readers and writers, sources and sinks that misbehave
    encoding.py     objects, including unusual ones
    pickles.py      pickles under the safe policy that nest, share and collide, on a small stack
    records.py      values by type beside the reference
    classes.py      described classes beside the reference
    rcfiles.py      files of Hive by any schema
    compressed.py   files compressed as a whole, beside other libraries
    older.py        the names of the older libraries
    java.py         Hadoop's own readers beside ours, many inputs in one Java virtual machine (a command by itself)
    inputs.py       making inputs: seeds, grammar, spoiling
    options.py      the sets of options that targets choose from
    choices.py      decisions out of bytes
    guard.py        memory that ends where an unreadable page begins
    corpus.txt      inputs that reached something new once, or broke something, as hexadecimal lines
"""
