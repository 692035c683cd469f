"""A file of an option and one beside the script, both found by name in the folder of a task."""

from mrjob.job import MRJob


class MRFiles(MRJob):
    FILES = ["beside.txt"]

    def configure_args(self):
        super().configure_args()
        self.add_file_arg("--stop", help="words to leave out")

    def mapper_init(self):
        with open(self.options.stop) as file:
            self.stop = set(file.read().split())
        with open("beside.txt") as file:
            self.mark = file.read().strip()

    def mapper(self, _, line):
        for word in line.split():
            if word not in self.stop:
                yield word, self.mark

    def reducer(self, word, marks):
        yield word, len(list(marks))


if __name__ == "__main__":
    MRFiles.run()
