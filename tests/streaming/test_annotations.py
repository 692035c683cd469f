"""Record classes in the annotations of mappers, reducers and combiners: what they get, and what they write.

Here: tasks as child processes. What is on the wire is read without types.
"""

import datetime as dt

import pytest

import typedbytes as tb
from support.streaming_support import encode, pairs, run_script

DAY = dt.date(2026, 5, 1)
DAYS = (DAY - dt.date(1970, 1, 1)).days

CLASSES = """
import dataclasses
import datetime as dt
import typing
from typing import Iterable, Iterator, Optional

class Visit(typing.NamedTuple):
    user: str
    day: dt.date

@dataclasses.dataclass
class Total:
    visits: int
    last: dt.date
    note: Optional[str] = None
"""

LATER = "from __future__ import annotations\n"  # of a script, which has to begin with it


def write(folder, text, is_later):
    return text if not is_later else f"exec(compile({LATER + text!r}, 'job', 'exec'))"


MAPPERS = {
    "function": "def mapper(key: int, visit: Visit) -> Iterator[tuple[str, Visit]]:\n    BODY\n",
    "untyped key": "def mapper(key, visit: Visit) -> Iterable[tuple[str, Visit]]:\n    BODY\n",
    "optional": "def mapper(key, visit: Optional[Visit]) -> Optional[Iterable[tuple[str, Visit]]]:\n    BODY\n",
    "class": "class mapper:\n    def map(self, key, visit: Visit) -> Iterator[tuple[str, Visit]]:\n        BODY\n",
    "static": (
        "class mapper:\n    @staticmethod\n"
        "    def map(key, visit: Visit) -> Iterator[tuple[str, Visit]]:\n        BODY\n"
    ),
    "called": "class mapper:\n    def __call__(self, k, visit: Visit) -> Iterator[tuple[str, Visit]]:\n        BODY\n",
    "decorated": (
        "import functools\ndef same(f):\n"
        "    @functools.wraps(f)\n    def inner(*args): return f(*args)\n    return inner\n"
        "@same\ndef mapper(key, visit: Visit) -> Iterator[tuple[str, Visit]]:\n    BODY\n"
    ),
    "text": "def mapper(key: 'int', visit: 'Visit') -> \"Iterator[typing.Tuple[str, 'Visit']]\":\n    BODY\n",
    "all at once": (
        "def mapper(pairs: Iterator[tuple[int, Visit]]) -> Iterator[tuple[str, Visit]]:\n"
        "    for key, visit in pairs:\n        BODY\n"
    ),
    "alias": "Visits = Iterator[tuple[str, Visit]]\ndef mapper(key, visit: Visit) -> Visits:\n    BODY\n",
}


@pytest.mark.parametrize("is_later", [False, True], ids=["evaluated", "as text"])
@pytest.mark.parametrize("mapper", MAPPERS.values(), ids=MAPPERS)
def test_a_mapper_gets_instances_and_writes_dates_as_numbers(tmp_path, mapper, is_later):
    body = "assert type(visit) is Visit and type(visit.day) is dt.date, visit; yield visit.user, visit"
    text = CLASSES + mapper.replace("BODY", body) + "run(mapper)\n"
    outcome = run_script(
        tmp_path, write(tmp_path, text, is_later), "map", data=encode((0, ("ann", DAYS)), (1, ("bob", DAY)))
    )
    assert pairs(outcome) == [("ann", ("ann", DAYS)), ("bob", ("bob", DAYS))]


REDUCERS = [
    "def reducer(user, visits: Iterator[Visit]) -> Iterator[tuple[str, Total]]:\n    BODY\n",
    "def reducer(user, visits: list[Visit]) -> Iterator[tuple[str, Total]]:\n    BODY\n",
    "class reducer:\n    def reduce(self, user, visits: Iterable[Visit]) -> list[tuple[str, Total]]:\n        BODY\n",
    (
        "def reducer(groups: Iterator[tuple[str, Iterator[Visit]]]) -> Iterator[tuple[str, Total]]:\n"
        "    for user, visits in groups:\n        BODY\n"
    ),
]
REDUCING = (
    "visits = list(visits); assert all(type(each) is Visit for each in visits), visits; "
    "yield user, Total(len(visits), max(each.day for each in visits))"
)


