"""Patterns of graph expressions: what an operator, its arguments and its result must be."""

from ...errors import UserError
from ...ir import structural_equal
from ...ir._nodes import classes
from ..analysis import get_var2val
from ._open import current_context, expect

_Call, _Constant, _Function = classes["relax.Call"], classes["relax.Constant"], classes["relax.Function"]
_DataflowVar, _ExternFunc, _Op = classes["relax.DataflowVar"], classes["relax.ExternFunc"], classes["ir.Op"]
_GlobalVar, _TensorType, _Var = classes["ir.GlobalVar"], classes["relax.TensorType"], classes["relax.Var"]
_ShapeExpr, _Tuple, _TupleGetItem = (
    classes["relax.ShapeExpr"],
    classes["relax.Tuple"],
    classes["relax.TupleGetItem"],
)


class Match:
    """One attempt: what patterns have matched so far, and what variables are bound to.

    lookup  a function variable -> value or None
    """

    def __init__(self, lookup):
        self.lookup = lookup
        self.found: dict = {}  # pattern -> expression

    def value_of(self, expr):
        """The value behind `expr`: of a variable what it is bound to, through other variables."""
        while isinstance(expr, _Var):
            value = self.lookup(expr)
            if value is None:
                return expr
            expr = value
        return expr

    def attempt(self, pattern, expr) -> bool:
        """True if `pattern` matches `expr`; a pattern that has matched before must match the same value."""
        known = self.found.get(pattern)
        if known is not None:
            return self.value_of(known).same_as(self.value_of(expr))
        before = dict(self.found)
        if pattern._matches(expr, self):
            self.found[pattern] = expr
            if all(constraint.holds(self.found) for constraint in pattern._constraints):
                return True
        self.found = before
        return False


class SameShapeConstraint:
    """Requires that what several patterns match are tensors of one shape, which is known."""

    def __init__(self, *args: "Pattern"):
        self.args = args
        for pattern in args:
            pattern._constraints = (*pattern._constraints, self)

    def holds(self, found: dict) -> bool:
        """True if the expressions of the patterns that have matched, {pattern: expression}, have one shape."""
        types = [found[pattern].type for pattern in self.args if pattern in found]
        shapes = [type.shape if isinstance(type, _TensorType) else None for type in types]
        return all(
            isinstance(shape, _ShapeExpr) and _same_extents(shape.values, shapes[0].values)
            for shape in shapes
        )


class Pattern:
    """A pattern that expressions match or do not; see is_op, wildcard and the other functions of this module.

    p | q matches what either matches, p & q what both do, ~p what p does not; p(a, b) matches calls of what p matches.
    """

    _constraints: tuple = ()

    def _matches(self, expr, match: Match) -> bool:
        raise NotImplementedError

    def match(self, expr, var2val: dict | None = None) -> bool:
        """True if this pattern matches `expr`.

        var2val  {variable: value} to look through variables, as tilewright.relax.analysis.get_var2val gives; default none
        """
        return self.extract_matched_expr(expr, var2val) is not None

    def extract_matched_expr(self, expr, var2val: dict | None = None) -> dict | None:
        """{pattern: the expression it matched} for this pattern and those inside of it; None if it does not match."""
        match = Match((var2val or {}).get)
        return match.found if match.attempt(self, expr) else None

    def __call__(self, *args, varg_default_wildcard: bool = False):
        """Matches calls of what this matches; with varg_default_wildcard further arguments may be anything.

        Inside of `with PatternContext() as ctx:` the call is one of what ctx looks for.
        """
        call = CallPattern(self, args, varg_default_wildcard)
        expect(call)
        return call

    def __getitem__(self, index: int):
        """Matches element `index` of what this matches."""
        return TupleGetItemPattern(self, index)

    __iter__ = None  # a pattern has any number of elements

    def __or__(self, other):
        return OrPattern(self, other)

    def __and__(self, other):
        return AndPattern(self, other)

    def __invert__(self):
        return NotPattern(self)

    def only_used_by(self, other, index: int = -1):
        """`p >> q`: only q uses what p matches, as its argument `index`; -1: any.  Gives q."""
        return current_context().add_use(self, other, only=True, index=index)

    def used_by(self, other, index: int = -1):
        """`p ^ q`: q uses what p matches, as its argument `index`; -1: any.  Gives q."""
        return current_context().add_use(self, other, only=False, index=index)

    def fork_to(self, *others) -> None:
        """Requires that each of the other patterns matches a user of what this matches."""
        for other in others:
            self.used_by(other)

    __rshift__, __xor__ = only_used_by, used_by

    def has_dtype(self, dtype: str):
        """Matches what this matches and is a tensor of `dtype`."""
        return DataTypePattern(self, dtype)

    def has_shape(self, shape):
        """Matches what this matches and is a tensor of `shape`: ints and expressions."""
        return ShapePattern(self, shape)

    def same_shape_as(self, *args: "Pattern") -> SameShapeConstraint:
        """Requires that what this and the other patterns match are tensors of one shape."""
        return SameShapeConstraint(self, *args)

    def has_attr(self, attrs: dict):
        """Matches what this matches and is a call or function with these attributes."""
        return AttrPattern(self, attrs)

    def has_type(self, type):
        """Matches what this matches and has structurally this type."""
        return TypePattern(self, type)

    def dup(self):
        """A pattern that matches the same, and may match another expression than this one."""
        import copy

        other = copy.copy(self)
        other._constraints = ()
        return other


