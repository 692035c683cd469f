"""What the workers of a test run share: one makes it, and the others wait."""

import multiprocessing
import queue

import pytest

from support.hadoop_support import jars

SECONDS = 60


def _enter_twice(path, said):
    with jars.alone(path), jars.alone(path):
        said.put("in")


def _enter(path, said):
    said.put("begun")
    with jars.alone(path):
        said.put("in")


@pytest.fixture
def start():
    """Start a function in a process of its own with a queue; return the queue, and end the process afterwards."""
    context = multiprocessing.get_context("spawn")
    processes = []

    def started(function, path):
        said = context.Queue()
        processes.append(context.Process(target=function, args=(path, said)))
        processes[-1].start()
        return said

    yield started
    for process in processes:
        process.kill()
        process.join()


def test_a_process_that_is_alone_can_say_so_again(start, tmp_path):
    assert start(_enter_twice, tmp_path).get(timeout=SECONDS) == "in"


def test_another_process_waits(start, tmp_path):
    with jars.alone(tmp_path):
        said = start(_enter, tmp_path)
        assert said.get(timeout=SECONDS) == "begun"
        with pytest.raises(queue.Empty):
            said.get(timeout=1)
    assert said.get(timeout=SECONDS) == "in"