@pytest.mark.parametrize("role", ["reduce", "combine"])
@pytest.mark.parametrize("reducer", REDUCERS)
def test_a_reducer_gets_instances(tmp_path, reducer, role):
    text = CLASSES + reducer.replace("BODY", REDUCING) + "run(None, reducer, reducer)\n"
    data = encode(("ann", ("ann", DAYS)), ("ann", ("ann", DAYS + 1)), ("bob", ("bob", 0)))
    assert pairs(run_script(tmp_path, text, role, data=data)) == [
        ("ann", {"visits": 2, "last": DAYS + 1, "note": None}),
        ("bob", {"visits": 1, "last": 0, "note": None}),
    ]


def test_options_of_run_win_over_annotations(tmp_path):
    text = CLASSES + (
        "def reducer(user, visits: Iterator[Visit]) -> Iterator[tuple[str, Total]]:\n"
        "    for visit in visits: yield user, Total(1, visit[1])\n"
        "run(None, reducer, write_options={'value_type': None, 'omit_none': True})\n"
    )
    found = pairs(run_script(tmp_path, text, "reduce", data=encode(("ann", ("ann", DAYS)))))
    assert found == [("ann", {"visits": 1, "last": DAY, "note": None})]
    text = text.replace("'value_type': None, ", "")
    found = pairs(run_script(tmp_path, text, "reduce", data=encode(("ann", ("ann", DAYS)))))
    assert found == [("ann", {"visits": 1, "last": DAYS})]


OTHERS = [
    "def mapper(key: str, value: bool) -> Iterator[tuple[bytes, int]]:",
    "def mapper(key: 'Unknown', value: 'Iterator[Unknown]') -> 'Unknown':",
    "def mapper(key: list[int], value: typing.Any) -> Visit:",
    "def mapper(key: typing.Literal['Visit'], value: dt.date) -> Iterator[Visit]:",
]


@pytest.mark.parametrize("head", OTHERS)
def test_other_annotations_change_nothing(tmp_path, head):
    text = CLASSES + f"{head}\n    yield key, value\n"
    text += "import sys\nassert 'typedbytes._records' not in sys.modules\nrun(mapper)\n"
    data = encode((1, ("ann", DAY)), ("x", None))
    outcome = run_script(tmp_path, text.replace("run(mapper)", RUN_AND_LIST), "map", data=data)
    assert pairs(outcome) == [(1, ("ann", DAY)), ("x", None)]
    assert outcome.messages == ""


RUN_AND_LIST = """\
import atexit
class Job:
    map = staticmethod(mapper)
    def close(self):
        assert not [name for name in sys.modules if name.startswith("typedbytes._records")]
run(Job)"""


def test_a_task_without_record_classes_does_not_import_what_types_need(tmp_path):
    text = "def mapper(key: int, value: str): yield key, [name for name in sys.modules]\nrun(mapper)\n"
    ((_, names),) = pairs(run_script(tmp_path, text, "map", data=encode((1, "a"))))
    assert not {"typing", "dataclasses", "typedbytes._records", "typedbytes.streaming._annotations"} & {*names}


MISFIT = encode((0, ("ann", DAYS)), (1, ("bob", "no day")), (2, ("eve", DAYS)))


def test_a_value_that_does_not_fit_fails_the_task_with_its_path(tmp_path):
    text = CLASSES + "def mapper(key, visit: Visit): yield visit.user, 1\nrun(mapper)\n"
    outcome = run_script(tmp_path, text, "map", data=MISFIT)
    assert (outcome.code, outcome.output) == (65, b"")
    assert 'expected date, found STRING "no day"' in outcome.messages and "path .day" in outcome.messages
    assert outcome.details()["bad record"].startswith("1, ")


@pytest.mark.parametrize("role", ["map", "reduce"])
def test_a_value_that_does_not_fit_can_be_left_out(tmp_path, role):
    text = CLASSES + (
        "def mapper(key, visit: Visit) -> Iterator[tuple[str, Visit]]: yield visit.user, visit\n"
        "def reducer(key, visits: Iterator[Visit]) -> Iterator[tuple[int, Visit]]:\n"
        "    for visit in visits: yield visit.user, visit\n"
        "os.chdir(os.path.dirname(__file__))\n"
        "run(mapper, reducer, max_bad=1)\n"
    )
    outcome = run_script(tmp_path, text, role, data=MISFIT)
    assert pairs(outcome) == [("ann", ("ann", DAYS)), ("eve", ("eve", DAYS))]
    assert 'bad record 1, of 2 read: DecodeTypeError: expected date, found STRING "no day"' in outcome.messages