def _same_extent(extent, wanted) -> bool:
    if isinstance(wanted, int):
        return getattr(extent, "value", None) == wanted
    return structural_equal(extent, wanted)


def _same_extents(extents, wanted) -> bool:
    return len(extents) == len(wanted) and all(
        _same_extent(a, b) for a, b in zip(extents, wanted, strict=True)
    )


def _values_of(func):
    """A function variable -> value of what the body of `func` binds."""
    return get_var2val(func).get


class WildcardPattern(Pattern):
    """Matches everything."""

    def _matches(self, expr, match):
        return True


class KindPattern(Pattern):
    """Matches expressions of a class, perhaps of a certain name."""

    kind: type = None
    attribute = "name_hint"
    looks_through = True  # variables, to what they are bound to

    def __init__(self, name: str = ""):
        self.name = name

    def _matches(self, expr, match):
        value = match.value_of(expr) if self.looks_through else expr
        return isinstance(value, self.kind) and (not self.name or getattr(value, self.attribute) == self.name)


class VarPattern(KindPattern):
    """Matches variables."""

    kind, looks_through = _Var, False


class DataflowVarPattern(VarPattern):
    """Matches variables of dataflow blocks that are not seen outside."""

    kind = _DataflowVar


class GlobalVarPattern(KindPattern):
    """Matches functions of the module."""

    kind = _GlobalVar


class ExternFuncPattern(KindPattern):
    """Matches functions of the registry."""

    kind, attribute = _ExternFunc, "global_symbol"


class ConstantPattern(KindPattern):
    """Matches constants."""

    kind = _Constant


class ExprPattern(Pattern):
    """Matches one expression, or one that is structurally equal to it."""

    def __init__(self, expr):
        self.expr = expr

    def _matches(self, expr, match):
        value = match.value_of(expr)
        if isinstance(self.expr, (_Op, _GlobalVar)):
            return self.expr == value
        return value.same_as(self.expr) or expr.same_as(self.expr) or structural_equal(value, self.expr)


class PrimArrPattern(Pattern):
    """Matches shapes whose extents are given: ints and expressions."""

    def __init__(self, extents):
        self.extents = list(extents)

    def _matches(self, expr, match):
        value = match.value_of(expr)
        return isinstance(value, _ShapeExpr) and _same_extents(value.values, self.extents)


class FunctionPattern(Pattern):
    """Matches functions by patterns of their parameters and of their result."""

    def __init__(self, params, body: Pattern):
        self.params, self.body = list(params), body

    def _matches(self, expr, match):
        func = match.value_of(expr)
        if not isinstance(func, _Function) or len(func.params) != len(self.params):
            return False
        inside = Match(_values_of(func))
        inside.found = match.found
        fits = all(
            inside.attempt(pattern, param) for pattern, param in zip(self.params, func.params, strict=True)
        )
        return fits and inside.attempt(self.body, getattr(func.body, "body", func.body))


