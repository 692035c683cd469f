"""The exit codes of tasks and of the command: those of sysexits.h, and 128 + N for signal N, as shells have it."""

OK = 0
FAILED = 1  # an exception in user code, a failed job; of diff and grep: different, not found
USAGE = 64
BAD_DATA = 65
NO_INPUT = 66
UNAVAILABLE = 69  # a library is missing
INTERNAL = 70
IO_ERROR = 74
NOT_EXECUTABLE, NOT_FOUND = 126, 127  # of shells
HANGUP = 129
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143
