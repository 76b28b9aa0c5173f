"""Loop programs: expressions with Python operators, math functions, buffers, statements.

Every node class of TIR is here under its own name (For, Block, BufferStore, ...); see help(tilewright.tir.For).
"""

from .. import _core
from .._guard import guard, guard_module
from ..errors import UserError as _UserError
from ..ir._nodes import classes, methods_for
from ..ir.printing import to_script as _to_script
from ._index_map import index_map as index_map
from ._interpreter import interpret as interpret
from ._interpreter import verify as verify
from ._intrin_rules import call_pure_extern as call_pure_extern
from ._intrin_rules import register_intrin_rule as register_intrin_rule
from ._intrin_rules import register_op as register_op
from ._tensor_intrin import TensorIntrin as TensorIntrin
from ._walk import post_order_visit as post_order_visit
from ._walk import substitute as substitute

_PrimExpr = classes["PrimExpr"]

for _kind, _class in list(classes.items()):
    if _kind.startswith("tir."):
        globals()[_kind[4:]] = _class
del _kind, _class

IntImm = classes["ir.IntImm"]
FloatImm = classes["ir.FloatImm"]
StringImm = classes["ir.StringImm"]
PrimExpr = _PrimExpr
Stmt = classes["Stmt"]
Range = classes["ir.Range"]


class _Comparison:
    """Mixed into the result of `==` and `!=`: usable as an expression and as a truth value."""


def _operator(kind: str, swapped: bool = False):
    def apply(self, other):
        try:
            return _core.binary(kind, other, self) if swapped else _core.binary(kind, self, other)
        except TypeError:
            return NotImplemented

    return apply


def _bitwise(name: str, swapped: bool = False):
    def apply(self, other):
        return _core.bitwise(name, other, self) if swapped else _core.bitwise(name, self, other)

    return apply


def _divide(a, b):
    """a / b: true division of floats; integers refuse, as their division has two meanings."""
    dtypes = [str(getattr(x, "dtype", type(x).__name__)) for x in (a, b)]
    is_integer = [name.startswith(("int", "uint")) for name in dtypes]
    if False not in is_integer:  # `all` is tir.all in this module
        raise _UserError(
            f"/ of integers ({dtypes[0]} and {dtypes[1]}) is ambiguous\nhelp: write // (floor) or tir.truncdiv(a, b)"
        )
    return _core.binary("Div", a, b)


@methods_for("PrimExpr")
class _Operators:
    __add__ = _operator("Add")
    __radd__ = _operator("Add", swapped=True)
    __sub__ = _operator("Sub")
    __rsub__ = _operator("Sub", swapped=True)
    __mul__ = _operator("Mul")
    __rmul__ = _operator("Mul", swapped=True)
    __floordiv__ = _operator("FloorDiv")
    __rfloordiv__ = _operator("FloorDiv", swapped=True)
    __mod__ = _operator("FloorMod")
    __rmod__ = _operator("FloorMod", swapped=True)
    __lt__ = _operator("LT")
    __le__ = _operator("LE")
    __gt__ = _operator("GT")
    __ge__ = _operator("GE")
    __eq__ = _operator("EQ")
    __ne__ = _operator("NE")

    def __truediv__(self, other):
        return _divide(self, other)

    def __rtruediv__(self, other):
        return _divide(other, self)

    def __neg__(self):
        return _core.negate(self)

    __and__, __rand__ = _bitwise("bitwise_and"), _bitwise("bitwise_and", swapped=True)
    __or__, __ror__ = _bitwise("bitwise_or"), _bitwise("bitwise_or", swapped=True)
    __xor__, __rxor__ = _bitwise("bitwise_xor"), _bitwise("bitwise_xor", swapped=True)
    __lshift__, __rlshift__ = _bitwise("shift_left"), _bitwise("shift_left", swapped=True)
    __rshift__, __rrshift__ = _bitwise("shift_right"), _bitwise("shift_right", swapped=True)

    def __invert__(self):
        return (
            _core.logical_not(self)
            if self.dtype == "bool"
            else _core.call_op(self.dtype, "bitwise_not", [self])
        )

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        kind = type(self).__name__
        if kind == "IntImm":
            return self.value != 0
        if kind in ("EQ", "NE"):
            same = self.a.same_as(self.b) or _core.structural_equal(self.a, self.b, False)
            return same if kind == "EQ" else not same
        raise _UserError(
            f"the value of {self} is known only when the program runs, so Python cannot branch on it\n"
            "help: use tir.all(...), tir.any(...), tir.if_then_else(...), or an if statement inside the script"
        )

    @property
    def dtype(self) -> str:
        """Type of the value, e.g. "float32"."""
        return _core.dtype_of(self)

    def astype(self, dtype: str):
        """This value converted to `dtype`."""
        return _core.cast(dtype, self)

    def equal(self, other):
        """The expression self == other."""
        return _core.binary("EQ", self, other)

    def __str__(self) -> str:
        return _to_script(self)

    def __repr__(self) -> str:
        return str(self)


