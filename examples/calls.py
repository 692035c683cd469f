"""Join functions with their calls: two kinds of files meet under a function's name, neither kept in memory.

A file whose name has "definitions" in it has lines of a name and the file that defines it, separated by a TAB; every
other file is source text. The output has a pair for each function that is called: the name, and where it is defined
and how often it is called.
"""

import re

from typedbytes.streaming import lib, run

CALL = re.compile(r"(\w+)\(")


def definitions(offset, line):
    yield line.split("\t")


def calls(offset, line):
    if not line.lstrip().startswith(("def ", "class ")):
        for name in CALL.findall(line):
            yield name, 1


class Calls(lib.JoinReducer):
    """The files of a function come first, then its calls."""

    def primary(self, name, files):
        self.files = sorted(files)
        return ()

    def secondary(self, name, counts):
        yield name, (self.files[0], len(self.files), sum(counts))


def make_mapper():
    mapper = lib.MultiMapper()
    mapper.add("definitions", lib.primary(definitions))
    mapper.add("sources", lib.secondary(calls))
    return mapper


if __name__ == "__main__":
    run(make_mapper(), Calls)
