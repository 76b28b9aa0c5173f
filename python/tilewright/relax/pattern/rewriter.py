"""Rewriting by example: a class of two functions, what to look for and what to put there, or a pattern and a function."""

from ... import _core, tir
from ...errors import Unsupported, UserError
from ...ir import structural_equal
from ...ir._nodes import classes
from ...ir.module import IRModule
from ..analysis import all_global_vars, all_vars, remove_all_unused
from .nodes import CallPattern, ExprPattern, Pattern, TupleGetItemPattern, TuplePattern, _plain
from .rewrite import _CallRewriter

_Call, _Function, _Var = classes["relax.Call"], classes["relax.Function"], classes["relax.Var"]
_Tuple, _TupleGetItem = classes["relax.Tuple"], classes["relax.TupleGetItem"]
_TensorType, _TupleType = classes["relax.TensorType"], classes["ir.TupleType"]
_VarBinding = classes["relax.VarBinding"]


class _ParamPattern(Pattern):
    """Matches what a parameter of this type may be, whatever its dimensions are called."""

    def __init__(self, type):
        self.type = type

    def _matches(self, expr, match):
        return _fits(self.type, expr.type, {})


class _SameCall(Pattern):
    """Matches calls with the attributes and given types of one."""

    def __init__(self, call, args: list):
        self.call, self.inner = call, CallPattern(ExprPattern(call.op), args, False)

    def _matches(self, expr, match):
        found = match.value_of(expr)
        if not isinstance(found, _Call) or not match.attempt(self.inner, found):
            return False
        attrs, wanted = dict(found.attrs), dict(self.call.attrs)
        return attrs.keys() == wanted.keys() and all(_is_same(attrs[key], wanted[key]) for key in wanted)


def _is_same(a, b) -> bool:
    return (
        structural_equal(a, b) if hasattr(a, "same_as") and hasattr(b, "same_as") else _plain(a) == _plain(b)
    )


def _dims_of(pattern, given, dims: dict) -> dict | None:
    """{dimension of the tensor type `pattern`: extent of `given`} added to `dims`; None if it does not fit."""
    if not isinstance(given, _TensorType) or given.shape is None:
        return None
    if pattern.dtype not in ("void", given.dtype):
        return None
    wanted, found = list(pattern.shape.values), list(given.shape.values)
    if len(wanted) != len(found):
        return None
    for want, extent in zip(wanted, found, strict=True):
        known = dims.setdefault(want, extent) if isinstance(want, tir.Var) else want
        if not structural_equal(known, extent):
            return None
    return dims


def _fits(wanted, given, dims: dict) -> bool:
    """True if a parameter of type `wanted` may be a value of type `given`; adds its dimensions to `dims`."""
    if isinstance(wanted, _TupleType):
        fields = given.elements if isinstance(given, _TupleType) else ()
        return len(fields) == len(wanted.elements) and all(
            _fits(want, field, dims) for want, field in zip(wanted.elements, fields, strict=True)
        )
    if not isinstance(wanted, _TensorType) or wanted.shape is None:
        return _core.relax_is_subtype(given, wanted) == 2
    return _dims_of(wanted, given, dims) is not None


def _bindings(func) -> list:
    bindings = [binding for block in func.body.blocks for binding in block.bindings]
    for binding in bindings:
        if not isinstance(binding, _VarBinding):
            raise Unsupported(f"a rewriter: {binding.var.name_hint} is a cast, which patterns have not")
    return bindings


def _pattern_of(expr, known: dict) -> Pattern:
    """The pattern of an expression whose variables are `known`: {variable: pattern}."""
    if isinstance(expr, _Var):
        return known[expr]
    if isinstance(expr, _Call):
        return _SameCall(expr, [_pattern_of(arg, known) for arg in expr.args])
    if isinstance(expr, _Tuple):
        return TuplePattern([_pattern_of(field, known) for field in expr.elements])
    if isinstance(expr, _TupleGetItem):
        return TupleGetItemPattern(_pattern_of(expr.tuple, known), expr.index)
    return ExprPattern(expr)


