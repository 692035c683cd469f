"""A map task's output, combined before Hadoop gets it: what would be handed over, sorted and read back is fewer pairs.

Here: gathering pairs, sorting them, and the combiner's calls. Not here: when a job combines so. Invariant: the combiner
gets all gathered values of a key in one call, in the order in which they came; what it gives goes on to Hadoop, which
may run the job's combiner on it again.
"""

import io

from typedbytes._core import PairReader, RecordLoop
from typedbytes._sorting import Sorter
from typedbytes.streaming._user_code import StopEarly, UserCode
from typedbytes.streaming.formats.typed_bytes import TypedBytesOutput

#: For pairs and for sorting them, twice: a task has half a gigabyte or more,
#: and most of the gain is there with much less.
MEMORY_NBYTES = 64 << 20
GROUP = "org.apache.hadoop.mapreduce.TaskCounter"


class CombiningSink:
    """Take whole pairs of typed bytes, as a PairWriter hands them over, and write what a combiner makes of them.

    read_options and write_options are those of PairReader and PairWriter. counters: None, or those of the task, which
    count then what an engine counts of a combiner that it runs.
    """

    def __init__(self, sink, combiner, read_options, write_options, memory=MEMORY_NBYTES):
        dialect = {name: read_options[name] for name in ("dialect",) if name in read_options}
        self._sorter = Sorter(memory=memory, **dialect)
        self._read_options = read_options
        self._sink = sink
        self._output = TypedBytesOutput(sink, write_options)
        self._user_code = UserCode("combine", combiner)
        self._is_started = False
        self.counters = None
        self._npairs = 0

    def write(self, data):
        """Gather pairs, combine them when memory is full, and return how many bytes they were."""
        if self._sink.closed:  # the attempt has failed: no user code is called any more
            return len(data)
        source = io.BytesIO(data)
        while self._sorter.fill(source):
            self._combine()
        return len(data)

    def close(self):
        """Combine the rest; the sink stays open."""
        if not self._sink.closed:
            self._combine()
            if self._is_started:
                self._output.writes(self._user_code.end())
            if self.counters is not None:
                self.counters.add(GROUP, "COMBINE_INPUT_RECORDS", self._npairs)
                self.counters.add(GROUP, "COMBINE_OUTPUT_RECORDS", self._output.record)
        self._output.close()

    def _combine(self):
        gathered = io.BytesIO()
        npairs = sum(self._sorter.sort())
        self._npairs += npairs
        if npairs:
            self._sorter.write(0, gathered)
        self._sorter.clear()
        if not npairs:
            return
        gathered.seek(0)
        reader = PairReader(gathered, **self._read_options)
        try:
            self._start()
            RecordLoop(reader.groups(), self._user_code.process, self._output, self._user_code.takes_all).run()
            reader._check_end()
        except StopEarly:
            pass  # the combiner wants no more of what was gathered

    def _start(self):
        if not self._is_started:
            self._user_code.start()
            self._is_started = True
