"""The Zstandard library of this Python, and frames that would cost more than they hold.

Importing this module raises ModuleNotFoundError if there is no library. A decompressor is for one frame, and making it
executes CPUID twice, which takes 15 microseconds in some virtual machines. Empty frames and stored bytes need none;
very many short frames are refused.
"""

import re

__all__ = ["FrameDecompressor", "count_fault", "skip_empty_frames", "stored_contents", "zstd"]

try:
    from compression import zstd  # Python 3.14
except ModuleNotFoundError:
    try:
        import backports.zstd as zstd
    except ModuleNotFoundError:  # of backports too, which is a folder of other packages as well
        raise ModuleNotFoundError("No module named 'backports.zstd'", name="backports.zstd") from None

# RFC 8878. A frame's magic number, its descriptor, the content size or a window that the library accepts, one last raw
# block of no bytes, and the checksum of no bytes if the descriptor says so. Or a skippable frame of no bytes. The count
# bounds the memory of a match.
_EMPTY_FRAME = rb"""
    \x28\xb5\x2f\xfd (?: \x20\x00 | \x00[\x00-\x88] ) \x01\x00\x00
    | \x28\xb5\x2f\xfd (?: \x24\x00 | \x04[\x00-\x88] ) \x01\x00\x00 \x99\xe9\xd8\x51
    | [\x50-\x5f]\x2a\x4d\x18 \x00\x00\x00\x00
"""
_match_empty_frames = re.compile(rb"(?: %b ){1,1000}" % _EMPTY_FRAME, re.VERBOSE).match
_match_empty_frames_and_zeros = re.compile(rb"(?: \x00 | %b ){1,1000}" % _EMPTY_FRAME, re.VERBOSE).match

MAX_SHORT_FRAMES = 10_000
SHORT_NBYTES = 32
HEADER_NBYTES = 18  # the longest header of a frame


class FrameDecompressor:
    """Decompress a frame, which must be as long as its header declares.

    The library does not check this where the last block is empty and the output has less room than the declared size.
    """

    def __init__(self):
        self._frame = zstd.ZstdDecompressor()
        self._header = b""
        self._nbytes = 0

    @property
    def eof(self):
        """Whether the end of the frame has been reached."""
        return self._frame.eof

    @property
    def needs_input(self):
        """Whether more output needs more input."""
        return self._frame.needs_input

    @property
    def unused_data(self):
        """The bytes after the frame."""
        return self._frame.unused_data

    def decompress(self, data, max_length):
        """Return at most max_length of the next bytes."""
        if len(self._header) < HEADER_NBYTES:
            self._header += data[: HEADER_NBYTES - len(self._header)]
        piece = self._frame.decompress(data, max_length)
        self._nbytes += len(piece)
        if self._frame.eof:
            size = zstd.get_frame_info(self._header).decompressed_size
            if size not in (None, self._nbytes):
                raise zstd.ZstdError(f"the frame ends after {self._nbytes} of {size} bytes")
        return piece


def skip_empty_frames(data, offset=0, *, zeros=False):
    """Return where the first frame with contents starts; zeros: whether bytes of zero may be between the frames."""
    match = _match_empty_frames_and_zeros if zeros else _match_empty_frames
    frames = match(data, offset)
    while frames:
        offset = frames.end()
        frames = match(data, offset)
    return offset


def stored_contents(data):
    """Return the contents of a frame that is one raw block of at most 255 bytes; None of anything else."""
    if data[:5] != b"\x28\xb5\x2f\xfd\x20" or len(data) < 10 or len(data) != 9 + data[5]:
        return None
    return bytes(data[9:]) if data[6:9] == (data[5] << 3 | 1).to_bytes(3, "little") else None


def count_fault(nframes, nbytes):
    """Return what is wrong with nframes frames that have contents, in nbytes compressed bytes; None if nothing is."""
    if nframes <= MAX_SHORT_FRAMES + nbytes // SHORT_NBYTES:
        return None
    wanted = f"expected {SHORT_NBYTES} bytes or more for each zstd frame after the first {MAX_SHORT_FRAMES}"
    return f"{wanted}, not {nframes} frames in {nbytes} bytes"
