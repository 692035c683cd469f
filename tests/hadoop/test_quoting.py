"""Words on their way to a node: Hadoop's own classes read the command lines of typedbytes.hadoop.

Here: what Hadoop makes of values that its syntax could take for something else. Which values are refused, and how, is
in test_submit.py. Invariant: no job runs; Hadoop parses each command line, and sends the job as XML.
"""

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from support.hadoop_support import hadoop as local_hadoop
from typedbytes import hadoop
from typedbytes.hadoop import _quoting
from typedbytes.hadoop._check import OptionError, check_shipped

pytestmark = pytest.mark.hadoop

quickly = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
SPECIAL = "'\" \t\n\r#%,=:;\\?*[]{}()<>|&$!~@+-.\x01\x7f\x85\u2028é\u3000😀"
texts = st.text(st.sampled_from(SPECIAL) | st.characters(exclude_characters="\0/"), max_size=6)
words = texts | st.sampled_from(["-io", "-input", "--", "$HOME", "${user.name}", "%20", "it's.py", "a b.py", "x#y"])
# of files that can be made here
names = texts.map(lambda text: "".join(filter(str.isprintable, text)).lstrip(".") or "x")


def accepted(make, candidates):
    """Return (candidate, made) of those that are not refused."""
    found = []
    for candidate in candidates:
        try:
            found.append((candidate, make(candidate)))
        except (hadoop.SubmitError, OptionError):
            pass
    return found


def unquoted(word):
    """Return a value as older Hadoop's commons-cli 1.2 takes it; the jars of these tests have a later one."""
    word = word[1:] if word.startswith('"') else word
    return word[:-1] if word.endswith('"') else word


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("words")


@quickly
@given(st.lists(st.lists(words, min_size=1, max_size=4), min_size=8, max_size=8))
def test_a_command_is_split_into_its_words_or_refused(lists):
    made = accepted(_quoting.command, [*lists, ["it's", 'say "x"', "a b"], ["'a\"", "x"], ["", "x"]])
    assert (["it's", 'say "x"', "a b"]) in [each for each, _ in made]
    assert not [each for each, _ in made if "" in each or "'a\"" in each]
    start, end = ["-input", "in", "-output", "out", "-mapper"], ["-io", "typedbytes"]
    readings = local_hadoop().read_submissions([[*start, text, *end] for _, text in made])
    assert [reading.get("mapper", reading) for reading in readings] == [each for each, _ in made]
    assert all(text == unquoted(text) for _, text in made)


def plan_of(folder, name="job.py", **values):
    (folder / name).touch()
    return hadoop.Plan(str(folder / name), values.pop("inputs", ["/in"]), values.pop("output", "/out"), **values)


def read(plans):
    """Return what a node reads of each plan; all must get there."""
    lines = [plan.words() for plan in plans]
    assert all(word == unquoted(word) for line in lines for word in line)
    readings = local_hadoop().read_submissions(lines)
    assert [reading for reading in readings if "refused" in reading] == []
    return readings


FORMS = {
    "properties": lambda value: {"x.y": value},
    "environment": lambda value: {"A": value},
    "inputs": lambda value: [f"/{value}"],
    "output": lambda value: f"/{value}",
}
NAMES = {"properties": lambda name: {name: "1"}, "environment": lambda name: {name: "1"}}


@quickly
@given(st.lists(words, min_size=6, max_size=6))
def test_a_value_reaches_a_node_or_is_refused(folder, values):
    def make(candidate):
        option, argument = candidate
        plan = plan_of(folder, **{option: argument})
        plan.words()
        return plan

    candidates = [(option, form(value)) for value in [*values, "plain", "a=b", "a,b"] for option, form in FORMS.items()]
    candidates += [(option, form(value)) for value in values for option, form in NAMES.items()]
    made = accepted(make, candidates)
    assert {option for (option, argument), _ in made if "plain" in str(argument)} == FORMS.keys()
    assert {option for (option, argument), _ in made if "a,b" in str(argument)} == FORMS.keys() - {"inputs"}
    for ((option, argument), _), reading in zip(made, read([plan for _, plan in made])):
        if isinstance(argument, dict):
            assert reading[option].items() >= argument.items()
        else:
            assert reading[option] == ([f"file:{argument[0]}"] if option == "inputs" else f"file:{argument}")


@quickly
@given(st.lists(names, min_size=8, max_size=8), st.lists(texts, min_size=8, max_size=8))
@example([*"0123456", "x#y"], [""] * 8)
def test_files_reach_a_node_by_their_names_or_are_refused(folder, names, links):
    def make(pair):
        name, link = pair
        linked = [f"{folder / name}#{link}", str(folder / name)] if link else [str(folder / name)]
        plan = plan_of(folder, files=linked[:1], archives=linked[1:])
        check_shipped(plan)
        plan.words()
        return plan

    # What precedes a # must not be a file too: it would be the path, and the rest a link.
    names = [name for name in names if "#" not in name or name.partition("#")[0] not in ("", *names)]
    for name in [*names, "é.txt", "it's"]:
        (folder / name).touch()
    made = accepted(make, [*zip(names, links), *((name, "") for name in names), ("é.txt", "ü"), ("it's", "")])
    assert {("é.txt", "ü"), ("it's", "")} <= {pair for pair, _ in made}
    for ((name, link), plan), reading in zip(made, read([plan for _, plan in made])):
        assert reading["files"] == [[plan.script, "job.py"], [str(folder / name), link or name]]
        assert reading["archives"] == ([[str(folder / name), name]] if link else [])
    scripts = accepted(
        lambda name: (plan_of(folder, name), plan_of(folder, name).words())[0], [*names, "-i.py", "it's.py"]
    )
    assert scripts[-1][0] == "it's.py"
    for (name, plan), reading in zip(scripts, read([plan for _, plan in scripts])):
        assert reading["files"] == [[str(folder / name), name]]
        assert reading["mapper"] == ["python3", f"./{name}" if name.startswith("-") else name, "map"]
        assert reading["reducer"][2] == "reduce"