for _method in ("astype", "equal"):
    setattr(_PrimExpr, _method, guard(f"tilewright.tir.PrimExpr.{_method}", getattr(_PrimExpr, _method)))
del _method


@methods_for("ir.IntImm")
class _IntImm:
    def __int__(self) -> int:
        return self.value

    def __index__(self) -> int:
        return self.value

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __str__(self) -> str:
        return str(self.value) if self.dtype == "int32" else _to_script(self)


@methods_for("ir.FloatImm")
class _FloatImm:
    def __float__(self) -> float:
        return self.value


@methods_for("ir.StringImm")
class _StringImm:
    def __str__(self) -> str:
        return self.value


def _range(index, length):
    """`index` of a dimension of extent `length` as a Range."""
    if not isinstance(index, slice):
        return Range(index, 1)
    start = 0 if index.start is None else index.start
    return Range(start, (length if index.stop is None else index.stop) - start)


@methods_for("tir.Buffer")
class _Buffer:
    def __getitem__(self, indices):
        """The element at `indices`; with slices the region, as T.reads takes it."""
        indices = indices if isinstance(indices, tuple) else (indices,)
        if True in [isinstance(index, slice) for index in indices]:
            return classes["tir.BufferRegion"](
                self, [_range(i, d) for i, d in zip(indices, self.shape, strict=True)]
            )
        return _core.load_buffer(self, list(indices))

    __iter__ = None  # its elements have no end that Python could find

    @property
    def scope(self) -> str:
        """The storage scope: "global", "shared", "local", ..."""
        annotation = self.data.type_annotation
        return annotation.storage_scope if annotation is not None and annotation.storage_scope else "global"


for _name in ("Stmt", "tir.Buffer", "tir.BufferRegion", "tir.IndexMap", "tir.IterVar"):

    def _script(self, **options) -> str:
        """The node as TVMScript."""
        return _to_script(self, **options)

    classes[_name].script = _script
    classes[_name].__str__ = classes[_name].__repr__ = _script


@methods_for("tir.IterVar")
class _AxisOperators:
    """An axis of a block or a tensor expression; in an expression it is its variable."""

    __add__, __radd__ = _operator("Add"), _operator("Add", swapped=True)
    __sub__, __rsub__ = _operator("Sub"), _operator("Sub", swapped=True)
    __mul__, __rmul__ = _operator("Mul"), _operator("Mul", swapped=True)
    __floordiv__, __rfloordiv__ = _operator("FloorDiv"), _operator("FloorDiv", swapped=True)
    __mod__, __rmod__ = _operator("FloorMod"), _operator("FloorMod", swapped=True)
    __lt__, __le__, __gt__, __ge__ = _operator("LT"), _operator("LE"), _operator("GT"), _operator("GE")

    def __neg__(self):
        return -self.var

    @property
    def dtype(self) -> str:
        """Type of the variable."""
        return self.var.dtype


def _var_new(cls, name="v", dtype="int32", span=None):
    if isinstance(dtype, classes["Type"]):
        if isinstance(dtype, classes["ir.PrimType"]):
            return _core.make_var(name, dtype.dtype)
        return _core.make_node("tir.Var", {"name_hint": name, "dtype": "handle", "type_annotation": dtype})
    return _core.make_var(name, dtype)


Var = classes["tir.Var"]
Var.__new__ = _var_new
Var.name = property(lambda self: self.name_hint, doc="for printing only")


def SizeVar(name="n", dtype="int32"):
    """A variable for an extent."""
    return _core.make_var(name, dtype)


def decl_buffer(shape, dtype="float32", name="buffer", scope="global"):
    """A new buffer with its own pointer.

    shape  ints or expressions, one per dimension
    dtype  element type; default float32
    """
    return _core.make_buffer(name, list(shape), dtype, scope)


