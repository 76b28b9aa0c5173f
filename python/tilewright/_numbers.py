"""Numbers of numpy where numbers of Python are expected."""

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
