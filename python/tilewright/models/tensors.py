"""Tensors of ONNX files as numpy arrays, and back."""

import numpy as np

from ..errors import Unsupported, UserError
from .fields import Message

#: numbers of element types in onnx.proto
ELEMENT_TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "object": 8,  # strings
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
    "bfloat16": 16,
}
_NAMES = {number: name for name, number in ELEMENT_TYPES.items()}
_FLOAT_DATA, _INT32_DATA, _STRING_DATA, _INT64_DATA, _DOUBLE_DATA, _UINT64_DATA = 4, 5, 6, 7, 10, 11
_RAW, _EXTERNAL, _LOCATION = 9, 13, 14


def with_objects(array: np.ndarray) -> np.ndarray:
    """The array; strings as objects, so that those of two arrays have one dtype."""
    return array.astype(object) if array.dtype.kind in "US" else array


def without_objects(arrays: dict) -> dict:
    """{name: array} as .npz files hold them: objects are strings."""
    return {name: array.astype(str) if array.dtype.kind == "O" else array for name, array in arrays.items()}


def dtype_of(element_type: int, name: str) -> np.dtype:
    """The numpy dtype of an element type; object for strings.

    Raises Unsupported for one that numpy has not
    """
    known = _NAMES.get(element_type)
    if known is None:
        raise Unsupported(f'tensor "{name}" has element type {element_type}, which numpy does not have')
    if known == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise Unsupported(
                f'tensor "{name}" is bfloat16, which numpy does not have\nhelp: pip install ml_dtypes'
            ) from None
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(known)


def array_of(tensor: Message, folder) -> np.ndarray:
    """The elements of a TensorProto; `folder` has the files that tensors are kept in."""
    name = tensor.text(8)
    dtype, shape = dtype_of(tensor.int(2), name), tuple(tensor.ints(1))
    if dtype.kind == "O":
        texts = [bytes(each).decode("utf-8", "surrogateescape") for each in tensor.all(_STRING_DATA)]
        return np.array(texts, object).reshape(shape)
    if tensor.int(_LOCATION) == 1:
        data = _external(tensor, name, folder)
    elif tensor.all(_RAW):
        data = tensor.bytes(_RAW)
    else:
        return _listed(tensor, dtype).reshape(shape)
    if len(data) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise UserError(f'tensor "{name}" of {dtype}{list(shape)} has {len(data)} bytes of data')
    return np.frombuffer(data, dtype).reshape(shape)


def _listed(tensor: Message, dtype: np.dtype) -> np.ndarray:
    if dtype.name == "float32":
        return np.frombuffer(tensor.packed(_FLOAT_DATA), "float32")
    if dtype.name == "float64":
        return np.frombuffer(tensor.packed(_DOUBLE_DATA), "float64")
    number = {"int64": _INT64_DATA, "uint64": _UINT64_DATA, "uint32": _UINT64_DATA}.get(
        dtype.name, _INT32_DATA
    )
    numbers = np.array(tensor.ints(number), "int64")
    if dtype.name in ("float16", "bfloat16"):  # their bits
        return numbers.astype("uint16").view(dtype)
    return numbers.astype(dtype)


def _external(tensor: Message, name: str, folder) -> bytes:
    from pathlib import Path

    entries = {Message(each).text(1): Message(each).text(2) for each in tensor.all(_EXTERNAL)}
    root = Path(folder).resolve()
    path = (root / entries.get("location", "")).resolve()
    if root not in path.parents:
        raise UserError(f'tensor "{name}" is kept outside of the folder of the model: {path}')
    start, size = int(entries.get("offset", 0)), entries.get("length")
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(int(size) if size is not None else -1)
    except OSError as error:
        raise UserError(f'tensor "{name}" is kept in "{path}": {error.strerror}') from None


def tensor_of(name: str, array: np.ndarray) -> Message:
    """A TensorProto.

    Raises Unsupported for a dtype that ONNX files do not have, and for objects other than strings
    """
    array = with_objects(np.ascontiguousarray(array).reshape(np.shape(array)))
    if array.dtype.name not in ELEMENT_TYPES:
        raise Unsupported(f'array "{name}" has dtype {array.dtype}, which ONNX files do not have here')
    tensor = Message().set(1, *array.shape).set(2, ELEMENT_TYPES[array.dtype.name])
    if array.dtype.kind == "O":
        return tensor.set(8, name).set(_STRING_DATA, *_texts(name, array))
    return tensor.set(8, name).set(9, array.tobytes())


def _texts(name: str, array: np.ndarray) -> list:
    texts = array.ravel().tolist()
    for each in texts:
        if not isinstance(each, (str, bytes)):
            raise Unsupported(
                f'array "{name}" of objects holds {each!r}, an object of {type(each).__name__}; '
                "those of ONNX files are strings"
            )
    return texts


def value_info(name: str, dtype=None, shape=None) -> Message:
    """A ValueInfoProto; without a dtype only the name, without a shape no rank."""
    info = Message().set(1, name)
    if dtype is None:
        return info
    name_of_type = "object" if np.dtype(dtype).kind in "US" else np.dtype(dtype).name
    kind = Message().set(1, ELEMENT_TYPES[name_of_type])
    if shape is not None:
        dims = [Message().set(2 if isinstance(extent, str) else 1, extent) for extent in shape]
        kind.set(2, Message().set(1, *dims))
    return info.set(2, Message().set(1, kind))