def test_what_is_written_must_fit_too(tmp_path):
    text = CLASSES + "def mapper(key, value) -> Iterator[tuple[str, Visit]]: yield 'a', (1, 2)\nrun(mapper)\n"
    outcome = run_script(tmp_path, text, "map", data=encode((0, 0)))
    assert outcome.code == 1 and "EncodeTypeError: expected Visit, found tuple" in outcome.messages


REFUSED = {
    "def reducer(key, visits: Visit): pass": "TypeError: reducer: the parameter 'visits' is an iterator of values: "
    "write Iterator[...], not Visit",
    "def reducer(groups: Iterator[Visit]): pass": "TypeError: reducer: the parameter 'groups' is an iterator of pairs: "
    "write Iterator[tuple[key, value]], not typing.Iterator[__main__.Visit]",
    "def reducer(key, visits: 'Iterator[Visit, Unknown]'): pass": "TypeError: reducer: the annotation "
    "'Iterator[Visit, Unknown]' cannot be resolved in the job: name 'Unknown' is not defined",
    "def reducer(key, visits: Iterator[typing.Tuple['Unknown', Visit]]): pass": "TypeError: reducer: the annotation "
    "typing.Iterator[typing.Tuple[ForwardRef('Unknown'), __main__.Visit]] cannot be resolved in the job: "
    "name 'Unknown' is not defined",
    "class Bad(typing.NamedTuple):\n    n: complex\ndef reducer(key, values: Iterator[Bad]): pass": "TypeError: "
    "reducer: value: Bad.n: complex is not a type that records can have",
}


@pytest.mark.parametrize("text", REFUSED)
def test_annotations_that_cannot_be_meant(tmp_path, text):
    outcome = run_script(tmp_path, f"{CLASSES}\n{text}\nrun(None, reducer)\n", "reduce")
    assert outcome.code == 1 and outcome.lines[-1] == REFUSED[text]


@pytest.mark.parametrize("form", ["text", "rawbytes"])
def test_lines_and_raw_bytes_are_no_records(tmp_path, form):
    text = CLASSES + "def mapper(key, visit: Visit): pass\nrun(mapper)\n"
    outcome = run_script(tmp_path, text, "map", environ={"stream_map_input": form})
    said = "the mapper has a parameter of a record class, which needs typed bytes as input; this task has"
    assert outcome.code == 64 and outcome.lines[0] == f"typedbytes: {said} {form}"


GROUPED = """
class Key(typing.NamedTuple):
    day: dt.date
    n: int

def mapper(key, visit: Visit) -> Iterator[tuple[Key, Visit]]:
    yield Key(visit.day, key), visit

def reducer(key: Key, visits: Iterator[Visit]) -> Iterator[tuple[Key, int]]:
    assert type(key) is Key
    yield key, [type(each).__name__ for each in visits]

def day(key):
    assert type(key.day) is dt.date
    return key.day.toordinal()

run(mapper, reducer, group_by=day MORE)
"""


@pytest.mark.parametrize("more", ["", ", max_bad=3"])
def test_keys_that_are_grouped_by_a_part(tmp_path, more):
    script = CLASSES + GROUPED.replace(" MORE", more)
    hadoop = {"mapreduce_job_reduces": "2", "mapreduce_job_id": "job_1_1", "mapreduce_task_partition": "0"}
    hadoop |= {f"stream_{role}_{end}": "typedbytes" for role in ("map", "reduce") for end in ("input", "output")}
    data = encode((2, ("ann", DAYS)), (1, ("bob", DAYS)))
    mapped = run_script(tmp_path, script, "map", data=data, environ=hadoop)
    assert mapped.code == 0, mapped.messages
    parts = sorted(tb.PairReader(mapped.output, raw=True))
    assert [tb.loads(key)[:2] for key, _ in parts] == [(DAY.toordinal(), (DAYS, 1)), (DAY.toordinal(), (DAYS, 2))]
    joined = b"".join(part for pair in parts for part in pair)
    reduced = run_script(tmp_path, script, "reduce", data=joined, environ=hadoop)
    assert pairs(reduced) == [((DAYS, 1), ["Visit", "Visit"])]


