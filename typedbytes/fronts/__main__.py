"""``python -m typedbytes.fronts script.py ...`` runs a script of an older library as it is."""

from __future__ import annotations

import sys

from typedbytes.fronts import run_script

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m typedbytes.fronts SCRIPT [ARGUMENT...]")
    run_script(sys.argv[1:])
