"""Messages of protocol buffers as lists of fields: what nobody asks for stays as it is when a message is written again.

Source of the format: protobuf.dev/programming-guides/encoding.
"""

import struct

from ..errors import UserError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def _damaged() -> UserError:
    return UserError(
        "the file is not an ONNX model, or is cut short\nhelp: export or download the model again"
    )


def _read_varint(data, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise _damaged()
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & (2**64 - 1), at


def varint(value: int) -> bytes:
    """A whole number of 64 bits as its bytes."""
    value &= 2**64 - 1
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


class Message:
    """The fields of a message in order, each [number, kind, value]: a whole number, or bytes."""

    def __init__(self, data=b""):
        self.fields: list = []
        at, data = 0, memoryview(data)
        while at < len(data):
            key, at = _read_varint(data, at)
            number, kind = key >> 3, key & 7
            if kind == _VARINT:
                value, at = _read_varint(data, at)
            elif kind == _BYTES:
                size, at = _read_varint(data, at)
                value, at = data[at : at + size], at + size
            elif kind in (_FIXED32, _FIXED64):
                size = 4 if kind == _FIXED32 else 8
                value, at = data[at : at + size], at + size
            else:
                raise _damaged()
            if at > len(data):
                raise _damaged()
            self.fields.append([number, kind, value])

    def all(self, number: int) -> list:
        """The values of a repeated field, as they are written."""
        return [value for found, _, value in self.fields if found == number]

    def bytes(self, number: int) -> bytes:
        """The last value of a field of bytes; empty if it is left out."""
        found = self.all(number)
        return bytes(found[-1]) if found else b""

    def text(self, number: int) -> str:
        return self.bytes(number).decode(errors="surrogateescape")

    def texts(self, number: int) -> list[str]:
        return [bytes(value).decode(errors="surrogateescape") for value in self.all(number)]

    def int(self, number: int, otherwise: int = 0) -> int:
        """The last value of a field of whole numbers, with its sign."""
        found = self.all(number)
        return signed(found[-1]) if found else otherwise

    def ints(self, number: int) -> list[int]:
        """A repeated field of whole numbers, packed or not."""
        found = []
        for _, kind, value in (field for field in self.fields if field[0] == number):
            if kind == _VARINT:
                found.append(signed(value))
                continue
            at = 0
            while at < len(value):
                each, at = _read_varint(value, at)
                found.append(signed(each))
        return found

    def packed(self, number: int) -> bytes:
        """A repeated field of fixed size, packed or not, as its bytes."""
        return b"".join(bytes(value) for value in self.all(number))

    def remove(self, number: int) -> None:
        self.fields = [field for field in self.fields if field[0] != number]

    def add(self, number: int, value) -> "Message":
        """Appends a field: a whole number, a float of 32 bits, text, bytes, or another message."""
        if isinstance(value, float):
            self.fields.append([number, _FIXED32, struct.pack("<f", value)])
        elif isinstance(value, int):
            self.fields.append([number, _VARINT, value])
        elif isinstance(value, str):
            self.fields.append([number, _BYTES, value.encode(errors="surrogateescape")])
        elif isinstance(value, Message):
            self.fields.append([number, _BYTES, value.to_bytes()])
        else:
            self.fields.append([number, _BYTES, value])
        return self

    def set(self, number: int, *values) -> "Message":
        """Takes the place of all values of a field."""
        self.remove(number)
        for value in values:
            self.add(number, value)
        return self

    def to_bytes(self) -> bytes:
        parts = []
        for number, kind, value in self.fields:
            parts.append(varint(number << 3 | kind))
            if kind == _VARINT:
                parts.append(varint(value))
                continue
            if kind == _BYTES:
                parts.append(varint(len(value)))
            parts.append(value)
        return b"".join(parts)


def signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
