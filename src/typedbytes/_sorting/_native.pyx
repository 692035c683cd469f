# Layer 3. What stands between map and reduce, compiled: sort keys, lines of text as pairs, the sort and the merge.
#
# The parts, each of its own:
#     sorter.pxi        encoded records in the order that Hadoop gives them; with order.pxi and merge.pxi
#     sortkey.pxi       keys whose encoded bytes have the order of their values
#     text_input.pxi    lines of text as Hadoop's TextInputFormat gives them

# cython: binding=False, embedsignature=True, embedsignature.format=clinic

include "sorter.pxi"
include "sortkey.pxi"
include "text_input.pxi"

__all__ = ["Descending", "LineReader", "Sorter", "decode", "encode", "merge"]
