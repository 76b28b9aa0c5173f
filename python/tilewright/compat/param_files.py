"""tvm.runtime's parameters as bytes: {name: tensor} in the binary form that TVM writes.

Source: docs of tvm.runtime.save_param_dict; little-endian words of 64 bits around the bytes of each tensor.
"""

import math
import struct
from pathlib import Path

import numpy

import tilewright as tw
from tilewright._guard import guard
from tilewright.errors import UserError

_LIST_MAGIC, _TENSOR_MAGIC = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F
# (kind as DLPack numbers it, bits) of each dtype
_CODES = {
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
    "bool": (6, 8),
}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}
_HEAD = struct.Struct("<QQiiiBBH")  # magic, reserved, device, its number, ndim, code, bits, lanes


def save_param_dict(params: dict) -> bytes:
    """The tensors, by name, as bytes; on the CPU, whatever device they are on.

    Raises UserError for what is no dict of tensors by name, and for dtypes that the form has not.
    """
    if not isinstance(params, dict) or not all(isinstance(name, str) for name in params):
        raise UserError("save_param_dict: params is no dict of tensors by name")
    parts = [struct.pack("<QQQ", _LIST_MAGIC, 0, len(params))]
    for name in params:
        parts += [struct.pack("<Q", len(name.encode())), name.encode()]
    parts.append(struct.pack("<Q", len(params)))
    for value in params.values():
        array = numpy.asarray(value.numpy() if hasattr(value, "numpy") else value)
        if array.dtype.name not in _CODES:
            raise UserError(f"save_param_dict: tensors of dtype {array.dtype} have no form in the file")
        code, bits = _CODES[array.dtype.name]
        parts.append(_HEAD.pack(_TENSOR_MAGIC, 0, 1, 0, array.ndim, code, bits, 1))
        parts.append(struct.pack(f"<{array.ndim}qq", *array.shape, array.nbytes))
        parts.append(numpy.ascontiguousarray(array).tobytes())
    return b"".join(parts)


class _Reader:
    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        if size < 0 or size > len(self._data) - self._at:
            raise UserError(f"load_param_dict: the bytes end at {len(self._data)}, within a value")
        self._at += size
        return self._data[self._at - size : self._at]

    def words(self, form: str) -> tuple:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))

    def tensor(self):
        magic, _, _, _, ndim, code, bits, lanes = self.words(_HEAD.format[1:])
        if magic != _TENSOR_MAGIC or ndim < 0 or (code, bits) not in _DTYPES or lanes != 1:
            raise UserError("load_param_dict: the bytes hold no tensor where one begins")
        *shape, size = self.words(f"{ndim}qq")
        dtype = numpy.dtype(_DTYPES[code, bits])
        if min(shape, default=0) < 0 or size != math.prod(shape) * dtype.itemsize:
            raise UserError(f"load_param_dict: a tensor of shape {shape} and {dtype} has {size} bytes")
        return tw.tensor(numpy.frombuffer(self.take(size), dtype).reshape(shape))


def load_param_dict(param_bytes) -> dict:
    """{name: tensor} of what save_param_dict gave.  Raises UserError for all else."""
    if not isinstance(param_bytes, bytes | bytearray | memoryview):
        raise UserError(
            f"load_param_dict: param_bytes is a Python {type(param_bytes).__name__}, expected bytes"
        )
    reader = _Reader(bytes(param_bytes))
    magic, _, num_names = reader.words("QQQ")
    if magic != _LIST_MAGIC:
        raise UserError("load_param_dict: the bytes are none that save_param_dict gives")
    names = [reader.take(*reader.words("Q")).decode(errors="replace") for _ in range(num_names)]
    (num_tensors,) = reader.words("Q")
    if num_tensors != num_names:
        raise UserError(f"load_param_dict: there are {num_names} names for {num_tensors} tensors")
    return {name: reader.tensor() for name in names}


def save_param_dict_to_file(params: dict, path) -> None:
    """Writes the tensors to a file.  Raises UserError where it cannot be written."""
    data = save_param_dict(params)
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise UserError(f"save_param_dict_to_file: {path} cannot be written: {error.strerror}") from error


def load_param_dict_from_file(path) -> dict:
    """{name: tensor} of a file.  Raises UserError where it cannot be read."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"load_param_dict_from_file: {path} cannot be read: {error.strerror}") from error
    return load_param_dict(data)


NAMES = {
    function.__name__: guard(function.__name__, function)
    for function in (load_param_dict, load_param_dict_from_file, save_param_dict, save_param_dict_to_file)
}
