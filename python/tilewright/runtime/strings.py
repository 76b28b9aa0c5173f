"""Tensors of strings: numpy's arrays outside of a compiled function, pairs of bytes and ends inside."""

import itertools

import numpy as np

from ..errors import UserError

_SEQUENCE = "sequence of strings"


def pair_of(value, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Strings as compiled code takes them: all bytes (uint8), and for each string the number of bytes up to its end (int64).

    value   an array of str, of bytes that are UTF-8, or of objects that are str or bytes; or a str or lists of them
    what    opens messages
    Raises  UserError for anything else, and for a str that UTF-8 does not have
    """
    array = value if isinstance(value, np.ndarray) else np.array(value, dtype=object)
    if array.dtype.kind not in "UOST":
        raise UserError(
            f"{what} is {array.dtype}{list(array.shape)}, expected strings\nhelp: an array of str, e.g. numpy.array(['a', 'b'])"
        )
    texts = [_bytes_of(each, n, what) for n, each in enumerate(array.ravel().tolist())]
    ends = np.cumsum([len(each) for each in texts], dtype="int64").reshape(array.shape)
    return np.frombuffer(b"".join(texts), "uint8"), ends


def _bytes_of(text, place: int, what: str) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise UserError(
            f"{what}: element {place} is a Python {type(text).__name__}, expected a str\nhelp: convert it, e.g. str(x)"
        )
    try:
        return text.encode()
    except UnicodeEncodeError as problem:
        raise UserError(
            f"{what}: string {place} has U+{ord(text[problem.start]):04X}, half of a character, at {problem.start}\nhelp: UTF-8 has no surrogates"
        ) from None


def array_of(pair) -> np.ndarray:
    """The strings of a pair, as an array of objects."""
    data, ends = pair[0].numpy().tobytes(), pair[1].numpy()
    limits = [0, *ends.ravel().tolist()]
    result = np.empty(ends.size, object)
    result[:] = [data[start:end].decode() for start, end in itertools.pairwise(limits)]
    return result.reshape(ends.shape)


def given(function: str, inputs: list, args: tuple) -> tuple:
    """`args` of a call of `function`, whose inputs are `inputs`, pairs of name and type, with strings as pairs."""
    converted = list(args)
    for n, (name, kind) in enumerate(inputs[: len(args)]):
        what = f'{function}: input "{name}"'
        if kind.startswith("string"):
            converted[n] = pair_of(args[n], what)
        elif kind.startswith(_SEQUENCE):
            converted[n] = _pairs_of(args[n], what)
    return tuple(converted)


def _pairs_of(value, what: str):
    if value is None or not isinstance(value, list | tuple):
        return None if value is None else pair_of(value, what)
    return tuple(
        _pairs_of(each, what) if isinstance(each, list | tuple) else pair_of(each, what) for each in value
    )


def results(outputs: list, result):
    """`result` of a call of a function, whose outputs are `outputs`, with pairs as arrays."""
    if len(outputs) == 1:
        kind = outputs[0][1]
        return _converted(kind, result[0]) if _is_string(kind) else result
    return tuple(_converted(kind, each) for (_, kind), each in zip(outputs, result, strict=True))


def _is_string(kind: str) -> bool:
    return kind.startswith(("string", _SEQUENCE))


def _converted(kind: str, value):
    if not _is_string(kind) or value is None:
        return value
    if isinstance(value, tuple) and (not value or isinstance(value[0], tuple | type(None))):
        return tuple(_converted(kind, each) for each in value)
    return array_of(value)
