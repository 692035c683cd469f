"""The command ``typedbytes``: filters over streams of values and of pairs."""

from typedbytes.cli.main import main

__all__ = ["main"]
