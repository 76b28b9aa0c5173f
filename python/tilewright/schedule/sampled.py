"""Arithmetic on sampled values: v * 2 is worked out by the schedule that it is given to."""

from .. import _core
from ..errors import ArgumentError

_OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod"}
_Handle = _core.ExprHandle


class Calculation:
    """A number made of sampled values, which a step takes where it takes one: a text such as "*" and two operands."""

    def __init__(self, operation: str, a, b):
        self.operation, self.a, self.b = operation, a, b

    def __repr__(self) -> str:
        if self.operation in _OPERATIONS:
            return f"({self.a!r} {self.operation} {self.b!r})"
        return f"{self.operation}({self.a!r}, {self.b!r})"

    def __bool__(self):
        raise ArgumentError(
            f"{self!r} is no number yet: what was sampled may be another one when the trace is replayed\n"
            "help: sch.get(...) gives the number of this schedule"
        )


def with_handles(core, value):
    """`value` with a handle of the schedule `core` for each Calculation in it."""
    if isinstance(value, Calculation):
        operands = [with_handles(core, value.a), with_handles(core, value.b)]
        return core.run("calculate", [value.operation, *operands], {})
    if isinstance(value, (list, tuple)) and any(
        isinstance(each, (Calculation, list, tuple)) for each in value
    ):
        return [with_handles(core, each) for each in value]
    return value


def _operator(operation: str, is_reflected: bool):
    def combined(self, other):
        if isinstance(other, bool) or not isinstance(other, (int, _Handle, Calculation)):
            return NotImplemented
        return Calculation(operation, *((other, self) if is_reflected else (self, other)))

    return combined


def _negative(self):
    return Calculation("-", 0, self)


for _class in (_Handle, Calculation):
    for _operation, _name in _OPERATIONS.items():
        setattr(_class, f"__{_name}__", _operator(_operation, False))
        setattr(_class, f"__r{_name}__", _operator(_operation, True))
    _class.__neg__ = _negative
