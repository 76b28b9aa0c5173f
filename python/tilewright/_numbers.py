"""Numbers of numpy where numbers of Python are expected."""

import operator

import numpy


def plain(value):
    """`value`; of a scalar of numpy, or of a dtype of ml_dtypes, the bool, int or float that it is."""
    if not isinstance(value, numpy.generic):
        return value
    name = value.dtype.name
    if name == "bool":
        return bool(value)
    if "float" in name:
        return float(value)
    return int(value) if name.startswith(("int", "uint")) else value


def is_whole(value) -> bool:
    """True if `value` is a whole number of 64 bits, of Python or of numpy, and no bool."""
    try:
        return not isinstance(value, bool) and -(2**63) <= operator.index(value) < 2**63
    except TypeError:
        return False
