"""Jobs submitted as a user does: the command ``typedbytes submit``, a real Hadoop in local mode, and a bare Python."""

import subprocess
import sys

import pytest

from support.hadoop_home import make_home
from support.streaming_support import environment
from typedbytes.hadoop import _split_plugin


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Return a HADOOP_HOME of the jars of Maven."""
    from support.hadoop_support import jars

    folder, java = tmp_path_factory.mktemp("hadoop") / "home", jars.find_tool("java")
    home = make_home(folder, jars.hadoop_jars(), java, shared=jars.shared_classes())
    (home / "core-site.xml").write_text("<configuration/>")  # without it Hadoop's shell does not start
    return home


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory):
    """Return a Python without our site-packages, with a space in its path: an empty virtual environment."""
    folder = tmp_path_factory.mktemp("bare python")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    found = subprocess.run(
        [folder / "bin" / "python", "-c", "import typedbytes"], cwd=folder, env=bare_environment(), capture_output=True
    )
    assert b"ModuleNotFoundError" in found.stderr
    return folder / "bin" / "python"


def bare_environment():
    return {name: value for name, value in environment().items() if not name.startswith("PYTHON")}


@pytest.fixture
def no_plug_in(monkeypatch):
    """What a job gets does not depend on whether the plug-in was made; a test that needs one says so."""
    monkeypatch.setattr(_split_plugin, "JAR", "/none/typedbytes-hadoop.jar")


@pytest.fixture
def submit(tmp_path, home, bare_python):
    """Return a function that runs ``typedbytes submit`` in a folder of its own."""

    def submit(*words, python=bare_python, code=0, home=home):
        command = (
            "import sys; sys.path[:0] = sys.argv.pop(1).split(';'); from typedbytes.cli import main; sys.exit(main())"
        )
        words = [*map(str, words), *(["--python", str(python)] if python else [])]
        done = subprocess.run(
            [sys.executable, "-c", command, ";".join(sys.path), "submit", *words],
            cwd=tmp_path,
            env={**bare_environment(), "HADOOP_HOME": str(home), "HADOOP_CONF_DIR": str(home)},
            capture_output=True,
        )
        messages = done.stderr.decode()
        assert done.returncode == code, messages
        return done.stdout, messages

    return submit
