"""One attempt of a map or a reduce task, whichever engine runs the job.

Here: what a task does from its input to its sorted runs or its part file. Not here: which task runs when and where, and what becomes of
its failure. Invariant: a pair goes through no Python object.
"""

from functools import partial

from typedbytes._sorting.external import Spills
from typedbytes.local._counters import Messages
from typedbytes.local._environment import attempt_id, combiner_environment, task_environment
from typedbytes.local._maptask import MapTask, feed_split
from typedbytes.local._output_folder import write_part
from typedbytes.local._sinks import ProgressSink

__all__ = ["TaskAttempt", "described", "total_records"]


class TaskAttempt:
    """The state of one attempt of a task: folders, environment, messages, temporary files.

    job: an object with the id, settings, environ, processes, memory of a task, max_files and output folder of the job.
    """

    def __init__(self, job, kind, number, count, environ):
        name = attempt_id(job.id, kind, number, count)
        self.folder = job.output.attempt_folder(name)
        self.messages = Messages(job.settings.quiet)
        self.spills = Spills(job.output.spill_folder(name), codec=job.settings.codec, memory=job.memory, max_files=job.max_files)
        self._environ = {**job.environ, **environ, **task_environment(job.id, kind, number, count, self.folder)}
        self._job = job
        self._number = number
        self.name = name

    def run(self, role, feed, collect):
        """Run the command of a role; as Processes.run."""
        job = self._job
        environ = {**self._environ, **combiner_environment()} if role == "combine" else self._environ
        return job.processes.run(job.settings.commands[role], environ, feed, collect, self.messages)

    def run_map(self, split, report_progress):
        """Run a map task; return its sorted runs, each with a Segment for every partition, and its counters. report_progress(nbytes): input read."""
        settings = self._job.settings
        combine = partial(self.run, "combine") if settings.nreducers and settings.commands["combine"] else None
        partitioning = {"npartitions": settings.nreducers or 1, "secondary": settings.secondary}
        task = MapTask(self.spills, partitioning, self._job.memory, combine)
        counted = {}

        def feed(sink):
            counted["MAP_INPUT_RECORDS"] = feed_split(split, sink, report_progress)

        counted["MAP_OUTPUT_RECORDS"] = self.run("map", feed, task.collect if settings.nreducers else self._write_part)
        return task.runs, {**counted, **task.counted}

    def run_reduce(self, segments, report_progress):
        """Run a reduce task on segments, in the order of the map tasks; return its counters."""
        nrecords = total_records(segments)

        def feed(sink):
            self.spills.merge(segments, ProgressSink(sink, report_progress))

        # A reducer without input is not run: Hadoop drops its output.
        nwritten = self.run("reduce", feed, self._write_part) if nrecords else self._write_part(None)
        return {"REDUCE_INPUT_RECORDS": nrecords, "REDUCE_OUTPUT_RECORDS": nwritten}

    def _write_part(self, source):
        settings = self._job.settings
        return write_part(self.folder, self._number, settings.output_format, settings.part_options, source)

    def drop(self):
        """Remove the files of an attempt that has failed."""
        self._job.output.drop_attempt(self.name)


def total_records(segments):
    """Return the number of records in segments."""
    return sum(segment.nrecords for segment in segments)


def described(split):
    """Return a split as messages name it."""
    return f"{split.path}, bytes {split.start} to {split.start + split.length}"
