"""A driver: jobs on pairs in memory, and a file of pairs that is written and read."""

import os
import sys
import tempfile

import hadoopy

here = os.path.dirname(os.path.abspath(__file__))
script = os.path.join(here, "hadoopy_words.py")
lines = ["To be or not to be", "that is the question", "to sleep to dream", "ay there is the rub"]
pairs = list(enumerate(lines))
python = sys.argv[1] if len(sys.argv) > 1 else "python"

for words in ({}, {"max_input": 2}, {"num_reducers": 0}):
    options = dict(words, cmdenvs=["LEAST=3"], python_cmd=python, pipe=False)
    found = hadoopy.launch_local(pairs, None, script, **options)["output"]
    for pair in sorted(found, key=repr):
        print(pair)

path = os.path.join(tempfile.mkdtemp(), "pairs.tb")
with hadoopy.TypedBytesFile(path, "w") as file:
    for key, line in pairs:
        file.write((key, [line, len(line) * 0.5, (key, None)]))
with hadoopy.TypedBytesFile(path, "r") as file:
    for pair in file:
        print(pair)
