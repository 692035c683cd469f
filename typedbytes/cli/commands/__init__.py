"""The commands, one file each: the class ``Settings`` declares the options, ``run(settings, output)`` does the work.

The docstring of ``run`` is the help; it returns an exit code or None for 0.
"""
