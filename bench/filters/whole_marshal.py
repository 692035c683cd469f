"""Decode and encode the same objects as one marshal: what the interpreter itself could do at best."""

import marshal
import sys

sys.stdout.buffer.write(marshal.dumps(marshal.loads(sys.stdin.buffer.read())))
