"""The command in processes that start in a tenth of the time: forks of one that has imported what it needs.

    python command_server.py SOCKET [MODULE ...]

Here: the server, and `run`, which uses it. Not here: what is being tested. Invariant: each command has a process of its
own, with the environment, the folder and the three pipes of the caller, and ends as an interpreter does.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import os
import pickle
import runpy
import selectors
import signal
import socket
import subprocess
import sys

REQUEST_NBYTES = 1 << 17
READ_NBYTES = 1 << 16
# What an interpreter reads when it starts: with other values a command needs one of its own.
READ_AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "COVERAGE", "MALLOC")
IMPORTED = tuple(
    f"typedbytes.cli.{name}"
    for name in (
        "_arguments", "_forms.json_form", "_input.inputs", "_input.pair_detection", "_output.records",
        "_output.reports", "_parser", "_query.fields",
    )
)  # fmt: skip
TABLES = ("typedbytes.cli._tables.inputs", "pyarrow.parquet")


def run(flags, arguments, stdin, seconds):
    """Run the command with these arguments and stdin, as subprocess.run does; SIGALRM ends it if it hangs."""
    modules = IMPORTED if "convert" not in arguments else (*IMPORTED, *TABLES)
    server = _server(flags, modules, tuple(_read_at_start(os.environ).items()))
    (their_stdin, source), (stdout, their_stdout), (stderr, their_stderr) = os.pipe(), os.pipe(), os.pipe()
    theirs = [their_stdin, their_stdout, their_stderr]
    request = pickle.dumps((list(map(os.fsdecode, arguments)), os.getcwd(), dict(os.environ), seconds))
    socket.send_fds(server, [request], theirs)
    for each in theirs:
        os.close(each)
    output, errors = _exchange(source, memoryview(stdin), stdout, stderr)
    return subprocess.CompletedProcess(arguments, int(server.recv(16)), output, errors)


def _exchange(source, stdin, stdout, stderr):
    """Write to one pipe while two others are read until they end; close all three, and return what was read."""
    os.set_blocking(source, False)
    found = {stdout: [], stderr: []}
    with selectors.PollSelector() as ready:
        ready.register(source, selectors.EVENT_WRITE)
        for each in found:
            ready.register(each, selectors.EVENT_READ)
        while ready.get_map():
            for key, _ in ready.select():
                if key.fd == source:
                    stdin = _write_some(source, stdin)
                    left = stdin
                else:
                    left = os.read(key.fd, READ_NBYTES)
                    found[key.fd].append(left)
                if not left:
                    ready.unregister(key.fd)
                    os.close(key.fd)
    return map(b"".join, found.values())


def _write_some(descriptor, data):
    """Return what is left of the data, nothing when no one reads it."""
    try:
        return data[os.write(descriptor, data) :]
    except BrokenPipeError:
        return b""


def _read_at_start(environment):
    return {name: text for name, text in environment.items() if name.startswith(READ_AT_START)}


@functools.cache
def _server(flags, modules, _environment):
    """Start a server with these flags, modules and environment, once; return the socket to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, *flags, __file__, str(theirs.fileno()), *modules]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], **pipes)

    @atexit.register
    def stop():
        ours.close()
        process.communicate()

    return ours


def serve(connection):
    """Fork for each request; return only in the forks, when their command is set up."""
    while True:
        request, descriptors, *_ = socket.recv_fds(connection, REQUEST_NBYTES, 3)
        if not request:
            os._exit(0)
        child = os.fork()
        if child == 0:
            connection.close()
            return _become(*pickle.loads(request), descriptors)
        for each in descriptors:
            os.close(each)
        connection.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _become(arguments, folder, environment, seconds, descriptors):
    signal.alarm(seconds)
    for number, each in enumerate(descriptors):
        os.dup2(each, number)
        os.close(each)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    sys.path[0] = folder


if __name__ == "__main__":
    for name in sys.argv[2:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # the end of an interpreter collects what it has, several times
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("typedbytes", run_name="__main__", alter_sys=True)
