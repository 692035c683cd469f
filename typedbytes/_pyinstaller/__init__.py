"""Where PyInstaller finds its hook for this package."""

import os


def hook_folders():
    """Return the folders of hooks; PyInstaller calls it by the entry point `pyinstaller40`."""
    return [os.path.dirname(__file__)]
