"""The script of a job whose code is commands alone: they are the words after its role.

``command_script.py map --map 'grep -v x' --reduce 'uniq -c'`` is the mapper of such a job.
"""

from __future__ import annotations

import os
import shlex
import sys

from typedbytes import streaming

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["files_in", "steps_of"]


def steps_of(words: list[str]) -> list[streaming.Step]:
    """Return the one step that pairs of an option and a command describe."""
    commands = dict(zip(words[::2], words[1::2]))
    return [
        streaming.Step(
            mapper_command=commands.get("--map", "cat"),
            combiner_command=commands.get("--combine"),
            reducer_command=commands.get("--reduce"),
        )
    ]


def files_in(commands: Iterable[str]) -> list[str]:
    """Return the words of commands that are files of this folder, which tasks elsewhere need."""
    words = [word for command in commands for word in shlex.split(command)]
    return list(dict.fromkeys(word for word in words if os.path.isfile(word) and not os.path.isabs(word)))


if __name__ == "__main__":
    streaming.run(steps=steps_of(sys.argv[2:]))
