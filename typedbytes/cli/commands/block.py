"""The command block: messages to lines of JSON and back, and a peer that answers them.

encode(decode(x)) == x for messages of this library; cli/_forms/message_form has their form. typedbytes.block is
imported by what uses it: it needs POSIX, the description of the arguments does not.
"""

from __future__ import annotations

import os
from contextlib import suppress

from typedbytes.cli._arguments import InputSettings, integer, option, positive, switch
from typedbytes.cli._failure import BAD_DATA, IO_ERROR, USAGE, Failure, reason_of
from typedbytes.cli._forms.json_form import JsonFormError, dump_line, load_line
from typedbytes.cli._input.inputs import Inputs, opened
from typedbytes.errors import DecodeError, EncodeError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from typedbytes.cli._output.files import CommandOutput

WIRES = ("line", "block", "bytes", "type8", "total", "header", "native")


class Settings(InputSettings):
    """The options of block."""

    action: str | None = option(
        nargs="?", metavar="ACTION", help="encode, decode, echo or peer", words=("encode", "decode", "echo", "peer")
    )
    files: list[str] = option(nargs="*", default=[], metavar="FILE", help="the inputs; stdin if none, or for -")
    wire: str = option("--wire", choices=WIRES, default="bytes", help="the layout (bytes): " + ", ".join(WIRES))
    max_bytes: int | None = option(
        "--max-bytes", type=positive, metavar="N", help="refuse a message of more than N bytes"
    )
    checksum: bool = switch("--checksum", help="end native messages with a checksum")
    listen: str = option(
        "--listen", default="127.0.0.1:0", metavar="ADDRESS", help="peer: HOST:PORT, or the path of a Unix socket"
    )
    mode: str = option(
        "--mode", choices=("ack", "echo"), default="ack", help="peer: answer with the byte '1', or with the message"
    )
    connections: int | None = option("--connections", type=integer, metavar="N", help="peer: end after N connections")


def run(settings: Settings, output: CommandOutput) -> int | None:
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
    if settings.action not in ACTIONS:
        raise Failure(USAGE, "expected an action: encode, decode, echo or peer (see typedbytes block --help)")
    if settings.checksum and settings.wire != "native":
        raise Failure(USAGE, "--checksum needs --wire native")
    ACTIONS[settings.action](settings, output)


def _encode(settings, output):
    from typedbytes.block import BlockEncoder
    from typedbytes.cli._forms.message_form import values_from_json

    output.refuse_terminal()
    encoder = BlockEncoder(settings.wire, checksum=settings.checksum)
    for location, line in Inputs(settings).lines():
        if line.isspace():
            continue
        try:
            args, head = values_from_json(load_line(line))
            output.write(encoder.encode(args, **head))
        except (JsonFormError, EncodeError, DecodeError) as error:  # a value is converted by its typed bytes
            raise Failure(BAD_DATA, f"{location}: {error}") from None


def _decode(settings, output):
    from typedbytes.cli._forms.message_form import json_of

    for message in _messages(settings):
        args = [json_of(value) for value in message]
        if message.id is None:
            output.line(dump_line(args))
        else:
            output.line(dump_line({"id": message.id, "reply": message.wants_reply, "args": args}))


def _echo(settings, output):
    from typedbytes.block import BlockEncoder

    output.refuse_terminal()
    encoders = {"native": BlockEncoder("native", checksum=settings.checksum)}
    for message in _messages(settings):
        wire = settings.wire if message.id is None else "native"
        encoder = encoders.setdefault(wire, BlockEncoder(settings.wire))
        head = {} if message.id is None else {"id": message.id, "reply": message.wants_reply}
        output.write(encoder.encode(message, **head))


def _peer(settings, output):
    by_path = ":" not in settings.listen
    try:
        server = _listen(settings.listen, by_path)
    except (OSError, ValueError, OverflowError, TypeError) as error:  # the last two: an impossible port or host
        raise Failure(USAGE, f"{settings.listen}: cannot listen: {error}") from None
    try:
        with server:
            address = os.fsencode(settings.listen) if by_path else "{}:{}".format(*server.getsockname()).encode()
            output.write(address + b"\n")
            output.flush()
            _serve(server, settings)
    finally:
        if by_path:
            with suppress(FileNotFoundError):
                os.unlink(settings.listen)


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


def _serve(server, settings):
    served = 0
    while settings.connections is None or served < settings.connections:
        connection, _ = server.accept()
        served += 1
        with connection:
            try:
                _answer(connection, settings)
            except (DecodeError, OSError) as error:
                status = BAD_DATA if isinstance(error, DecodeError) else IO_ERROR
                Failure(status, f"connection {served}: {error if status == BAD_DATA else reason_of(error)}").report()


def _answer(connection, settings):
    from typedbytes.block import BlockReader, BlockWriter

    writers = {wire: BlockWriter(connection, wire) for wire in {settings.wire, "native"}}
    for message in BlockReader(connection, settings.wire, max_bytes=settings.max_bytes):
        if settings.mode == "ack":
            writers["native"].write_raw(b"1")
        elif message.id is None:
            writers[settings.wire].write(message)
        else:
            writers["native"].write(message, id=message.id)


ACTIONS: dict[str, Callable[[Settings, CommandOutput], int | None]] = {
    "encode": _encode,
    "decode": _decode,
    "echo": _echo,
    "peer": _peer,
}


def _messages(settings):
    from typedbytes.block import BlockReader

    for name in Inputs(settings):
        with opened(name) as source:
            yield from BlockReader(source, settings.wire, max_bytes=settings.max_bytes, exact=True)
