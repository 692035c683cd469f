# The steps between map and reduce, compiled: sort keys, lines of text as pairs, sort and merge.
#
# The parts, each of its own:
#     sorter.pxi        sorts encoded records in Hadoop's order; with order.pxi and merge.pxi
#     sortkey.pxi       keys whose encoded bytes have the order of their values
#     text_input.pxi    lines of text as Hadoop's TextInputFormat reads them

# cython: binding=False, embedsignature=True, embedsignature.format=clinic

include "sorter.pxi"
include "sortkey.pxi"
include "text_input.pxi"

__all__ = ["Descending", "LineReader", "SortedRecords", "Sorter", "decode", "encode", "merge"]