class CallPattern(Pattern):
    """Matches calls; arguments are patterns, in order."""

    def __init__(self, op: Pattern, args, has_more: bool):
        for number, arg in enumerate(args):
            if not isinstance(arg, Pattern):
                raise UserError(
                    f"a pattern of a call: argument {number} is a Python {type(arg).__name__}, expected a pattern"
                    "\nhelp: is_expr(value) matches one value"
                )
        self.op, self.args, self.has_more = op, list(args), has_more

    def _matches(self, expr, match):
        call = match.value_of(expr)
        if not isinstance(call, _Call) or not match.attempt(self.op, call.op):
            return False
        fits = len(call.args) >= len(self.args) if self.has_more else len(call.args) == len(self.args)
        return fits and all(
            match.attempt(pattern, arg) for pattern, arg in zip(self.args, call.args, strict=False)
        )


class TuplePattern(Pattern):
    """Matches tuples; elements are patterns, None for any number of any."""

    unordered = False

    def __init__(self, fields):
        self.fields = None if fields is None else list(fields)

    def _matches(self, expr, match):
        value = match.value_of(expr)
        if not isinstance(value, _Tuple):
            return False
        if self.fields is None:
            return True
        if len(value.elements) != len(self.fields):
            return False
        if not self.unordered:
            return all(match.attempt(p, e) for p, e in zip(self.fields, value.elements, strict=True))
        return self._assign(list(self.fields), list(value.elements), match)

    def _assign(self, patterns: list, elements: list, match: Match) -> bool:
        if not patterns:
            return True
        for number, element in enumerate(elements):
            before = dict(match.found)
            rest = elements[:number] + elements[number + 1 :]
            if match.attempt(patterns[0], element) and self._assign(patterns[1:], rest, match):
                return True
            match.found = before
        return False


class UnorderedTuplePattern(TuplePattern):
    """Matches tuples whose elements match in any order."""

    unordered = True


class TupleGetItemPattern(Pattern):
    """Matches elements of tuples."""

    def __init__(self, source: Pattern, index: int | None):
        self.source, self.index = source, index

    def _matches(self, expr, match):
        value = match.value_of(expr)
        if not isinstance(value, _TupleGetItem) or (self.index is not None and value.index != self.index):
            return False
        return match.attempt(self.source, value.tuple)


class OrPattern(Pattern):
    """Matches what one of two patterns matches; the left one first."""

    def __init__(self, left: Pattern, right: Pattern):
        self.left, self.right = left, right

    def _matches(self, expr, match):
        return match.attempt(self.left, expr) or match.attempt(self.right, expr)


class AndPattern(OrPattern):
    """Matches what both of two patterns match."""

    def _matches(self, expr, match):
        return match.attempt(self.left, expr) and match.attempt(self.right, expr)


class NotPattern(Pattern):
    """Matches what a pattern does not match."""

    def __init__(self, inner: Pattern):
        self.inner = inner

    def _matches(self, expr, match):
        return not Match(match.lookup).attempt(self.inner, expr)


class DataTypePattern(Pattern):
    """Matches what a pattern matches if it is a tensor of a dtype."""

    def __init__(self, inner: Pattern, dtype: str):
        self.inner, self.dtype = inner, dtype

    def _matches(self, expr, match):
        is_tensor = isinstance(expr.type, _TensorType) and str(expr.type.dtype) == self.dtype
        return is_tensor and match.attempt(self.inner, expr)


class ShapePattern(Pattern):
    """Matches what a pattern matches if it is a tensor of a shape."""

    def __init__(self, inner: Pattern, shape):
        self.inner, self.shape = inner, list(shape)

    def _matches(self, expr, match):
        shape = expr.type.shape if isinstance(expr.type, _TensorType) else None
        fits = isinstance(shape, _ShapeExpr) and _same_extents(shape.values, self.shape)
        return fits and match.attempt(self.inner, expr)


class TypePattern(Pattern):
    """Matches what a pattern matches if it has one type."""

    def __init__(self, inner: Pattern, type):
        self.inner, self.type = inner, type

    def _matches(self, expr, match):
        fits = expr.type is not None and structural_equal(expr.type, self.type)
        return fits and match.attempt(self.inner, expr)


