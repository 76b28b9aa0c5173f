"""Shared by the tests of graph operators: one operator on arrays, through every pass and LLVM."""

import functools
import os

import numpy as np

import tilewright
from tilewright import relax, tir

LEVELS = [int(level) for level in os.environ.get("TILEWRIGHT_TEST_LEVELS", "0,2").split(",")]


def operator(name):
    return functools.reduce(getattr, name.split("."), relax.op)


def build(name, args, attrs, symbols=()):
    """A module whose main calls the operator: arrays are parameters, lists of arrays tuples of them.

    symbols  extents that parameters have as variables instead of numbers
    """
    params = []
    extents = {extent: tir.Var(f"n{extent}", "int64") for extent in symbols}

    def value(arg):
        if isinstance(arg, np.ndarray):
            shape = [extents.get(extent, extent) for extent in arg.shape]
            type = relax.TensorType(shape, str(arg.dtype))
            params.append(relax.Var(f"x{len(params)}", type))
            return params[-1]
        if isinstance(arg, list) and any(isinstance(item, np.ndarray) for item in arg):
            return [value(item) for item in arg]
        return arg

    call = operator(name)(*[value(arg) for arg in args], **attrs)
    bb = relax.BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            out = bb.emit_output(call)
        bb.emit_func_output(out)
    return bb.get()


def arrays_of(args):
    found = []
    for arg in args:
        if isinstance(arg, np.ndarray):
            found.append(arg)
        elif isinstance(arg, list):
            found.extend(item for item in arg if isinstance(item, np.ndarray))
    return found


def unpacked(result):
    if isinstance(result, list | tuple):
        return [unpacked(item) for item in result]
    return result.numpy() if hasattr(result, "numpy") else result


def run_op(name, *args, opt_level=0, symbols=(), **attrs):
    """The results of the operator, a list if there are several."""
    module = build(name, args, attrs, symbols)
    with tilewright.transform.PassContext(opt_level=opt_level):
        main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    return unpacked(main(*(tilewright.tensor(x) for x in arrays_of(args))))


def check_op(name, args, attrs, expected, rtol=1e-5, atol=1e-6, symbols=()):
    """The operator gives `expected`, dtypes included, without optimization and with all of it."""
    wanted = expected if isinstance(expected, list) else [expected]
    for level in LEVELS:
        got = run_op(name, *args, opt_level=level, symbols=symbols, **attrs)
        got = got if isinstance(got, list) else [got]
        assert len(got) == len(wanted)
        for mine, theirs in zip(got, wanted, strict=True):
            theirs = np.asarray(theirs)
            assert np.shape(mine) == theirs.shape
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol)
