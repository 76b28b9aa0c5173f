"""Tensors made and loaded: what `tilewright.runtime` offers beside the class."""

import os

from .. import _core


def tensor(value, device=None):
    """A tensor with a copy of `value`.

    value   an array of numpy, a tensor of any library with __dlpack__, numbers or nested lists of them
    device  where the copy is: a device or its name; default the CPU
    Raises  UserError for what is no tensor: lists of different lengths, texts, tensors that need gradients
    >>> tilewright.runtime.tensor([[1.0, 2.0], [3.0, 4.0]]).shape
    """
    return _core.tensor(value, device)


def empty(shape, dtype="float32", device=None):
    """A tensor whose elements are not set.

    shape   ints >= 0
    dtype   of the elements; default "float32"
    device  a device or its name; default the CPU
    Raises  UserError for extents below 0, unknown dtypes and sizes that no memory holds
    >>> tilewright.runtime.empty((5, 7), "int8")
    """
    return _core.empty(shape, dtype, device)


def from_dlpack(value):
    """A tensor that shares its memory with `value`, a tensor of numpy, torch or another library with __dlpack__.

    Raises  UserError if `value` has no __dlpack__ or does not let others use its elements.
    Source: dmlc.github.io/dlpack
    >>> tilewright.runtime.from_dlpack(np.ones(3, "float32"))
    """
    return _core.from_dlpack(value)


def load_module(path):
    """The module in a shared library that `export_library` or `tilewright compile` wrote.

    path    of the file; its code runs in this process
    Raises  UserError if there is no such file, it is no library of tilewright, is damaged, or is for another CPU
    >>> ex.export_library("model.so")
    >>> vm = tilewright.VirtualMachine(tilewright.runtime.load_module("model.so"))
    """
    return _core.load_module(os.fspath(path))
