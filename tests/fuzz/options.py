"""The sets of options that targets choose from: one byte of an input names one.

Here: tables of options and the hooks in them. Not here: the checks. Invariant:
no set names the pickle policy "trust", which runs what the bytes say.
"""

from typedbytes import DecodeError


def tagged(code, data):
    """Return, as a hook, what an Ext shows."""
    return ("hook", code, data)


def unhashable(code, data):
    """Return as a hook what no MAP can have as a key."""
    return [code, data]


class HookError(Exception):
    """What a hook raises here: nothing but itself may come out."""


def failing(code, data):
    """Fail as a hook, for some payloads."""
    if len(data) % 2:
        raise HookError(f"{code} {len(data)}")
    return data


DECODE = [
    {},
    {},
    {},
    {"exact": True, "pickle": "raw", "unicode_errors": "surrogateescape"},
    {"exact": True, "map_pairs": True},
    {"map_pairs": True},
    {"map_pairs": True, "max_depth": 3},
    {"pickle": "raw"},
    {"unicode_errors": "replace"},
    {"unicode_errors": "surrogateescape"},
    {"unicode_errors": "surrogatepass"},
    {"unicode_errors": "ignore", "dialect": "hive"},
    {"unicode_errors": "backslashreplace", "exact": True},
    {"dialect": "hive"},
    {"dialect": "hive", "exact": True},
    {"ext_hook": tagged},
    {"ext_hook": unhashable},
    {"ext_hook": failing},
    {"max_depth": 0},
    {"max_depth": 1},
    {"max_depth": 2, "dialect": "hive"},
    {"max_bytes": 1},
    {"max_bytes": 5},
    {"max_bytes": 9, "exact": True},
    {"max_bytes": 17, "map_pairs": True},
    {"max_bytes": 40},
    {"max_bytes": 40, "ext_hook": tagged},
    {"max_bytes": 300, "unicode_errors": "replace", "max_depth": 5},
    {"max_bytes": 100_000},
]

ENCODE = [
    {},
    {},
    {"int_width": 32},
    {"int_width": 64},
    {"pickle": "raw"},
    {"pickle": "raw", "default": repr},
    {"default": repr},
    {"default": lambda obj: [obj]},
    {"default": lambda obj: obj},
    {"sort_keys": True},
    {"sort_keys": True, "max_depth": 3},
    {"unicode_errors": "replace"},
    {"unicode_errors": "surrogateescape"},
    {"unicode_errors": "surrogatepass", "sort_keys": True},
    {"unicode_errors": "ignore"},
    {"dialect": "hive"},
    {"dialect": "hive", "pickle": "raw", "int_width": 32},
    {"max_depth": 0},
    {"max_depth": 1},
    {"max_depth": 2, "default": repr},
]

#: What decoding may raise, whatever the bytes: ours, and what a hook of ours raises.
DOCUMENTED = (DecodeError, HookError)


def limits(options):
    """Return those of the decode options that structure alone has too."""
    return {name: value for name, value in options.items() if name in ("dialect", "max_depth")}