def const(value, dtype: str | None = None):
    """`value` as a literal.

    value  a number of Python or numpy, or an expression
    dtype  of the literal; default: that of a number of numpy; of Python's numbers bool, int32 (int64 or uint64 where
           they are larger) or float32 (float64 where they are beyond its largest)
    Raises UserError if the value does not fit in dtype: 128 in int8, 2**31 in int32, 1e39 in float32.

    >>> tilewright.tir.const(2**31).dtype
    int64

    Source: numpy.org/doc/stable/reference/arrays.scalars.html
    """
    if not isinstance(value, PrimExpr) and hasattr(value, "item") and hasattr(value, "dtype"):
        dtype = str(value.dtype) if dtype is None else dtype
        value = value.item()
    if dtype is None:
        dtype = _dtype_of_number(value)
    return _core.const(value, dtype)


def _dtype_of_number(value) -> str:
    if isinstance(value, int) and value >= 2**63:
        return "uint64"
    return _core.dtype_of(value)


def min(a, b):
    """The smaller of a and b."""
    return _core.binary("Min", a, b)


def max(a, b):
    """The larger of a and b."""
    return _core.binary("Max", a, b)


def floordiv(a, b):
    """a // b, rounded down."""
    return _core.binary("FloorDiv", a, b)


def floormod(a, b):
    """a % b with the sign of b."""
    return _core.binary("FloorMod", a, b)


indexdiv, indexmod = floordiv, floormod


def truncdiv(a, b):
    """a / b rounded towards zero."""
    return _core.binary("Div", a, b)


def truncmod(a, b):
    """The remainder that belongs to truncdiv."""
    return _core.binary("Mod", a, b)


def ceildiv(a, b):
    """a / b rounded up."""
    return _core.binary("FloorDiv", a + b - 1, b)


def div(a, b):
    """a / b of floats, truncdiv of integers."""
    return _core.binary("Div", a, b)


def all(*conditions):
    """True if all conditions hold."""
    return _fold("And", conditions)


def any(*conditions):
    """True if at least one of the conditions holds."""
    return _fold("Or", conditions)


def _fold(kind, conditions):
    if not conditions:
        raise _UserError("all() and any() need at least one condition")
    result = conditions[0]
    for condition in conditions[1:]:
        result = _core.binary(kind, result, condition)
    return result


def if_then_else(condition, true_value, false_value):
    """true_value where condition holds, else false_value; only the chosen one is evaluated."""
    true_value, false_value = const_like(true_value, false_value), const_like(false_value, true_value)
    return _core.call_op(true_value.dtype, "if_then_else", [condition, true_value, false_value])


def const_like(value, other):
    """`value` as expression; a Python number takes the dtype of `other`."""
    if isinstance(value, _PrimExpr):
        return value
    return const(value, other.dtype if isinstance(other, _PrimExpr) else None)


def min_value(dtype: str):
    """The smallest finite value of dtype, e.g. -65504 of float16."""
    return _core.min_value(dtype)


def max_value(dtype: str):
    """The largest finite value of dtype."""
    return _core.max_value(dtype)


def infinity(dtype: str):
    """inf of a float dtype."""
    return _core.infinity(dtype)


def call_extern(dtype: str, name: str, *args):
    """A call of the C function `name`."""
    return _core.call_op(dtype, "call_extern", [name, *args])


def call_intrin(dtype: str, name: str, *args):
    """A call of the operator `name`, e.g. "tir.exp"."""
    return _core.call_op(dtype, name, list(args))


def call_packed(*args):
    """A call of a registered function: name, arguments."""
    return _core.call_op("int32", "call_packed", list(args))


def reinterpret(dtype: str, value):
    """The bits of value as dtype."""
    return _core.call_op(dtype, "reinterpret", [value])


def _math_function(name: str, num_args: int, elementwise: bool, doc: str):
    result_dtype = {"isnan": "bool", "isinf": "bool", "isfinite": "bool", "clz": "int32"}.get(name)

    def function(*args):
        if len(args) != num_args:
            raise TypeError(f"{name} takes {num_args} argument{'s' * (num_args != 1)}, not {len(args)}")
        first = next((x for x in args if isinstance(x, _PrimExpr)), const(args[0]))
        args = [x if isinstance(x, _PrimExpr) else const(x, first.dtype) for x in args]
        return _core.call_op(result_dtype or first.dtype, name, args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc[0].upper()}{doc[1:]}, as an expression of the argument's dtype."
    return function


for _op_name, _num_args, _elementwise, _doc in _core.builtin_ops():
    if (_elementwise or _op_name in ("isnan", "isinf", "isfinite", "clz")) and _op_name not in globals():
        globals()[_op_name] = _math_function(_op_name, _num_args, _elementwise, _doc)


Var.__new__ = guard("tilewright.tir.Var", _var_new)
guard_module(
    __name__,
    globals(),
    [
        name
        for name in list(globals())
        if not name.startswith("_") and name not in ("guard", "guard_module", "methods_for")
    ],
)