def test_wrappers_of_mappers_have_the_annotations_of_theirs(tmp_path):
    text = CLASSES + (
        "from typedbytes.streaming import lib\n"
        "def mapper(key, visit: Visit) -> Iterator[tuple[Visit, Visit]]: yield visit, visit\n"
        "def counting(key, visit: Visit) -> Iterator[tuple[Visit, int]]: yield visit, 1\n"
        "many = lib.MultiMapper()\n"
        "many.add('users', lib.primary(mapper))\n"
        "many.add('pages', lib.identitymapper)\n"
        "run(lib.Combining(counting) if task().params.get('combining') else many)\n"
    )
    data = encode((0, ("ann", DAYS)), (1, ("ann", DAYS)))
    found = pairs(run_script(tmp_path, text, "map", data=data, environ={"map_input_file": "/users/part-00000"}))
    assert found == [((("ann", DAYS), False), ("ann", DAYS))] * 2
    found = pairs(run_script(tmp_path, text, "map", data=data, environ={"map_input_file": "/pages/part-00000"}))
    assert found == [(0, ("ann", DAYS)), (1, ("ann", DAYS))]
    found = pairs(run_script(tmp_path, text, "map", data=data, environ={"typedbytes_param_combining": "1"}))
    assert found == [(("ann", DAYS), 2)]


@pytest.mark.parametrize("wrapped", ["mapper", "mock.call"])
def test_a_function_that_wraps_without_end_is_called(tmp_path, wrapped):
    text = CLASSES + (
        "from unittest import mock\n"
        "def mapper(key, visit: Visit): yield key, 1\n"
        f"mapper.__wrapped__ = {wrapped}\n"
        "run(mapper)\n"
    )
    assert pairs(run_script(tmp_path, text, "map", data=encode((0, ("ann", DAYS))))) == [(0, 1)]


def test_unit_tests_of_jobs_use_annotations(tmp_path):
    text = CLASSES + (
        "from typedbytes.streaming import testing\n"
        "def mapper(key, visit: Visit) -> Iterator[tuple[str, Visit]]: yield visit.user, visit\n"
        f"def reducer(user, visits: Iterator[Visit]) -> Iterator[tuple[str, Total]]:\n    {REDUCING}\n"
        "def untyped(user, visits): yield user, list(visits)\n"
        "visits = [(0, Visit('ann', dt.date(2026, 5, 1))), (1, ('ann', dt.date(2026, 5, 2)))]\n"
        "assert testing.call_map(mapper, visits) == [(visit[0], Visit(*visit)) for _, visit in visits]\n"
        "assert testing.call_reduce(reducer, [('ann', visits[0][1])]) == [('ann', Total(1, dt.date(2026, 5, 1)))]\n"
        "assert testing.run_job(visits, mapper, reducer) == [('ann', Total(2, dt.date(2026, 5, 2)))]\n"
        f"assert testing.run_job(visits, mapper, untyped) == [('ann', [('ann', {DAYS}), ('ann', {DAYS + 1})])]\n"
    )
    assert run_script(tmp_path, text).lines == []


def test_a_map_task_of_a_split_combines_by_the_annotations_of_the_combiner(tmp_path):
    text = CLASSES + (
        "def mapper(offset: int, line: str) -> Iterator[tuple[str, Visit]]:\n"
        "    yield 'ann', Visit(line, dt.date(2026, 5, 1))\n"
        "def combiner(user, visits: Iterator[Visit]) -> Iterator[tuple[str, Visit]]:\n"
        "    visits = list(visits); assert all(type(each) is Visit for each in visits)\n"
        "    yield user, Visit(visits[0].user + visits[1].user, visits[0].day)\n"
        "run(mapper, combiner, combiner)\n"
    )
    hadoop = {
        "typedbytes_split_format": "text", "typedbytes_split_start": "0", "typedbytes_split_length": "4",
        "stream_map_input": "split", "stream_map_output": "typedbytes", "stream_combine_streamprocessor": "job.py",
    }  # fmt: skip
    found = run_script(tmp_path, text, "map", data=b"a\nb\n", environ=hadoop)
    assert pairs(found) == [("ann", ("ab", DAYS))]
