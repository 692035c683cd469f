"""What commands write and say about records that an earlier implementation, in Python alone, was given too.

goldens.jsonl has random inputs, what that implementation wrote until it ended, its exit code and its message. It left
out empty lines where rows have one field; their rows have been added.
"""

import json
from pathlib import Path

import pytest

from typedbytes.cli import main

GOLDENS = [json.loads(line) for line in Path(__file__).with_name("goldens.jsonl").read_text("ascii").splitlines()]


@pytest.mark.parametrize("command", ["to-text", "from-text", "cut", "sort", "aggregate"])
def test_outputs_and_messages_are_those_of_the_slow_implementation(command, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    for golden in (each for each in GOLDENS if each["arguments"][0] == command):
        Path("in").write_bytes(bytes.fromhex(golden["input"]))
        code = main(golden["arguments"])
        output, message = capfdbinary.readouterr()
        said = message.decode().replace(f"typedbytes {command}: ", "typedbytes: ", 1)
        found = {**golden, "exit_code": code, "output": output.hex(), "message": said}
        assert found == golden
