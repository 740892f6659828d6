cimport numpy


def total(numpy.ndarray values):
    cdef double result = 0
    for value in values:
        result += value
    return result
