"""A Java virtual machine with Hadoop's classes and ours: what the tests, the vectors and the demo start.

Here: finding the JDK and Maven, fetching Hadoop's jars, compiling the Java sources beside this file, and the command
line that starts them. Not here: the commands of ``Main.java``. Invariant: typedbytes is never imported; the jars and
the classes in ``build/`` are whole, and made from the ``pom.xml`` and the sources of now; the classes are compiled with
the Hadoop that the ``pom.xml`` names, whichever the variable HADOOP_VERSION has them run with.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
POM = HERE / "pom.xml"
SPLITS = HERE.parents[1] / "src" / "java" / "hadoop"  # the classes for whole splits, which jobs of the tests use too
SOURCES = [*sorted((HERE / "src").rglob("*.java")), *sorted((SPLITS / "src" / "main").rglob("*.java"))]

#: Short-lived machines: a quick start is worth more than a fast end.
QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

#: Hadoop 3.4 asks for a security manager, which Java 23 took away; our own sources are Java 11.
JAVA_VERSIONS = range(11, 23)

#: Where systems install JDKs, each in a folder of its own.
INSTALLED_JDKS = "usr/lib/jvm/*", "Library/Java/JavaVirtualMachines/*/Contents/Home"

INSTALL_JDK = """\
Install a JDK of version 11 to 22; if it is not found, name its home in JAVA_HOME:
  Debian, Ubuntu   apt-get install openjdk-17-jdk-headless, or openjdk-21-jdk-headless
  Fedora           dnf install java-17-openjdk-devel
  macOS            brew install openjdk@17"""

INSTALL_MAVEN = """\
Install Maven, which fetches Hadoop's jars once, and have mvn on PATH:
  Debian, Ubuntu   apt-get install maven
  Fedora           dnf install maven
  macOS            brew install maven"""

_HELD = set()  # the paths that this process is alone with


class MissingToolError(RuntimeError):
    """Something of Java's world is not there; the message says how to get it."""


def java_command(main_class, *arguments, options=QUICK_START):
    """Give the command line that runs a class of Hadoop's or ours with the arguments."""
    return [find_tool("java"), *options, "-cp", class_path(), main_class, *map(str, arguments)]


def hdfs_command(folder):
    """Give the command line that runs a small HDFS cluster in a folder; see ``hdfs/Cluster.java``."""
    pom = HERE / "hdfs" / "pom.xml"
    jars = jars_of(pom, "hdfs-jars")
    return [find_tool("java"), *QUICK_START, "-cp", str(jars / "*"), str(HERE / "hdfs" / "Cluster.java"), str(folder)]


def classes_command(source="Classes.java"):
    """Give the command line that writes what other projects do: Writables, by ``Classes.java``, RCFiles, Avro."""
    folder = HERE / "classes"
    options = [*QUICK_START, "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8"]
    options += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "--add-opens=java.base/java.net=ALL-UNNAMED"]
    jars = jars_of(folder / "pom.xml", "class-jars")
    first = next(jars.glob("hadoop-client-api-*"))  # HBase's jar has older classes of Hadoop too
    return [find_tool("java"), *options, "-cp", f"{first}{os.pathsep}{jars / '*'}", str(folder / source)]


def hive_command(folder, *statements):
    """Give the command line that runs statements of Hive, with all its files in a folder; see ``hive/Query.java``."""
    here = HERE / "hive"
    jars = jars_of(here / "pom.xml", "hive-jars")
    _run(
        [find_tool("javac"), "-d", folder, "-cp", jars / "*", *here.glob("*.java")], "javac could not compile the query"
    )
    options = [
        f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "net", "util", "util.concurrent.atomic")
    ]
    paths = f"{folder}{os.pathsep}{jars / '*'}"
    return [find_tool("java"), *QUICK_START, *options, "-cp", paths, "Query", str(folder), *statements]


def class_path():
    """Give the class path of Hadoop's jars and our classes, fetched and compiled when they are not there yet."""
    jars = jars_of(POM, "hadoop-jars")
    classes = _made(BUILD / "java-classes", [POM, *SOURCES], lambda folder: _compile(folder, jars))
    return os.pathsep.join([str(classes), str(hadoop_jars() / "*")])


def hadoop_jars():
    """Give the folder of the jars of Hadoop for jobs, of the version in HADOOP_VERSION or the ``pom.xml``."""
    version = os.environ.get("HADOOP_VERSION")
    if not version:
        return jars_of(POM, "hadoop-jars")
    return jars_of(
        POM,
        f"hadoop-jars-{version}",
        f"-Dhadoop.version={version}",
        *(["-Phadoop-2"] if version.startswith("2.") else []),
    )


def shared_classes():
    """Give the file of the classes that a small job loads, from which Java starts in three quarters of the time.

    Java 11 makes none, and takes none whose class path does not begin with the same jars.
    """
    jars = hadoop_jars()
    inputs = [POM, java_home() / "release"]
    return _made(BUILD / f"{jars.name}-shared", inputs, lambda folder: _share(folder, jars)) / "classes.jsa"


