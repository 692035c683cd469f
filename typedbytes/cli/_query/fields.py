"""Paths to the parts of a record, as options give them: key, value[0], value['name'] or value.name.

What they lead to is found by compiled code (typedbytes._report).
"""

import re
from ast import literal_eval

import typedbytes
from typedbytes.cli._failure import USAGE, Failure

STEP = (
    r"""(?:\[(?:0|-?[1-9][0-9]{0,8}|'(?:[^'\\]|\\[\\'"nrtxuU])*'|"(?:[^"\\]|\\[\\'"nrtxuU])*")\]"""
    r"""|\.(?:0|[1-9][0-9]{0,8}|[^\W\d]\w*))"""
)


class Fields:
    """The values at the paths of an option; `compiled` finds them.

    key_paths: of values of their own, before those at the paths. null: a value that a record lacks is a null.
    """

    def __init__(self, paths, option, dialect, null=False, key_paths=(), key_option=""):
        from typedbytes import _report

        self.paths = [*key_paths, *paths]
        self._options = [key_option] * len(key_paths) + [option] * len(paths)
        self._parsed = [_parsed(*each) for each in zip(self.paths, self._options)]
        encoded_null = typedbytes.Encoder(dialect=dialect).encode(None) if null else None
        self.compiled = _report.Fields(self._parsed, nkeys=len(key_paths), null=encoded_null, dialect=dialect)

    def check(self, pairs):
        """Raise Failure if values are asked for a key."""
        for option, (is_key, _) in zip(self._options, self._parsed):
            if is_key and not pairs:
                raise Failure(USAGE, f"argument {option}: values have no key (see --pairs)")


def _parsed(path, option):
    """Return whether a path begins at the key, and the steps from there."""
    try:
        if path and re.fullmatch(f"(?:key|value)?(?:{STEP})*", path):
            return path.startswith("key"), [_step(step) for step in re.findall(STEP, path)]
    except SyntaxError:  # an escape without its digits
        pass
    raise Failure(USAGE, f"argument {option}: expected a path such as key, value[0] or value.name, not {path!r}")


def _step(step):
    """Return the index or the key that a step of a path gives."""
    if step[0] == "[":
        # A byte of an argument that is not UTF-8 is a surrogate, which Python's source text has as an escape only.
        return literal_eval(step.encode("utf-8", "backslashreplace").decode())[0]
    return int(step[1:]) if step[1] in "0123456789" else step[1:]