def _with_values(expr, values: dict, dims: dict):
    """The expression with values for variables and extents for dimensions."""
    if isinstance(expr, _Var):
        return values[expr]
    if isinstance(expr, _Call):
        args = [_with_values(arg, values, dims) for arg in expr.args]
        types = [tir.substitute(type, dims) for type in expr.type_args]
        return _Call(op=expr.op, args=args, attrs=expr.attrs, type_args=types)
    if isinstance(expr, _Tuple):
        return _Tuple([_with_values(field, values, dims) for field in expr.elements])
    if isinstance(expr, _TupleGetItem):
        return _TupleGetItem(tuple=_with_values(expr.tuple, values, dims), index=expr.index)
    return tir.substitute(expr, dims) if dims else expr


class _Example(_CallRewriter):
    """Puts the bindings of `replacement` where those of `pattern` are found; the parameters correspond."""

    def __init__(self, pattern, replacement):
        self.params = [_ParamPattern(param.type) for param in pattern.params]
        known = dict(zip(pattern.params, self.params, strict=True))
        for binding in _bindings(pattern):
            known[binding.var] = _pattern_of(binding.value, known)
        self.example, self.replacement = pattern, replacement
        super().__init__(_pattern_of(pattern.body.body, known), self._replace)

    def _replace(self, call, found: dict):
        dims: dict = {}
        theirs: dict = {}
        for mine, other, each in zip(self.example.params, self.replacement.params, self.params, strict=True):
            given = found[each].type
            if not (_fits(mine.type, given, dims) and _fits(other.type, given, theirs)):
                return call
        values = {
            param: found[each] for param, each in zip(self.replacement.params, self.params, strict=True)
        }
        result = self.replacement.body.body
        for binding in _bindings(self.replacement):
            value = _with_values(binding.value, values, theirs)
            if binding.var.same_as(result):
                return value
            values[binding.var] = value if isinstance(value, _Var) else self.builder_.emit(value)
        return _with_values(result, values, theirs)


def _check_values(func) -> None:
    """Raises Unsupported for an expression with variables that _with_values does not go into."""

    def check(name: str, expr) -> None:
        if isinstance(expr, _TupleGetItem):
            check(name, expr.tuple)
        elif isinstance(expr, (_Call, _Tuple)):
            for part in expr.args if isinstance(expr, _Call) else expr.elements:
                check(name, part)
        elif not isinstance(expr, _Var) and all_vars(expr):
            raise Unsupported(
                f"a rewriter: {name} is an expression {type(expr).__name__}, which patterns have not"
                "\nhelp: use calls, tuples and their elements"
            )

    for binding in _bindings(func):
        check(binding.var.name_hint, binding.value)
    check("the result", func.body.body)


def _check_result(pattern, values: dict) -> None:
    """Raises if the result of the pattern is not that of a call; values: {variable: what it is bound to}."""
    result = pattern.body.body
    while isinstance(result, _Var) and result in values:
        result = values[result]
    if isinstance(result, (_Tuple, _TupleGetItem)):
        raise Unsupported(
            "a rewriter: pattern gives no result of one call\nhelp: write a rewriter for each result"
        )
    if not isinstance(result, _Call):
        what = f"its parameter {result.name_hint}" if isinstance(result, _Var) else str(result)
        raise UserError(
            f"a rewriter: pattern gives {what}, which is not the result of a call"
            "\nhelp: return the result of the call to look for"
        )


def _check_params(pattern, replacement, values: dict) -> None:
    """Raises UserError if the pattern does not use a parameter, or one of the replacement can never be the same value."""
    used: dict = {}
    pending = [pattern.body.body]
    while pending:
        for var in all_vars(pending.pop()):
            if var not in used:
                used[var] = None
                pending += [values[var]] if var in values else []
    for mine, other in zip(pattern.params, replacement.params, strict=True):
        if mine not in used:
            raise UserError(
                f"a rewriter: the result of pattern does not use its parameter {mine.name_hint}"
                "\nhelp: leave it out of pattern and replacement"
            )
        if _core.relax_is_subtype(mine.type, other.type) == 0:
            raise UserError(
                f"a rewriter: parameter {mine.name_hint} of pattern is {mine.type}, "
                f"but {other.name_hint} of replacement is {other.type}"
                "\nhelp: give both the same type"
            )


