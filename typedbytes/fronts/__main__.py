"""``python -m typedbytes.fronts script.py ...`` runs a script of an older library as it is."""

from __future__ import annotations

import os
import sys

from typedbytes.fronts import run_script
from typedbytes.fronts.refusals import Refusal
from typedbytes.streaming.task_environment import REFUSAL_LINE, ROLE_QUERY

USAGE = """\
usage: python -m typedbytes.fronts SCRIPT [ARGUMENT...]

Runs a script of mrjob, dumbo, hadoopy or pydoop with the command line that it has there, for example
  python -m typedbytes.fronts most_used.py book.txt --output-dir counts
SCRIPT --help shows the options of a script of mrjob."""


def main(words: list[str]) -> None:
    """Run a script, the first of the words."""
    if words[:1] in (["-h"], ["--help"]):
        print(USAGE)
    elif not words or words[0].startswith("-"):
        sys.exit(USAGE)
    elif not os.path.exists(words[0]):
        sys.exit(f"there is no script {words[0]}")
    else:
        try:
            run_script(words)
        except SyntaxError:
            _check_syntax(words[0])
            raise
        except Refusal as error:
            sys.exit(f"{REFUSAL_LINE if ROLE_QUERY in os.environ else ''}{error}")


def _check_syntax(script):
    """End with one line where a script is not Python; the error may be that of a module."""
    from typedbytes.jobs.errors import CommandError
    from typedbytes.jobs.source import parsed

    try:
        parsed(script)
    except CommandError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
