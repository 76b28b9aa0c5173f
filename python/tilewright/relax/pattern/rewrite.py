"""Changing graphs where patterns match."""

from ...errors import UserError
from ...ir._nodes import classes
from ..analysis import post_order_visit, remove_all_unused
from ..expr_functor import PyExprMutator
from .context import PatternContext
from .nodes import Match, Pattern

_Call, _DataflowBlock, _Expr = classes["relax.Call"], classes["relax.DataflowBlock"], classes["RelaxExpr"]


class _CallRewriter(PyExprMutator):
    def __init__(self, pattern: Pattern, rewriter):
        super().__init__()
        self.pattern, self.rewriter = pattern, rewriter

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if not isinstance(call, _Call):
            return call
        match = Match(self.lookup_binding)
        if not match.attempt(self.pattern, call):
            return call
        result = self.rewriter(call, match.found)
        if not isinstance(result, _Expr):
            raise UserError(
                f"rewrite_call: the rewriter gave a Python {type(result).__name__}, expected an expression"
            )
        return result


def rewrite_call(pattern: Pattern, rewriter, func):
    """`func` with calls replaced that `pattern` matches; bindings that nothing uses afterwards are removed.

    rewriter  a function (call, {pattern: what it matched}) -> expression; giving back `call` leaves it
    Raises    UserError if the rewriter gives no expression, or one whose type does not fit
    >>> from tilewright.relax.pattern import is_op, rewrite_call, wildcard
    >>> x = wildcard()
    >>> doubled = is_op("relax.add")(x, x)
    >>> func = rewrite_call(doubled, lambda call, found: relax.op.multiply(found[x], relax.const(2.0)), mod["main"])
    """
    changed = _CallRewriter(pattern, rewriter).visit_expr(func)
    return func if changed.same_as(func) else remove_all_unused(changed)


def _calls_in_several(values) -> list:
    """The calls that are inside of more than one of the values."""
    counts: dict = {}
    for value in values:
        found: dict = {}
        post_order_visit(value, lambda expr, found=found: found.setdefault(expr))
        for expr in found:
            counts[expr] = counts.get(expr, 0) + 1
    return [expr for expr, count in counts.items() if count > 1 and isinstance(expr, _Call)]


class _Replacer(PyExprMutator):
    """Puts other values for variables, in the first dataflow block where the context matches."""

    def __init__(self, context: PatternContext, rewriter):
        super().__init__()
        self.context, self.rewriter, self.count = context, rewriter, 0
        self.replaced: dict = {}  # id of a variable -> its new value
        self.shared: dict = {}  # call in several new values -> the variable that it is bound to, once it is

    def visit_dataflow_block_(self, block):
        found = self.context.match_dfb(block) if self.count == 0 else None
        if found is None:
            return super().visit_dataflow_block_(block)
        values = {binding.var: binding.value for binding in block.bindings}
        replaced = self.rewriter(found, values)
        self.count += bool(replaced)
        self.replaced = {id(var): value for var, value in replaced.items()}
        self.shared = dict.fromkeys(_calls_in_several(replaced.values()))
        result = super().visit_dataflow_block_(block)
        self.replaced, self.shared = {}, {}
        return result

    def visit_expr(self, expr):
        if not isinstance(expr, _Call) or expr not in self.shared:
            return super().visit_expr(expr)
        if self.shared[expr] is None:
            self.shared[expr] = self.builder_.emit(super().visit_expr(expr))
        return self.shared[expr]

    def visit_var_binding_(self, binding):
        value = self.replaced.get(id(binding.var))
        return super().visit_var_binding_(binding if value is None else binding.replace(value=value))


def rewrite_bindings(context: PatternContext, rewriter, func):
    """`func` with values of dataflow blocks replaced where all patterns of `context` match, until they match no more.

    rewriter  a function ({pattern: variable}, {variable: value}) -> {variable: new value}; an empty dictionary ends it
    Raises    UserError after 1000 rounds: the new values match again and again
    """
    for _ in range(1000):
        replacer = _Replacer(context, rewriter)
        changed = replacer.visit_expr(func)
        if replacer.count == 0 or changed.same_as(func):
            return func
        func = remove_all_unused(changed)
    raise UserError(
        "rewrite_bindings: the patterns still match after 1000 rounds"
        "\nhelp: give values that they do not match, or an empty dictionary"
    )
