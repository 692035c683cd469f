"""Try the completion of three shells: lines are typed into the real bash, zsh and fish, Tab and all.

`make -C tests/soak shells` runs it. In each shell `typedbytes` is a function that shows its arguments, so that what Tab
made of a line is seen. Zsh finds the script in its fpath, the others read it when they start. Needs the three shells,
and about half a minute for each.
"""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile

# What is typed after "typedbytes", and the arguments that result.
LINES = [
    ("coun\t", ["count"]),
    ("val\t--re\tout.tb", ["validate", "--repair", "out.tb"]),
    ("cat --fr\tjs\tword\t", ["cat", "--from", "json", "words.tb"]),
    ("convert --to pa\t--cod\tzs\t", ["convert", "--to", "parquet", "--codec", "zstd"]),
    ("grep --in ke\tx word\t", ["grep", "--in", "key", "x", "words.tb"]),
    ("grep wor\t", ["grep", "wor"]),
    ("head -n 3 fold\t", ["head", "-n", "3", "folder"]),
    ("head -n word\t", ["head", "-n", "word"]),
    ("sort -o wo\t", ["sort", "-o", "words.tb"]),
    ("completion zs\t", ["completion", "zsh"]),
    ("block enc\t--wi\tnat\tword\t", ["block", "encode", "--wire", "native", "words.tb"]),
    ("cat count --pa\t", ["cat", "count", "--pairs"]),
    ("cat --tabl\t", ["cat", "--tabl"]),
    ("--vers\t", ["--version"]),
]

# How a shell is started without the user's own settings, and what makes it ready;
# the completion's script is _typedbytes.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "typedbytes() { printf '<%s>' \"$@\"; echo .; }; source ./_typedbytes"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "typedbytes() { printf '<%s>' \"$@\"; echo . }; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D",
    ),
    "fish": (["fish", "--no-config", "-i"],
             "function typedbytes; printf '<%s>' $argv; echo .; end; source ./_typedbytes"),
}  # fmt: skip


class Shell:
    """A shell in a terminal of its own."""

    def __init__(self, name, folder):
        command, start = SHELLS[name]
        environment = {**os.environ, "TERM": "dumb" if name == "fish" else "vt100", "HOME": folder, "LC_ALL": "C.UTF-8"}
        self._process, self._terminal = pty.fork()
        if not self._process:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self._read(2)
        self._type(f"{start}\n")
        self._read(2)

    def arguments_of(self, line):
        """Type a line, each Tab when the shell is ready for it, and return the arguments that the command gets."""
        for part in re.findall(r"\t|[^\t]+", f"typedbytes {line}"):
            self._type(part)
            self._read(0.8 if part == "\t" else 0.1)
        self._type("\n")
        shown = re.search(r"((?:<[^>]*>)*)\.\r\n", self._read(0.8))
        return [each.rstrip("/") for each in re.findall("<([^>]*)>", shown[1])]

    def end(self):
        """End the shell."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._terminal)

    def _type(self, keys):
        os.write(self._terminal, keys.encode())

    def _read(self, timeout):
        """Return what is shown until nothing has come for `timeout` seconds."""
        shown = b""
        while select.select([self._terminal], [], [], timeout)[0]:
            shown += os.read(self._terminal, 65536)
        return shown.decode(errors="replace")


def wrong_lines(name, folder):
    """Yield the lines that a shell completes in another way, with what it makes of them."""
    script = subprocess.run(
        [sys.executable, "-m", "typedbytes", "completion", name], check=True, capture_output=True
    ).stdout
    pathlib.Path(folder, "_typedbytes").write_bytes(script)
    shell = Shell(name, folder)
    for line, expected in LINES:
        found = shell.arguments_of(line)
        if found != expected:
            yield line, found
    shell.end()


def main():
    """Try the shells and return how many lines were wrong."""
    nwrong = 0
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "words.tb").write_bytes(b"")
        pathlib.Path(folder, "folder").mkdir()
        for name in SHELLS:
            wrong = list(wrong_lines(name, folder))
            print(f"{name}: {len(LINES) - len(wrong)} of {len(LINES)} lines completed as they should be")
            for line, found in wrong:
                print(f"  typedbytes {line!r}: {found}")
            nwrong += len(wrong)
    return nwrong


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
