"""The values of expressions in a hybrid script: numbers of Python, expressions of loop programs, tensors."""

import ast
import operator

from tilewright import tir
from tilewright.ir._nodes import classes

from .functions import SYMBOLIC

_EXPR = classes["PrimExpr"]
_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Array:
    """A tensor of the script: the buffer that holds it."""

    def __init__(self, buffer, is_written: bool):
        self.buffer, self.is_written, self.place = buffer, is_written, None

    @property
    def shape(self) -> list:
        """Extents: numbers where they are known."""
        return [int(extent) if isinstance(extent, tir.IntImm) else extent for extent in self.buffer.shape]

    @property
    def dtype(self) -> str:
        """Element type."""
        return self.buffer.dtype


class Scalar(Array):
    """A scalar: memory of one element."""


class Expressions:
    """Values of expressions, by the names that are known."""

    def __init__(self, source, captured: dict):
        self.source, self.captured = source, captured
        self.names: dict = {}

    def value(self, node):
        """A number, an expression, a string, a list, or an Array."""
        method = getattr(self, "_of_" + type(node).__name__.lower(), None)
        if method is None:
            raise self.source.unsupported(node, f"a hybrid script has no {type(node).__name__} expression")
        value = method(node)
        if isinstance(value, Scalar):
            return tir.BufferLoad(buffer=value.buffer, indices=[tir.const(0)])
        return value

    def _of_constant(self, node):
        return node.value

    def _of_name(self, node):
        if node.id in self.names:
            return self.names[node.id]
        if node.id in self.captured:
            return self.captured[node.id]
        raise self.source.error(node, f"{node.id} is not defined here")

    def _of_tuple(self, node):
        return tuple(self.value(each) for each in node.elts)

    def _of_list(self, node):
        return [self.value(each) for each in node.elts]

    def _of_attribute(self, node):
        owner = self.value(node.value)
        if isinstance(owner, Array) and node.attr not in ("shape", "dtype"):
            raise self.source.error(node, f"tensors have no {node.attr} here", "there are shape and dtype")
        return getattr(owner, node.attr)

    def _of_subscript(self, node):
        owner = self.value(node.value)
        if not isinstance(owner, Array):
            index = self.value(node.slice)
            if not isinstance(index, int):
                raise self.source.error(node, "the index is not a constant")
            return owner[index]
        return tir.BufferLoad(buffer=owner.buffer, indices=self.indices(node, owner))

    def indices(self, node, array) -> list:
        """The indices of an element."""
        index = self.value(node.slice)
        found = list(index) if isinstance(index, tuple | list) else [index]
        if len(found) != len(array.buffer.shape):
            raise self.source.error(
                node,
                f"{array.buffer.name} has {len(array.buffer.shape)} dimensions, but {len(found)} indices are given",
            )
        return [tir.const(each) if isinstance(each, int) else each for each in found]

    def binary(self, node, kind: type, left, right):
        """left + right, or another operator."""
        if kind is ast.Pow:
            return SYMBOLIC["power"](left, right)
        if kind not in _BINARY:
            raise self.source.unsupported(node, f"a hybrid script has no operator {kind.__name__}")
        return _BINARY[kind](left, right)

    def _of_binop(self, node):
        return self.binary(node, type(node.op), self.value(node.left), self.value(node.right))

    def _of_unaryop(self, node):
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not value if isinstance(value, bool | int) else tir.Not(value)
        return -value if isinstance(node.op, ast.USub) else value

    def _of_compare(self, node):
        result, left = None, self.value(node.left)
        for op, each in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARE:
                raise self.source.unsupported(node, f"a hybrid script has no comparison {type(op).__name__}")
            right = self.value(each)
            found = self._compared(type(op), left, right)
            result = found if result is None else self._both(result, found)
            left = right
        return result

    @staticmethod
    def _compared(kind: type, left, right):
        if kind in (ast.Eq, ast.NotEq) and (isinstance(left, _EXPR) or isinstance(right, _EXPR)):
            sides = {"a": tir.const_like(left, right), "b": tir.const_like(right, left)}
            return tir.EQ(**sides) if kind is ast.Eq else tir.NE(**sides)
        return _COMPARE[kind](left, right)

    @staticmethod
    def _both(left, right):
        if isinstance(left, bool):
            return right if left else False
        return left if right is True else right if right is False else tir.all(left, right)

    def _of_boolop(self, node):
        values = [self.value(each) for each in node.values]
        is_and = isinstance(node.op, ast.And)
        known = [value for value in values if isinstance(value, bool | int)]
        others = [value for value in values if not isinstance(value, bool | int)]
        if any(bool(value) is not is_and for value in known):
            return not is_and
        if not others:
            return is_and
        return (tir.all if is_and else tir.any)(*others) if len(others) > 1 else others[0]

    def _of_ifexp(self, node):
        condition = self.value(node.test)
        if isinstance(condition, bool | int):
            return self.value(node.body if condition else node.orelse)
        first, second = self.value(node.body), self.value(node.orelse)
        return tir.Select(condition, tir.const_like(first, second), tir.const_like(second, first))

    def _of_call(self, node):
        args = [self.value(arg) for arg in node.args]
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in SYMBOLIC and name not in self.names:
            return SYMBOLIC[name](*args)
        function = self.captured.get(name) if name else self.value(node.func)
        if not callable(function):
            raise self.source.error(
                node,
                f"{ast.unparse(node.func)} is no function of hybrid scripts",
                f"there are {', '.join(sorted(SYMBOLIC))}",
            )
        return function(*args)

    @staticmethod
    def dtype_of(value) -> str:
        """Of a number as Python has it, or of an expression."""
        if isinstance(value, bool):
            return "bool"
        return "int32" if isinstance(value, int) else "float32" if isinstance(value, float) else value.dtype

    def converted(self, node, value, dtype: str):
        """`value` as an expression of `dtype`."""
        if isinstance(value, int | float):
            return tir.const(value, dtype)
        if not isinstance(value, _EXPR):
            raise self.source.error(node, f"a Python {type(value).__name__} is assigned, expected a number")
        return value if value.dtype == dtype else value.astype(dtype)
