"""How time is taken: CPU time, the least of many rounds, all runners in turn within each round.

Here: clocks, rounds, the collector. Not here: what is measured. Invariant: arguments are made, and the collector is
run, outside the time taken; a runner's result is released after it, and the time with that is kept apart.
"""

import contextlib
import gc
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

MIN_NROUNDS = 8
MAX_NROUNDS = 240
#: A turn lasts for at least so long: what is short runs several times, and is as warm as in a loop of its own.
TURN_NS = 400_000
#: And so many times: in a first call the memory of a large output may be new to the process,
#: after another contender has given its own back.
TURN_NCALLS = 3
#: A runner this many times slower than the fastest sits out after some rounds.
HOPELESS = 10
HOPELESS_NROUNDS = 4


def cpu_of_children_ns():
    """Return the CPU time of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


@dataclass
class Runner:
    """A contender: what is timed, its argument for each round, the bytes it makes or takes, whether it is right.

    turn_ns, turn_ncalls: how long a turn lasts at least, and how many calls it has.
    """

    name: str
    run: Callable
    prepare: Callable
    nbytes: int
    correct: bool
    finish: Callable = lambda argument: None
    clock: Callable = time.process_time_ns
    turn_ns: int = TURN_NS
    turn_ncalls: int = TURN_NCALLS
    call_ns: float = float("inf")
    release_ns: float = float("inf")

    def take_turn(self, nround):
        """Run once or, if that is short, several times; each time with the next argument."""
        gc.collect()
        spent = ncalls = 0
        while spent < self.turn_ns or ncalls < self.turn_ncalls:
            spent += self.measure(nround)
            nround += 1
            ncalls += 1

    def measure(self, nround):
        """Run once; keep the least times of the call, and of the call with the release of its result."""
        argument = self.prepare(nround)
        started = self.clock()
        result = self.run(argument)
        called = self.clock()
        del result
        released = self.clock()
        self.finish(argument)
        if called > started:  # in a virtual machine the clock may stand still over one call in a million
            self.call_ns = min(self.call_ns, called - started)
            self.release_ns = min(self.release_ns, released - started)
        return released - started


@dataclass
class Race:
    """Runners that do the same with the same values."""

    level: str
    operation: str
    shape: str
    nvalues: int
    runners: list

    def run(self, seconds, min_nrounds=MIN_NROUNDS):
        """Run all in turn for about `seconds` (0: one round); each round begins with another one."""
        deadline = time.monotonic() + seconds
        with collector_frozen():
            for nround in range(MAX_NROUNDS):
                if nround >= (min_nrounds if seconds else 1) and time.monotonic() > deadline:
                    break
                fastest = min(runner.call_ns for runner in self.runners)
                first = nround % len(self.runners)
                for runner in self.runners[first:] + self.runners[:first]:
                    if nround < HOPELESS_NROUNDS or runner.call_ns <= HOPELESS * fastest:
                        runner.take_turn(nround)

    def result(self):
        """Return the outcome as JSON has it: nanoseconds are for one value."""
        entries = {
            runner.name: {
                "ns": round(runner.call_ns / self.nvalues, 3),
                "ns_released": round(runner.release_ns / self.nvalues, 3),
                "nbytes": runner.nbytes,
                "correct": runner.correct,
            }
            for runner in self.runners
        }
        about = {"level": self.level, "operation": self.operation, "shape": self.shape, "nvalues": self.nvalues}
        return {**about, "entries": entries}


@contextlib.contextmanager
def collector_frozen():
    """Keep the collector out of all objects that are there now; it stays on, as it is where users are."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
