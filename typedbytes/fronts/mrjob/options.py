"""The command line of a job: mrjob's options, and the words of it that tasks get too."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["LISTS", "REPEATED", "RUNNERS", "add_options", "print_help", "words_of"]

RUNNERS = "dataproc", "emr", "hadoop", "inline", "local", "spark"


class _Named(Action):
    """Collect NAME=VALUE in a dict."""

    def __call__(self, parser, namespace, values, option_string=None):
        name, sign, value = str(values).partition("=")
        if not sign:
            parser.error(f"{option_string} {values!r} is not of the form NAME=VALUE")
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), name: value})


class _Listed(Action):
    """Collect words, several of them with commas between, in a list."""

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or []), *str(values).split(",")])


class _Given(Action):
    """Collect the options of a command line, each with the name and the words that it has there."""

    def __call__(self, parser, namespace, values, option_string=None):
        parser.given.append((self.dest, option_string, values))


class _WordsParser(ArgumentParser):
    """A parser with the options of another, whose words it takes as they are."""

    def __init__(self, parser):
        super().__init__(add_help=False)
        self.given: list[tuple[str, str | None, list[str]]] = []
        for action in parser._actions:
            self.add_argument(*action.option_strings, action=_Given, dest=action.dest, nargs=action.nargs)

    def _get_values(self, action, arg_strings):
        return list(arg_strings)


def words_of(
    parser: ArgumentParser, words: Sequence[str], dests: set[str], rename: Any = lambda dest, words: words
) -> list[str]:
    """Return the words of some options, by their destinations, as a command line has them.

    An action may look at the name of its option, as that of --verbose and --no-verbose does.
    """
    found: list[str] = []
    raw = _WordsParser(parser)
    raw.parse_known_args(words)
    for dest, name, values in raw.given:
        if dest not in dests:
            continue
        values = rename(dest, values)
        if name is None:
            found += values
        elif len(values) == 1 and values[0].startswith("-"):
            found.append(f"{name}={values[0]}")
        else:
            found += [name, *values]
    return found


# Options of runners: flags, and keywords for argparse. Those that have no effect here are accepted all the same.
LISTS = {
    "upload_files": ("--files", "--file"), "upload_archives": ("--archives", "--archive"),
    "upload_dirs": ("--dirs", "--dir"), "libjars": ("--libjars", "--libjar"), "py_files": ("--py-files", "--py-file"),
}  # fmt: skip
_WORDS = (
    "python_bin", "task_python_bin", "hadoop_bin", "hadoop_streaming_jar", "hadoop_tmp_dir", "hadoop_version",
    "local_tmp_dir", "owner", "label", "cleanup", "cleanup_on_failure", "sort_bin", "sh_bin", "spark_master",
    "spark_deploy_mode", "spark_submit_bin", "spark_tmp_dir", "interpreter", "steps_python_bin",
)  # fmt: skip
_SWITCHES = (
    "bootstrap_mrjob", "check_input_paths", "read_logs", "emulate_map_input_file", "skip_internal_protocol",
)  # fmt: skip
REPEATED = ("setup", "hadoop_extra_args", "hadoop_log_dirs", "spark_args")
_FLAGS = {"hadoop_extra_args": ("--hadoop-args", "--hadoop-arg"), "hadoop_log_dirs": ("--hadoop-log-dirs",)}


def add_options(parser: ArgumentParser) -> None:
    """Add mrjob's own options."""
    add = parser.add_argument
    add("args", nargs="*", help="input paths to read (or stdin if not set)")
    add("-c", "--conf-path", dest="conf_paths", action="append", help="Path to alternate mrjob.conf file to read from")
    add("--no-conf", dest="conf_paths", action="store_const", const=[], help="Don't load mrjob.conf")
    add("-q", "--quiet", action="store_true", help="Don't print anything to stderr")
    add("-v", "--verbose", action="store_true", help="print more messages to stderr")
    add("--cat-output", action="store_true", default=None, help="Stream job output to stdout")
    add("--no-cat-output", "--no-output", dest="cat_output", action="store_false", default=None,
        help="Don't stream job output to stdout")  # fmt: skip
    add("-o", "--output-dir", help="Where to put final job output; it must not exist")
    add("-r", "--runner", choices=RUNNERS, help=f"Where to run the job; one of: {', '.join(RUNNERS)}")
    add("--step-output-dir", help="A directory to store output from job steps other than the last one")
    add("-h", "--help", action="store_true", help="show this message and exit")
    hidden = parser.add_argument_group("options of runners")
    hidden.add_argument(
        "-D", "--jobconf", action=_Named, default={}, metavar="NAME=VALUE", help="a property of the job"
    )
    hidden.add_argument("--cmdenv", action=_Named, default={}, metavar="NAME=VALUE", help="a variable of the tasks")
    for dest, flags in LISTS.items():
        hidden.add_argument(*flags, dest=dest, action=_Listed, default=[], help=SUPPRESS)
    for dest in REPEATED:
        words = _FLAGS.get(dest, (f"--{dest.replace('_', '-')}",))
        hidden.add_argument(*words, dest=dest, action="append", default=[], help=SUPPRESS)
    for dest in _WORDS:
        hidden.add_argument(f"--{dest.replace('_', '-')}", dest=dest, help=SUPPRESS)
    for dest in ("num_cores", "max_output_files"):
        hidden.add_argument(f"--{dest.replace('_', '-')}", dest=dest, type=int, help=SUPPRESS)
    for dest in _SWITCHES:
        flag = dest.replace("_", "-")
        hidden.add_argument(f"--{flag}", dest=dest, action="store_true", default=None, help=SUPPRESS)
        hidden.add_argument(f"--no-{flag}", dest=dest, action="store_false", default=None, help=SUPPRESS)
    steps = parser.add_argument_group("options of tasks")
    for role in ("mapper", "combiner", "reducer", "spark"):
        steps.add_argument(f"--{role}", dest=f"run_{role}", action="store_true", help=SUPPRESS)
    steps.add_argument("--step-num", type=int, default=0, help=SUPPRESS)


def print_help(parser: ArgumentParser) -> None:
    """Print the options, those of the job too."""
    print(parser.format_help())
