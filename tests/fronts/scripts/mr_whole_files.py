"""The names of the files that have a line, by a mapper of whole files."""

import os

from mrjob.job import MRJob


class MRWholeFiles(MRJob):
    def mapper_raw(self, path, uri):
        with open(path) as file:
            for line in file:
                yield line.strip(), [os.path.basename(path), os.path.basename(uri)]

    def reducer(self, line, names):
        yield line, sorted(names)


if __name__ == "__main__":
    MRWholeFiles.run()
