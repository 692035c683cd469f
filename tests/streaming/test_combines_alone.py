"""A combiner that map tasks call themselves, since Hadoop would give it the format of the job's output."""

import subprocess
import sys

import typedbytes as tb
from support.local_jobs import write_script
from support.streaming_support import environment


def test_pairs_are_combined_and_what_is_counted_on_the_way_is_reported(tmp_path):
    """The last of it is combined when the output is closed: its counters were sent before."""
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import counter, run

        def add(key, values):
            counter("calls", "add")
            yield key, sum(values)

        run(lambda key, value: [(value, 1)], add, add)
        """,
    )
    variables = {"typedbytes_combines": "true", "mapreduce_job_reduces": "1"}
    given = b"".join(tb.dumps(number) + tb.dumps(word) for number, word in enumerate("aba"))
    done = subprocess.run([sys.executable, script, "map"], input=given, capture_output=True, env=environment(variables))
    assert [*tb.PairReader(done.stdout)] == [("a", 2), ("b", 1)], done.stderr
    assert b"reporter:counter:calls,add,2\n" in done.stderr
