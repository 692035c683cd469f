"""The error of a part of the package that needs POSIX, on any other system."""

from importlib.util import find_spec


def require_posix(part):
    """Raise ImportError if this system lacks modules of POSIX; called where such a module was not found."""
    for name in ("fcntl", "resource"):
        if not _is_there(name):
            raise ImportError(
                f"{part} needs a POSIX system, and this one has no {name}: run it on Linux, on Windows in WSL",
                name=part,
            )


def _is_there(name):
    try:
        return find_spec(name) is not None
    except ValueError:  # the module is None in sys.modules
        return False
