"""Sorting between map and reduce: encoded records in Hadoop's order, in memory and beyond it."""

from typedbytes._sorting._native import Descending, LineReader, SortedRecords, Sorter, decode, encode, merge

__all__ = ["Descending", "LineReader", "SortedRecords", "Sorter", "decode", "encode", "merge"]
