"""What several files of options mean together, as mrjob 0.7.4 prints it for these files, in inline and local.

mrjob/conf.py has !clear, combine_envs() and the order of files; mrjob/sim.py joins paths to those of the process.
"""

import functools
import json

import pytest

from support.streaming_support import run_module

pytest.importorskip("yaml")
run_front = functools.partial(run_module, "typedbytes.fronts")

SCRIPT = """
import os
from mrjob.job import MRJob
from mrjob.compat import jobconf_from_env

class Job(MRJob):
    def mapper(self, _, line):
        yield [os.environ.get(name) for name in ("A_PATH", "B_PATH", "C", "D", "PATHX")], [
            jobconf_from_env("my.a"), jobconf_from_env("my.b"), sorted({*os.listdir()} & {"a", "b"})]

if __name__ == "__main__":
    Job.run()
"""
BASE = """
    cmdenv: {A_PATH: /a, B_PATH: /ba, C: c1, D: d1, PATHX: x1}
    jobconf: {my.a: a1, my.b: b1}
    upload_files: [below/a]"""
FILES = {
    "base": ("", BASE),
    "plain": ("include: base.conf", """
    cmdenv: {A_PATH: /b, C: c2, PATHX: x2}
    jobconf: {my.a: a2}
    upload_files: [below/b]"""),
    "cleared": ("include: base.conf", """
    cmdenv: {A_PATH: !clear /b, C: !clear null, D: !clear d2}
    jobconf: {my.a: !clear null, my.b: !clear b2}
    upload_files: !clear [below/b]"""),
    "all_cleared": ("include: base.conf", """
    cmdenv: !clear {A_PATH: /b}
    !clear jobconf: {my.a: a2}
    upload_files: !clear null"""),
    "name_cleared": ("include: base.conf", """
    cmdenv: {!clear A_PATH: /b}
    jobconf: !clear
    upload_files: [!clear below/b]"""),
    "diamond": ("include: [plain.conf, base.conf]", "    cmdenv: {A_PATH: /d}"),
    "circle": ("include: [circle.conf, base.conf]", "    cmdenv: {A_PATH: /e}"),
}  # fmt: skip
#: By files: the variables, of which paths have more before and after them; the properties, and the names of files.
EXPECTED = {
    "base": (["/a", "/ba", "c1", "d1", "x1"], ["a1", "b1", ["a"]]),
    "plain": (["/b:/a", "/ba", "c2", "d1", "x2"], ["a2", "b1", ["a", "b"]]),
    "cleared": (["/b", "/ba", None, "d2", "x1"], [None, "b2", ["b"]]),
    "all_cleared": (["/b", None, None, None, None], ["a2", None, []]),
    "name_cleared": (["/b", "/ba", "c1", "d1", "x1"], [None, None, ["a", "b"]]),
    "diamond": (["/d:/a:/b", "/ba", "c1", "d1", "x1"], ["a1", "b1", ["a", "b"]]),
    "circle": (["/e:/a", "/ba", "c1", "d1", "x1"], ["a1", "b1", ["a"]]),
    "plain cleared": (["/b", "/ba", None, "d2", "x1"], [None, "b2", ["b"]]),
    "base plain": (["/b:/a", "/ba", "c2", "d1", "x2"], ["a2", "b1", ["a", "b"]]),
    "plain all_cleared": (["/b", None, None, None, None], ["a2", None, []]),
}


@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize("names", EXPECTED)
def test_options_of_several_files(tmp_path, names, runner):
    for name, (include, own) in FILES.items():
        (tmp_path / f"{name}.conf").write_text(f"{include}\nrunners:\n  {runner}:\n{own}\n")
    (tmp_path / "below").mkdir()
    for name, text in {"job.py": SCRIPT, "in": "x\n", "below/a": "", "below/b": ""}.items():
        (tmp_path / name).write_text(text)
    words = [word for name in names.split() for word in ("-c", f"{name}.conf")]
    words += ["--cmdenv=A_PATH=/1", "--cmdenv=B_PATH=/2"]
    output, _ = run_front(tmp_path, "job.py", "in", "-q", "-r", runner, *words, A_PATH="/env")
    (path, other, *more), rest = EXPECTED[names]
    expected = [f"/1:{path}:/env", f"/2:{other}" if other else "/2", *more]
    assert list(map(json.loads, output.decode().split("\t"))) == [expected, rest]


def test_a_command_as_a_list_is_not_joined(tmp_path):
    """combine_cmds(): the last one."""
    from typedbytes.fronts.mrjob.conf_files import options_of_files

    (tmp_path / "base.conf").write_text(
        '{"runners": {"local": {"python_bin": ["python3"], "setup": ["a"], "owner": "x"}}}'
    )
    own = {"python_bin": ["python9", "-u"], "setup": ["b"], "owner": None, "label": None}
    (tmp_path / "own.conf").write_text(json.dumps({"include": "base.conf", "runners": {"local": own}}))
    found = options_of_files("local", [str(tmp_path / "own.conf")])
    assert found == {"python_bin": ["python9", "-u"], "setup": ["a", "b"], "owner": "x"}
