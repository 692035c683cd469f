"""Pieces of text that lines are made of."""

PIECES = [
    b"a", b"hello world ", b"\n", b"\n", b"\r", b"\r\n", "ü狐".encode(), "\U0001f600".encode(), b"\xff", b"\xe2\x82",
    b"x" * 300,
]  # fmt: skip
