"""Write wheels again with the same files, compressed by zopfli, which takes a tenth off them.

python .ci/recompress_wheel.py WHEEL...    needs zopfli; some ten seconds for each
"""

import os
import sys
import zipfile

import zopfli.zlib


class Compressor:
    """Compress what zipfile passes on, all at once; as zlib's objects without header and checksum."""

    def __init__(self):
        self.data = bytearray()

    def compress(self, data):
        """Keep the bytes for `flush`."""
        self.data += data
        return b""

    def flush(self):
        """Return the raw deflate stream: zlib's two bytes of header and four of checksum are not part of it."""
        return zopfli.zlib.compress(bytes(self.data))[2:-4]


def recompress(path):
    """Replace a wheel by one with the same files in the same order."""
    smaller = f"{path}.smaller"
    with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(smaller, "w") as target:
        for item in wheel.infolist():
            if not item.is_dir():
                target.writestr(item, wheel.read(item), zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(smaller) as written:
        if written.testzip() is not None:
            sys.exit(f"{path}: what zopfli has written cannot be read")
    os.replace(smaller, path)


if __name__ == "__main__":
    zipfile._get_compressor = lambda *options: Compressor()  # zipfile has no public way to name another compressor
    for argument in sys.argv[1:]:
        recompress(argument)
