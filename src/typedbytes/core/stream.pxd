# What other modules see of the streams.

from cpython.object cimport PyObject


# The base of readers of other formats whose pairs a task takes without a tuple for each.
cdef class PairSource:
    # The next pair, as new references; False: the end of input. After an error every call raises it again.
    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1
