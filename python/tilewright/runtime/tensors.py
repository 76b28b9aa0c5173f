"""Tensors: how they are made and loaded, and where they stand in for arrays of numpy."""

import os

import numpy

from .. import _core
from ..errors import ArgumentError, UserError

Tensor = _core.Tensor


def tensor(value, device=None) -> Tensor:
    """A tensor with a copy of `value`.

    value   an array of numpy, a tensor of any library with __dlpack__, numbers or nested lists of them
    device  where the copy is: a device or its name; default the CPU
    Raises  UserError for what is no tensor: lists of different lengths, texts, tensors that need gradients
    >>> tilewright.runtime.tensor([[1.0, 2.0], [3.0, 4.0]]).shape
    """
    return _core.tensor(value, device)


def empty(shape, dtype="float32", device=None) -> Tensor:
    """A tensor whose elements are not set.

    shape   ints >= 0
    dtype   of the elements; default "float32"
    device  a device or its name; default the CPU
    Raises  UserError for extents below 0, unknown dtypes and sizes that no memory holds
    >>> tilewright.runtime.empty((5, 7), "int8")
    """
    return _core.empty(shape, dtype, device)


def from_dlpack(value) -> Tensor:
    """A tensor that shares its memory with `value`, a tensor of numpy, torch or another library with __dlpack__.

    Raises  UserError if `value` has no __dlpack__ or does not let others use its elements.
    Source: dmlc.github.io/dlpack
    >>> tilewright.runtime.from_dlpack(np.ones(3, "float32"))
    """
    return _core.from_dlpack(value)


def load_module(path) -> _core.Module:
    """The module in a shared library that `export_library` or `tilewright compile` wrote.

    path    of the file; its code runs in this process
    Raises  UserError if there is no such file, it is no library of tilewright, is damaged, or is for another CPU
    >>> ex.export_library("model.so")
    >>> vm = tilewright.VirtualMachine(tilewright.runtime.load_module("model.so"))
    """
    return _core.load_module(os.fspath(path))


def _view(self) -> numpy.ndarray:
    """The elements as numpy has them, without a copy where numpy knows the dtype."""
    try:
        return numpy.from_dlpack(self)
    except (BufferError, RuntimeError):  # a dtype of ml_dtypes
        return self.numpy()


def _numbers(self) -> numpy.ndarray:
    """The elements in a dtype that Python has numbers for."""
    array = _view(self)
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype("float32" if "float" in self.dtype else "int64")


def _item(self):
    """The one element, as a number of Python.

    Raises ArgumentError for more or fewer elements.
    >>> tilewright.tensor([2.5]).item()
    2.5
    """
    array = _numbers(self)
    if array.size != 1:
        raise ArgumentError(
            f"a tensor of shape {self.shape} is not one number\nhelp: x.tolist() has all of them, x.numpy() is an array"
        )
    return array.item()


def _tolist(self):
    """The elements as numbers of Python in nested lists; of a tensor without dimensions the number.

    >>> tilewright.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return _numbers(self).tolist()


def _require_dimensions(self, what: str) -> None:
    if self.ndim == 0:
        raise ArgumentError(f"a tensor without dimensions has no {what}\nhelp: x.item() is its number")


def _len(self) -> int:
    _require_dimensions(self, "length")
    return self.shape[0]


def _iter(self):
    """The rows, each as tensor[n] gives it: an array of numpy, or a number if the tensor has one dimension."""
    _require_dimensions(self, "rows")
    return iter(self.numpy())


def _getitem(self, index):
    """An element or a part as numpy has it, with a copy of the elements."""
    part = _view(self)[index]
    return part.copy() if isinstance(part, numpy.ndarray) else part


def _contains(self, value) -> bool:
    return bool((_view(self) == value).any())


def _bool(self) -> bool:
    array = _numbers(self)
    if array.size != 1:
        raise ArgumentError(
            f"a tensor of shape {self.shape} is neither true nor false\nhelp: x.numpy().any() or x.numpy().all()"
        )
    return bool(array.item())


def _array(self, dtype=None, copy=None) -> numpy.ndarray:
    """numpy.asarray(tensor): a copy of the elements; numpy.asarray(tensor, copy=False) shares them."""
    if copy is not False:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)
    try:
        shared = numpy.from_dlpack(self)
    except (BufferError, RuntimeError):
        shared = None
    if shared is None or (dtype is not None and shared.dtype != dtype):
        where = "" if self.device.device_type == 1 else f" on {self.device}"
        raise ValueError(
            f"numpy cannot have a tensor of {self.dtype}{where} as {dtype or self.dtype} without a copy"
        )
    return shared


def _eq(self, other):
    """Element by element, as numpy compares: an array of bools."""
    return numpy.equal(_view(self), other)


def _ne(self, other):
    """Element by element, as numpy compares: an array of bools."""
    return numpy.not_equal(_view(self), other)


def _order(sign: str):
    def compare(self, other):
        if isinstance(other, numpy.ndarray):
            return NotImplemented  # numpy compares
        raise ArgumentError(f"tensors have no order\nhelp: x.numpy() {sign} y compares element by element")

    return compare


def _repr(self) -> str:
    head = f"Tensor(shape={self.shape}, dtype={self.dtype}, device={self.device})"
    try:
        return f"{head}\n{self.numpy()!r}"
    except UserError:  # numpy does not know the dtype, as long as ml_dtypes is not installed
        return head


def _str(self) -> str:
    return str(self.numpy())


def _restored(elements: bytes, shape: tuple, dtype: str) -> Tensor:
    return _core.tensor_of_bytes(elements, shape, dtype)


def _reduce(self):
    return _restored, (_core.tensor_to_bytes(self), self.shape, self.dtype)


for _name, _method in {
    "item": _item, "tolist": _tolist, "__len__": _len, "__iter__": _iter, "__getitem__": _getitem, "__contains__": _contains,
    "__bool__": _bool, "__float__": lambda self: float(_item(self)), "__int__": lambda self: int(_item(self)),
    "__array__": _array, "__eq__": _eq, "__ne__": _ne, "__lt__": _order("<"), "__le__": _order("<="), "__gt__": _order(">"),
    "__ge__": _order(">="), "__repr__": _repr, "__str__": _str, "__reduce__": _reduce,
}.items():  # fmt: skip
    setattr(Tensor, _name, _method)

Device = _core.Device
Device.__reduce__ = lambda self: (Device, (str(self),))