def jars_of(pom, name, *options):
    """Give the folder of that name with the jars that a pom.xml asks for, fetched when they are not there yet."""
    return _made(BUILD / name, [pom], lambda folder: _fetch_jars(pom, folder, options))


def build_with_maven(module, folder, *options):
    """Build a module of src/java in a folder, where its jars are then; give what Maven said."""
    command = [_find_maven(), "--batch-mode", "--file", module / "pom.xml", f"-Dbuild.folder={folder}", *options]
    command.append("package")
    done = subprocess.run(command, env=_maven_environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError(done.stdout)
    return done.stdout


def find_tool(name):
    """Give the path of a program of the JDK."""
    return str(java_home() / "bin" / name)


def java_home():
    """Give the home of a JDK that Hadoop runs on: JAVA_HOME, that of the javac on PATH, or the newest one installed."""
    return _java_home(os.environ.get("JAVA_HOME"), shutil.which("javac"))


@functools.cache
def _java_home(named, on_path):
    installed = [home for pattern in INSTALLED_JDKS for home in Path("/").glob(pattern)]
    refused = []
    homes = [named, on_path and Path(on_path).resolve().parents[1], *sorted(installed, key=_numbers_in, reverse=True)]
    for home in (Path(home) for home in homes if home):
        version = _java_version(home)
        if version in JAVA_VERSIONS:
            return home
        refused.append(f"  {home}: {f'version {version}' if version else 'not a JDK'}\n")
    found = (
        "Hadoop does not run with the Java that is here:\n" + "".join(dict.fromkeys(refused))
        if refused
        else "No JDK was found.\n"
    )
    raise MissingToolError(f"{found}{INSTALL_JDK}")


def _numbers_in(path):
    return [int(number) for number in re.findall(r"\d+", path.name)]


def _java_version(home):
    """Return the major version of the JDK in a folder, None if there is none."""
    javac = home / "bin" / "javac"
    if not os.access(javac, os.X_OK):
        return None
    described = subprocess.run([javac, "-version"], capture_output=True, text=True)
    version = re.search(r"javac (\d+)", described.stdout + described.stderr)
    return version and int(version[1])


def _find_maven():
    maven = shutil.which("mvn")
    if not maven:
        raise MissingToolError(f"mvn was not found.\n{INSTALL_MAVEN}")
    return maven


def _fetch_jars(pom, folder, arguments):
    maven = _find_maven()
    print("fetching Hadoop's jars with Maven, once", file=sys.stderr, flush=True)
    _run(
        [maven, "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={folder}", *arguments],
        "Maven could not fetch Hadoop's jars: it needs a way to Maven Central, once",
        environ=_maven_environ(),
    )


def _maven_environ():
    options = " ".join([*QUICK_START, os.environ.get("MAVEN_OPTS", "")])
    return {**os.environ, "JAVA_HOME": str(java_home()), "MAVEN_OPTS": options}


def _compile(folder, jars):
    options = ["--release", "11", "-proc:none", "-Xlint:all", "-Werror", "-encoding", "UTF-8"]
    _run(
        [find_tool("javac"), *options, "-d", folder, "-cp", jars / "*", *SOURCES],
        "javac could not compile the Java sources of the test vectors",
    )


def _share(folder, jars):
    (streaming,) = jars.glob("hadoop-streaming-*.jar")
    (folder / "in").write_text("a line\n")
    options = [*QUICK_START, "-Xlog:disable", f"-XX:ArchiveClassesAtExit={folder / 'classes.jsa'}"]
    words = "-input in -output out -mapper cat -reducer cat"
    job = ["-D", f"hadoop.tmp.dir={folder / 'tmp'}", *words.split()]
    command = [find_tool("java"), *options, "-cp", jars / "*", "org.apache.hadoop.util.RunJar", streaming, *job]
    subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _made(folder, inputs, make):
    """Give the folder that ``make`` fills, filled again only when an input has changed since."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()
    stamp = folder / "made-from.sha256"
    folder.parent.mkdir(exist_ok=True)
    with alone(folder.parent):
        if not (stamp.exists() and stamp.read_text() == digest):
            with tempfile.TemporaryDirectory(dir=folder.parent) as workshop:
                fresh = Path(workshop) / folder.name
                fresh.mkdir()
                make(fresh)
                (fresh / stamp.name).write_text(digest)
                shutil.rmtree(folder, ignore_errors=True)
                fresh.replace(folder)
    return folder


@contextlib.contextmanager
def alone(path):
    """Keep other processes, such as the workers of a test run, out of such blocks for the same file or folder.

    A block may stand in another of the same path: what one class path needs may be made while another is.
    """
    key = os.path.realpath(path)
    if key in _HELD:  # the kernel would have this process wait for itself
        yield
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _HELD.add(key)
        yield
    finally:
        _HELD.discard(key)
        os.close(descriptor)


def _run(command, complaint, environ=None):
    words = [str(word) for word in command]
    done = subprocess.run(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise MissingToolError(f"{complaint}:\n{done.stdout}")


if __name__ == "__main__":
    try:
        print(java_home() if sys.argv[1:] == ["--java-home"] else class_path())
    except MissingToolError as error:
        sys.exit(str(error))
