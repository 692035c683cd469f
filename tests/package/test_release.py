"""What a release says of itself in several places, and what hosted CI runs: targets of the Makefile, scripts of .ci."""

import collections
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))

pytestmark = pytest.mark.once

#: A source archive has no workflows.
needs_repository = pytest.mark.skipif(not (ROOT / ".github").exists(), reason="not a checkout of the repository")


def version_in(path, pattern):
    """Return what the first match of a pattern in a file gives."""
    return re.search(pattern, (ROOT / path).read_text(), re.M)[1]


def test_the_version_is_the_same_everywhere():
    versions = {
        "pyproject.toml": version_in("pyproject.toml", r'^version = "(.*)"$'),
        "CITATION.cff": version_in("CITATION.cff", r"^version: (.*)$"),
        ".ci/conda/recipe.yaml": version_in(".ci/conda/recipe.yaml", r'^  version: "(.*)"$'),
        **{
            f"src/java/{path}": version_in(f"src/java/{path}", "<version>(.*)</version>")
            for path in ("pom.xml", "records/pom.xml", "hadoop/pom.xml", "parent/pom.xml")
        },
    }
    assert len(set(versions.values())) == 1, versions


def test_the_conda_recipe_needs_what_the_project_needs():
    """The optional packages too, whose versions it limits where they are installed."""
    metadata = pytest.importorskip("tomllib").loads((ROOT / "pyproject.toml").read_text())
    project = metadata["project"]
    needs = {*metadata["build-system"]["requires"], *sum(project["optional-dependencies"].values(), [])}
    recipe = (ROOT / ".ci/conda/recipe.yaml").read_text()
    named = {f"{name}{bounds}" for name, bounds in re.findall(r"^ +- ([\w.-]+) ([<>=]\S+)$", recipe, re.M)}
    assert project["dependencies"] == []
    wanted = {need.partition(";")[0] for need in needs if not need.startswith("typedbytes[")}
    assert named == {re.sub(r"^isal\b", "python-isal", need) for need in wanted}  # its name at conda-forge
    for name, function in project["scripts"].items():
        assert f"- {name} = {function}\n" in recipe


@pytest.mark.parametrize(
    "tag, code, said",
    [
        ("v1.5", 0, "\nThe notes.\n\n"),
        ("v1.4", 1, "expected the tag v1.5, found v1.4\n"),
        ("1.5", 1, "expected the tag v1.5, found 1.5\n"),
    ],
)
def test_notes_of_a_tag(tmp_path, tag, code, said):
    """A tag of another version, or without notes, must fail before anything is published."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/release-notes", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text('version = "1.5"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changes\n\n## [1.5] - 2026-01-01\n\nThe notes.\n\n## [1.4] - 2025-01-01\n\nOld.\n"
    )
    done = subprocess.run([tmp_path / ".ci/release-notes", tag], capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (code, said)
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## [Unreleased]\n\nNew.\n")
    done = subprocess.run([tmp_path / ".ci/release-notes", "v1.5"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "CHANGELOG.md has no heading for 1.5\n")


def commands_of(path):
    """Yield the command of each step of a workflow, once for each Python of its job's matrix."""
    text = path.read_text()
    assert "run: |" not in text  # one command a step
    for pythons, command in re.findall(r"^ *(?:python: \[(.*)\]|(?:- )?run: (.*))$", text, re.M):
        if pythons:
            matrix = re.findall(r'"([^"]+)"', pythons)
        elif "${{ matrix.python }}" in command:
            yield from (command.replace("${{ matrix.python }}", version) for version in matrix)
        else:
            yield command


COMMANDS = sorted({command for path in WORKFLOWS for command in commands_of(path)})


@needs_repository
def test_hosted_ci_runs_every_supported_python():
    pythons = version_in("pyproject.toml", r'^build = "(.*)"').replace("-*", "").split()
    tested = {f"make test-3.{tag[3:]}" for tag in pythons}
    assert len(tested) > 7 and tested <= set(COMMANDS), "the wheels of each are published"


@pytest.mark.parametrize("command", COMMANDS)
def test_hosted_ci_runs_what_can_be_run_anywhere(command):
    words = command.split()
    if words[0] == "make":
        # Which Pythons are installed does not matter here.
        done = subprocess.run([*words, "--dry-run", "need_python=python$(1)"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    elif words[0] == "pipx":
        assert f'"{words[2]}"' in (ROOT / "pyproject.toml").read_text(), (
            "another version than the one whose settings are checked"
        )
    else:
        assert os.access(ROOT / words[0], os.X_OK) or words[0] == "mv"


def named_targets():
    """Return the targets that the documents name, by folder."""
    targets = collections.defaultdict(set)
    for path in [*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("docs/guides/*.md")]:
        for folder, target in re.findall(
            r"(?:`|^)make (?:-C (\S+) )?([a-z][\w.-]*)(?:`|$| +#| [A-Z])", path.read_text("utf-8"), re.M
        ):
            targets[folder].add(target)
    return targets


@pytest.mark.parametrize("folder, targets", named_targets().items())
def test_targets_that_documents_name_are_there(folder, targets):
    """After a move of the Makefile's rules, that is."""
    command = ["make", "--dry-run", "--keep-going", "-C", folder or ".", "need_python=python$(1)", *sorted(targets)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "No rule to make target" not in done.stderr and done.returncode == 0, done.stderr


@needs_repository
@pytest.mark.parametrize("path", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
def test_actions_are_pinned_by_commit(path):
    used = re.findall(r"uses: (\S+)(.*)", path.read_text())
    assert used
    for name, comment in used:
        assert name.startswith("./") or re.search("@[0-9a-f]{40}$", name) and re.fullmatch(r" # v[0-9.]+", comment), (
            name
        )
