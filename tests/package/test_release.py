"""What a release says of itself in several places, and what hosted CI runs: targets of the Makefile."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))

pytestmark = pytest.mark.once


def version_in(path, pattern):
    """Return what the first match of a pattern in a file gives."""
    return re.search(pattern, (ROOT / path).read_text(), re.M)[1]


def test_the_version_is_the_same_everywhere():
    versions = {
        "pyproject.toml": version_in("pyproject.toml", r'^version = "(.*)"$'),
        "CITATION.cff": version_in("CITATION.cff", r"^version: (.*)$"),
        ".ci/conda/recipe.yaml": version_in(".ci/conda/recipe.yaml", r'^  version: "(.*)"$'),
        "src/java/pom.xml": version_in("src/java/pom.xml", "<version>(.*)</version>"),
        "src/java/hadoop/pom.xml": version_in("src/java/hadoop/pom.xml", "<version>(.*)</version>"),
    }
    assert len(set(versions.values())) == 1, versions


def commands_of(path):
    """Yield the command of each step of a workflow, once for each Python of its matrix."""
    text = path.read_text()
    assert "run: |" not in text  # one command a step
    pythons = re.findall(r'"([^"]+)"', version_in(path, r"python: \[(.*)\]")) if "matrix.python" in text else []
    for command in re.findall(r"^ *(?:- )?run: (.*)$", text, re.M):
        if "${{ matrix.python }}" in command:
            yield from (command.replace("${{ matrix.python }}", version) for version in pythons)
        else:
            yield command


COMMANDS = sorted({command for path in WORKFLOWS for command in commands_of(path)})


def test_hosted_ci_runs_every_supported_python():
    assert {f"make test-3.{minor}" for minor in range(9, 15)} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_hosted_ci_runs_targets_of_the_makefile(command):
    make, target = command.split()
    assert make == "make"
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
