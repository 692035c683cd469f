"""The files that a job of a front works on: those of this machine, or Hadoop's, by its own command."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["FileSystem", "HadoopFileSystem"]

PIECE_NBYTES = 1 << 18


class FileSystem:
    """Files of this machine."""

    def ls(self, path: str) -> Iterator[str]:
        """Yield the files that a path or a pattern names, those in folders too."""
        for each in sorted(glob.glob(path)) or [path]:
            if not os.path.isdir(each):
                yield each
                continue
            for folder, _, names in os.walk(each):
                yield from (os.path.join(folder, name) for name in sorted(names))

    def cat(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of files, an empty piece after each."""
        for each in self.ls(path):
            with open(each, "rb") as file:
                while data := file.read(PIECE_NBYTES):
                    yield data
            yield b""

    def cat_parts(self, folder: str) -> Iterator[bytes]:
        """Yield the bytes of the part files in a folder."""
        for name in sorted(os.listdir(folder)):
            if not name.startswith(("_", ".")):
                yield from self.cat(os.path.join(glob.escape(folder), name))

    def exists(self, path: str) -> bool:
        """Return whether there is something at a path or a pattern."""
        return bool(glob.glob(path))

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents."""
        os.makedirs(path, exist_ok=True)

    def rm(self, path: str) -> None:
        """Remove what is at a path or a pattern."""
        for each in glob.glob(path):
            shutil.rmtree(each) if os.path.isdir(each) else os.unlink(each)

    def put(self, path: str, target: str) -> None:
        """Copy a file of this machine."""
        self.mkdir(os.path.dirname(target) or ".")
        shutil.copytree(path, target) if os.path.isdir(path) else shutil.copyfile(path, target)

    get = put

    def mv(self, path: str, target: str) -> None:
        """Rename a file or a folder."""
        os.rename(path, target)

    def join(self, path: str, *names: str) -> str:
        """Return a path in a folder."""
        return os.path.join(path, *names)


class HadoopFileSystem(FileSystem):
    """Files of Hadoop."""

    def _run(self, *words: str) -> bytes:
        from typedbytes.hadoop.installed import find_command

        done = subprocess.run([find_command("hadoop"), "fs", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if done.returncode:
            raise OSError(f"hadoop fs {' '.join(words)} ended with exit code {done.returncode}")
        return done.stdout

    def ls(self, path: str) -> Iterator[str]:
        """Yield the files that a path or a pattern names, those in folders too."""
        for line in self._run("-ls", "-R", path).decode().splitlines():
            fields = line.split(None, 7)
            if len(fields) == 8 and fields[0].startswith("-"):
                yield fields[7]

    def cat(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of files, decompressed."""
        yield self._run("-text", path)

    def cat_parts(self, folder: str) -> Iterator[bytes]:
        """Yield the bytes of the part files in a folder."""
        for path in sorted(self.ls(folder)):
            if not os.path.basename(path).startswith(("_", ".")):
                yield from self.cat(path)

    def exists(self, path: str) -> bool:
        """Return whether there is something at a path or a pattern."""
        try:
            self._run("-test", "-e", path)
        except OSError:
            return False
        return True

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents."""
        self._run("-mkdir", "-p", path)

    def rm(self, path: str) -> None:
        """Remove what is at a path or a pattern."""
        self._run("-rm", "-r", "-f", "-skipTrash", path)

    def put(self, path: str, target: str) -> None:
        """Copy a file of this machine."""
        self.mkdir(os.path.dirname(target) or ".")
        self._run("-put", "-f", path, target)

    def put_all(self, paths: Iterable[str], folder: str) -> None:
        """Copy files of this machine into a folder."""
        self.mkdir(folder)
        self._run("-put", "-f", *paths, folder)

    def get(self, path: str, target: str) -> None:
        """Copy a file to this machine."""
        self._run("-get", path, target)

    def mv(self, path: str, target: str) -> None:
        """Rename a file or a folder."""
        self._run("-mv", path, target)
