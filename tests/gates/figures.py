"""What a gate has counted, as its last line that begins with `figures: `, for people and for the page of figures alike.

Here: writing and reading that line. Not here: gates. Invariant: figures are numbers by name, or tables of them.
"""

import json

HEAD = "figures: "


def report(**figures):
    """Print the figures of a gate."""
    print(HEAD + json.dumps(figures), flush=True)


def parse(output):
    """Return the figures that an output printed last, or None."""
    lines = [line for line in output.splitlines() if line.startswith(HEAD)]
    return json.loads(lines[-1][len(HEAD) :]) if lines else None