class PatternMatchingRewriter:
    """Replaces what it looks for in a function, or in all functions of a module: rewriter(program) gives the changed one.

    first | second does what first does, then what second does.
    """

    def __init__(self, rewrite, helpers: dict | None = None):
        self._rewrite = rewrite  # of a function
        self._helpers = helpers or {}  # {name: function} that replacements may call

    @staticmethod
    def from_pattern(pattern: Pattern, func) -> "PatternMatchingRewriter":
        """A rewriter of calls that `pattern` matches: func(call, {pattern: expression}) gives the replacement; None: none."""

        def rewriter(call, found):
            result = func(call, found)
            return call if result is None else result

        return PatternMatchingRewriter(lambda each: _CallRewriter(pattern, rewriter).visit_expr(each))

    @staticmethod
    def from_module(module: IRModule) -> "PatternMatchingRewriter":
        """A rewriter that replaces what the function `pattern` of the module computes by `replacement`, which has the same parameters.

        It may call other functions of its module, which the module that is rewritten gets.
        Raises  UserError if the module has no such functions, if pattern gives a parameter or does not use one, or if
                parameters of the two cannot be the same value; Unsupported if they give several results or have an `if`
        """
        functions = {var.name_hint: func for var, func in module.functions.items()}
        for name in ("pattern", "replacement"):
            if not isinstance(functions.get(name), _Function):
                raise UserError(
                    f"a rewriter has two graph functions, pattern and replacement: {name} is not there"
                )
        pattern, replacement = functions["pattern"], functions["replacement"]
        if len(pattern.params) != len(replacement.params):
            raise UserError(
                f"a rewriter: pattern and replacement have {len(pattern.params)} and {len(replacement.params)} parameters"
            )
        _check_values(pattern)
        _check_values(replacement)
        values = {binding.var: binding.value for binding in _bindings(pattern)}
        _check_result(pattern, values)
        _check_params(pattern, replacement, values)
        helpers = {name: func for name, func in functions.items() if name not in ("pattern", "replacement")}
        return PatternMatchingRewriter(lambda each: _Example(pattern, replacement).visit_expr(each), helpers)

    def __call__(self, program):
        if not isinstance(program, IRModule):
            changed = self._changed(program)
            if missing := [] if changed is program else self._called(changed):
                raise UserError(
                    f"a rewriter: what it puts there calls {missing[0]}, and one function has no place for it"
                    "\nhelp: rewrite the module"
                )
            return changed
        result = program
        for var, func in program.functions.items():
            changed = self._changed(func) if isinstance(func, _Function) else func
            if not changed.same_as(func):
                result = program.clone() if result is program else result
                result.update_func(var, changed)
                self._add_helpers(result, changed)
        return result

    def _changed(self, func):
        changed = self._rewrite(func)
        return func if changed.same_as(func) else remove_all_unused(changed)

    def _called(self, func) -> list[str]:
        """The names of helpers that a function calls."""
        return [var.name_hint for var in all_global_vars(func) if var.name_hint in self._helpers]

    def _add_helpers(self, module: IRModule, func) -> None:
        """Adds what `func` calls to the module."""
        for name in self._called(func):
            helper = self._helpers[name]
            if name not in module:
                module[name] = helper
                if isinstance(helper, _Function):
                    self._add_helpers(module, helper)
            elif not structural_equal(module[name], helper):
                raise UserError(
                    f"a rewriter: what it puts there calls {name}, but the module has another function {name}"
                    "\nhelp: give that of the rewriter another name"
                )

    def __or__(self, other) -> "PatternMatchingRewriter":
        helpers = {**self._helpers, **other._helpers}
        return PatternMatchingRewriter(lambda func: other._changed(self._changed(func)), helpers)
