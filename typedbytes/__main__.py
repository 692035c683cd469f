"""Run the command as ``python -m typedbytes``."""

import sys

from typedbytes.cli import main

if __name__ == "__main__":
    sys.exit(main())