class AttrPattern(Pattern):
    """Matches what a pattern matches if it is a call or function that has attributes."""

    def __init__(self, inner: Pattern, attrs: dict):
        self.inner, self.attrs = inner, attrs

    def _matches(self, expr, match):
        value = match.value_of(expr)
        if not isinstance(value, (_Call, _Function)):
            return False
        fits = all(
            key in value.attrs and _plain(value.attrs[key]) == wanted for key, wanted in self.attrs.items()
        )
        return fits and match.attempt(self.inner, expr)


def _plain(value):
    return list(value) if isinstance(value, (list, tuple)) else value


def is_op(name: str) -> Pattern:
    """Matches the operator called `name` ("relax.add"); is_op(...)(a, b) its calls."""
    return ExprPattern(_Op(name))


def wildcard() -> Pattern:
    """Matches everything."""
    return WildcardPattern()


def is_expr(expr) -> Pattern:
    """Matches `expr`, or what is structurally equal to it."""
    return ExprPattern(expr)


def is_const() -> Pattern:
    """Matches constants."""
    return ConstantPattern()


def is_var(name: str = "") -> Pattern:
    """Matches variables, perhaps only those called `name`."""
    return VarPattern(name)


def is_dfv(name: str = "") -> Pattern:
    """Matches variables of dataflow blocks that are not seen outside, perhaps only those called `name`."""
    return DataflowVarPattern(name)


def is_gv(name: str = "") -> Pattern:
    """Matches functions of the module by name, perhaps only `name`."""
    return GlobalVarPattern(name)


def is_extern(name: str = "") -> Pattern:
    """Matches functions of the registry, perhaps only `name`."""
    return ExternFuncPattern(name)


def is_tuple(elements=None, unordered: bool = False) -> Pattern:
    """Matches tuples whose elements match, in any order if `unordered`; None: any elements."""
    return (UnorderedTuplePattern if unordered else TuplePattern)(elements)


def is_tuple_get_item(source: Pattern, index: int | None = None) -> Pattern:
    """Matches element `index` (None: any) of what `source` matches."""
    return TupleGetItemPattern(source, index)


def is_call_tir(name: str, args=None) -> Pattern:
    """Matches calls of the loop program `name` with R.call_tir; args: a list of patterns, None for any."""
    return is_op("relax.call_tir")(is_gv(name), is_tuple(args), varg_default_wildcard=True)


def is_call_dps_packed(name: str, args=None) -> Pattern:
    """Matches calls of the registered function `name` with R.call_dps_packed; args: a list of patterns, None for any."""
    return is_op("relax.call_dps_packed")(is_extern(name), is_tuple(args), varg_default_wildcard=True)


def is_shape(extents) -> Pattern:
    """Matches shapes with these extents: ints and expressions."""
    return PrimArrPattern(extents)


def is_call_packed(name: str, args=None) -> Pattern:
    """Matches calls of the registered function `name`; args: a list of patterns, None for any."""
    return is_extern(name)(*(args or []), varg_default_wildcard=args is None)


def has_dtype(dtype: str, pattern: Pattern | None = None) -> Pattern:
    """Matches tensors of `dtype`."""
    return (pattern or wildcard()).has_dtype(dtype)


def has_shape(shape, pattern: Pattern | None = None) -> Pattern:
    """Matches tensors of `shape`."""
    return (pattern or wildcard()).has_shape(shape)


def has_attr(attrs: dict, pattern: Pattern | None = None) -> Pattern:
    """Matches calls with these attributes."""
    return (pattern or wildcard()).has_attr(attrs)


def make_fused_bias_activation_pattern(
    op_name: str, with_bias: bool = False, activation: str | None = None, allow_reshape: bool = False
):
    """Matches activation(op(wildcard, wildcard) + wildcard); bias and activation as asked.

    allow_reshape  the bias is one that is reshaped; default False
    """
    pattern = is_op(op_name)(wildcard(), wildcard())
    if with_bias:
        bias = is_op("relax.reshape")(wildcard(), wildcard()) if allow_reshape else wildcard()
        pattern = is_op("relax.add")(pattern, bias)
    return is_op(activation)(pattern) if activation else pattern
