"""What a job declares: its options, and what its runner has to know of it."""

from __future__ import annotations

import inspect
import logging
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError

from typedbytes.fronts.mrjob.options import add_options, print_help
from typedbytes.fronts.mrjob.step import MRStep
from typedbytes.fronts.mrjob.util import expand_path

TYPE_CHECKING = False

if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

__all__ = ["DeclaredJob"]

log: logging.Logger = logging.getLogger("mrjob.job")


class DeclaredJob:
    """The base of MRJob: options, files, properties and formats."""

    HADOOP_INPUT_FORMAT: Any = None
    HADOOP_OUTPUT_FORMAT: Any = None
    PARTITIONER: Any = None
    SORT_VALUES: Any = None
    LIBJARS: Any = []
    ARCHIVES: Any = []
    DIRS: Any = []
    FILES: Any = []
    JOBCONF: Any = {}

    def __init__(self, args: Any = None) -> None:
        self._passthru_arg_dests: set[str] = set()
        self._file_arg_dests: set[str] = set()
        usage = f"{os.path.basename(sys.argv[0])} [options] [input files]"
        self.arg_parser: ArgumentParser = ArgumentParser(usage=usage, add_help=False)
        self.configure_args()
        self._cl_args = sys.argv[1:] if args is None else args
        if args is not None:
            self.arg_parser.error = _raise_error  # type: ignore[method-assign]
        self.load_args(self._cl_args)

    # -- options

    def configure_args(self) -> None:
        """Declare the options; a subclass adds its own."""
        add_options(self.arg_parser)
        self.configure_options()

    def load_args(self, args: Any) -> None:
        """Set `options`; a subclass may check them."""
        self.options: Namespace = self.arg_parser.parse_intermixed_args(args)
        if self.options.help:
            print_help(self.arg_parser)
            sys.exit(0)
        self.load_options(args)

    def add_passthru_arg(self, *args: Any, **kwargs: Any) -> None:
        """Declare an option that tasks get too, as argparse's add_argument does."""
        self._passthru_arg_dests.add(self.arg_parser.add_argument(*args, **kwargs).dest)

    def add_file_arg(self, *args: Any, **kwargs: Any) -> None:
        """Declare an option whose value is a path of a file that tasks find in their folder."""
        if kwargs.get("type") not in (None, str):
            raise ArgumentTypeError("file options must take strings")
        if kwargs.get("action") not in (None, "append", "store"):
            raise ArgumentTypeError("file options must use the actions 'store' or 'append'")
        self._file_arg_dests.add(self.arg_parser.add_argument(*args, **kwargs).dest)

    def pass_arg_through(self, opt_str: str) -> None:
        """Have tasks get one of mrjob's own options."""
        for action in self.arg_parser._actions:
            if opt_str in action.option_strings or opt_str == action.dest:
                self._passthru_arg_dests.add(action.dest)
                return
        raise ValueError(f"unknown arg: {opt_str}")

    def is_task(self) -> bool:
        """Return whether this is a task of the job."""
        options = self.options
        return bool(options.run_mapper or options.run_combiner or options.run_reducer or options.run_spark)

    # -- the names that these have in scripts for mrjob before 0.6

    def configure_options(self) -> None:
        """Declare options, in a script that has no configure_args()."""

    def load_options(self, args: Any) -> None:
        """Check options, in a script that has no load_args()."""

    def add_passthrough_option(self, *args: Any, **kwargs: Any) -> None:
        """Declare an option that tasks get too, as optparse's add_option does."""
        self.add_passthru_arg(*args, **_of_argparse(kwargs))

    def add_file_option(self, *args: Any, **kwargs: Any) -> None:
        """Declare an option whose value is a path of a file that tasks find in their folder."""
        self.add_file_arg(*args, **_of_argparse(kwargs))

    @staticmethod
    def mr(mapper: Any = None, reducer: Any = None, **kwargs: Any) -> MRStep:
        """Return a step."""
        return MRStep(**{name: each for name, each in {"mapper": mapper, "reducer": reducer, **kwargs}.items() if each})

    def parse_output_line(self, line: bytes) -> Any:
        """Return the pair of a line of the job's output."""
        return self.output_protocol().read(line)  # type: ignore[attr-defined]

    # -- what runners ask for

    def hadoop_input_format(self) -> Any:
        """Return the Java class of the input format."""
        return self.HADOOP_INPUT_FORMAT

    def hadoop_output_format(self) -> Any:
        """Return the Java class of the output format."""
        return self.HADOOP_OUTPUT_FORMAT

    def partitioner(self) -> Any:
        """Return the Java class of the partitioner."""
        return self.PARTITIONER

    def sort_values(self) -> Any:
        """Return whether values reach the reducer in the order of their lines."""
        return self.SORT_VALUES

    def jobconf(self) -> dict[str, Any]:
        """Return the properties of the job."""
        return dict(self.JOBCONF)

    def libjars(self) -> Any:
        """Return paths of jars for Hadoop."""
        return self._beside_script("LIBJARS")

    def archives(self) -> Any:
        """Return paths of archives that tasks find unpacked."""
        return self._beside_script("ARCHIVES")

    def dirs(self) -> Any:
        """Return paths of folders that tasks find in theirs."""
        return self._beside_script("DIRS")

    def files(self) -> Any:
        """Return paths of files that tasks find in their folder."""
        return self._beside_script("FILES")

    def _beside_script(self, name):
        paths = getattr(self, name) or []
        if isinstance(paths, str):
            raise TypeError(f"{name} must be a list or other sequence.")
        folder = os.path.dirname(self.mr_job_script() or "")
        for path in paths:
            if os.sep in path.rstrip(os.sep) and "#" not in path and not os.path.isabs(expand_path(path) or ""):
                log.warning(f"{name}: {path} will appear in same directory as job script, not a subdirectory")
        return [path if os.path.isabs(expand_path(path) or "") else os.path.join(folder, path) for path in paths]

    @classmethod
    def mr_job_script(cls) -> str | None:
        """Return the path of the script that defines the class."""
        try:
            return inspect.getsourcefile(cls)
        except (TypeError, OSError):
            return getattr(sys.modules.get(cls.__module__), "__file__", None)


def _of_argparse(kwargs):
    """Return keywords of optparse's add_option as argparse has them."""
    kinds = {"int": int, "long": int, "float": float, "string": str, "str": str, "complex": complex}
    found = dict(kwargs)
    if found.get("type") in kinds:
        found["type"] = kinds[found["type"]]
    elif found.get("type") == "choice":
        del found["type"]
    if isinstance(found.get("help"), str):
        found["help"] = found["help"].replace("%default", "%(default)s")
    return found


def _raise_error(message):
    raise ValueError(message)
