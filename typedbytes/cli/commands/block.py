"""The command block: messages to lines of JSON and back, and a peer that answers them.

encode(decode(x)) == x for messages of this library; _message_form has their form. typedbytes.block is imported by what uses it: it needs
POSIX, the description of the arguments does not.
"""

from __future__ import annotations

import os

from typedbytes.cli.arguments import complete_with, integer, positive
from typedbytes.cli.failure import BAD_DATA, IO_ERROR, USAGE, Failure, reason_of
from typedbytes.cli.forms.json_form import JsonFormError, dump_line, load_line
from typedbytes.cli.input.inputs import input_names, lines, opened
from typedbytes.errors import DecodeError, EncodeError

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from typedbytes.cli.output.files import CommandOutput

WIRES = ("line", "block", "bytes", "type8", "total", "header", "native")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of block."""
    action = parser.add_argument("action", nargs="?", metavar="ACTION", help="encode, decode, echo or peer")
    complete_with(action, ACTIONS)
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help="the inputs; stdin if none, or for -")
    parser.add_argument("--wire", choices=WIRES, default="bytes", help="the layout (bytes): " + ", ".join(WIRES))
    parser.add_argument("--max-bytes", type=positive, metavar="N", help="refuse a message of more than N bytes")
    parser.add_argument("--checksum", action="store_true", help="end native messages with a checksum")
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="ADDRESS", help="peer: HOST:PORT, or the path of a Unix socket")
    parser.add_argument("--mode", choices=("ack", "echo"), default="ack", help="peer: answer with the byte 0x31, or with the message")
    parser.add_argument("--connections", type=integer, metavar="N", help="peer: end after N connections")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Convert lines of JSON to block messages and back, or answer messages.

    encode reads lines of JSON and writes a message for each, and decode is its inverse; echo copies
    messages; peer prints the address where it listens and answers each message.

    A line is an array of values in the JSON form of to-json, or {"id": 7, "reply": true, "args":
    [...]}. A command is {"command": "add"}, an array {"array": "f8", "shape": [2], "data": BASE64},
    an Arrow stream {"arrow": BASE64}.

    examples:
      echo '[{"command": "add"}, 1, "x"]' | typedbytes block encode | xxd
      typedbytes block decode --wire native messages.bin | jq -c .args
      typedbytes block peer --mode echo --listen /tmp/peer
    """
    if options.action not in ACTIONS:
        raise Failure(USAGE, "expected an action: encode, decode, echo or peer (see typedbytes block --help)")
    if options.checksum and options.wire != "native":
        raise Failure(USAGE, "--checksum needs --wire native")
    ACTIONS[options.action](options, output)


def _encode(options, output):
    from typedbytes.block import BlockEncoder
    from typedbytes.cli.forms.message_form import values_from_json

    output.refuse_terminal()
    encoder = BlockEncoder(options.wire, **_checksum(options))
    for location, line in lines(options):
        if line.isspace():
            continue
        try:
            args, head = values_from_json(load_line(line))
            output.write(encoder.encode(args, **head))
        except (JsonFormError, EncodeError, DecodeError) as error:  # a value is converted by its typed bytes
            raise Failure(BAD_DATA, f"{location}: {error}") from None


def _decode(options, output):
    from typedbytes.cli.forms.message_form import json_of

    for message in _messages(options):
        args = [json_of(value) for value in message]
        if message.id is None:
            output.line(dump_line(args))
        else:
            output.line(dump_line({"id": message.id, "reply": message.wants_reply, "args": args}))


def _echo(options, output):
    from typedbytes.block import BlockEncoder

    output.refuse_terminal()
    encoders = {"native": BlockEncoder("native", **_checksum(options))}
    for message in _messages(options):
        wire = options.wire if message.id is None else "native"
        encoder = encoders.setdefault(wire, BlockEncoder(options.wire))
        head = {} if message.id is None else {"id": message.id, "reply": message.wants_reply}
        output.write(encoder.encode(message, **head))


def _peer(options, output):
    by_path = ":" not in options.listen
    try:
        server = _listen(options.listen, by_path)
    except (OSError, ValueError, OverflowError, TypeError) as error:  # the last two: an impossible port or host
        raise Failure(USAGE, f"{options.listen}: cannot listen: {error}") from None
    try:
        with server:
            address = os.fsencode(options.listen) if by_path else "{}:{}".format(*server.getsockname()).encode()
            output.write(address + b"\n")
            output.flush()
            _serve(server, options)
    finally:
        if by_path:
            os.unlink(options.listen)


def _listen(address, by_path):
    """Return a socket that listens at HOST:PORT, or at the path of a Unix socket."""
    import socket

    server = socket.socket(socket.AF_UNIX if by_path else socket.AF_INET)
    try:
        if by_path:
            server.bind(address)
        else:
            host, _, port = address.rpartition(":")
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((host, int(port)))
        server.listen()
    except BaseException:
        server.close()
        raise
    return server


def _serve(server, options):
    served = 0
    while options.connections is None or served < options.connections:
        connection, _ = server.accept()
        served += 1
        with connection:
            try:
                _answer(connection, options)
            except (DecodeError, OSError) as error:
                status = BAD_DATA if isinstance(error, DecodeError) else IO_ERROR
                Failure(status, f"connection {served}: {error if status == BAD_DATA else reason_of(error)}").report()


def _answer(connection, options):
    from typedbytes.block import BlockReader, BlockWriter

    writers = {wire: BlockWriter(connection, wire) for wire in {options.wire, "native"}}
    for message in BlockReader(connection, options.wire, max_bytes=options.max_bytes):
        if options.mode == "ack":
            writers["native"].write_raw(b"1")
        elif message.id is None:
            writers[options.wire].write(message)
        else:
            writers["native"].write(message, id=message.id)


ACTIONS: dict[str, Callable[[Namespace, CommandOutput], int | None]] = {"encode": _encode, "decode": _decode, "echo": _echo, "peer": _peer}


def _checksum(options):
    return {"checksum": True} if options.checksum else {}


def _messages(options):
    from typedbytes.block import BlockReader

    for name in input_names(options):
        with opened(name) as source:
            yield from BlockReader(source, options.wire, max_bytes=options.max_bytes, exact=True)
