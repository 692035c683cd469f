"""Classes with a context, a partitioner, a parameter and a counter."""

import pydoop.mapreduce.api as api
import pydoop.mapreduce.pipes as pipes


class Mapper(api.Mapper):
    def __init__(self, context):
        super().__init__(context)
        self.least = context.job_conf.get_int("least")
        self.short = context.get_counter("script", "short words")

    def map(self, context):
        for word in context.value.split():
            if len(word) >= self.least:
                context.emit(word, 1)
            else:
                context.increment_counter(self.short, 1)


class Reducer(api.Reducer):
    def reduce(self, context):
        context.emit(context.key, sum(context.values))


class Partitioner(api.Partitioner):
    def partition(self, key, n):
        return len(key) % n


def __main__():
    pipes.run_task(pipes.Factory(Mapper, Reducer, combiner_class=Reducer, partitioner_class=Partitioner))
