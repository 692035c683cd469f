"""The commands, one file each: ``add_arguments(parser)`` declares the arguments, ``run(options, output)`` does the work.

The docstring of ``run`` is the help; it returns an exit code or None for 0.
"""
