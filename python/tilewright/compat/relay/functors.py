"""relay.ExprVisitor and ExprMutator: a method per kind of expression, over expressions that have no names for their parts."""

from tilewright import ir
from tilewright.errors import Unsupported
from tilewright.ir._nodes import classes

from .expressions import Function, TupleWrapper, parts_of, typed, with_parts

_METHODS = {
    "relax.Function": "visit_function",
    "relax.Call": "visit_call",
    "relax.Var": "visit_var",
    "relax.DataflowVar": "visit_var",
    "relax.Constant": "visit_constant",
    "relax.Tuple": "visit_tuple",
    "relax.TupleGetItem": "visit_tuple_getitem",
}
_METHOD_OF = {classes[name]: method for name, method in _METHODS.items()}
_METHOD_OF[ir.GlobalVar] = "visit_global_var"
_Tuple = classes["relax.Tuple"]
#: arguments of calls that were attributes in relay
_ATTRIBUTES = tuple(
    classes[f"relax.{name}"] for name in ("ShapeExpr", "PrimValue", "StringValue", "DataTypeValue")
)
_VARS = (classes["relax.Var"], classes["relax.DataflowVar"])
_Op, _Seq = ir.Op, classes["relax.SeqExpr"]


def body_of(func):
    """What a function computes as one expression: names of parts are replaced by what they stand for."""
    body, values = func.body, {}
    if not isinstance(body, _Seq):
        return body
    for block in body.blocks:
        for binding in block.bindings:
            if not isinstance(binding, classes["relax.VarBinding"]):
                raise Unsupported(
                    f"relay: a {type(binding).__name__} of a function is no expression of relay"
                )
            values[binding.var] = _replaced(binding.value, values)
    return _replaced(body.body, values)


def _replaced(expr, values: dict):
    """`expr` of the values that variables stand for."""
    if type(expr) in _VARS:
        return values.get(expr, expr)
    return with_parts(expr, [_replaced(part, values) for part in parts_of(expr)])


class ExprFunctor:
    """Calls the method of each expression's kind, once for an expression that is used several times."""

    def __init__(self):
        self.memo_map = {}

    def visit(self, expr):
        """What the method of the expression's kind gives."""
        if isinstance(expr, TupleWrapper):
            expr = expr.astuple()
        memo = self.__dict__.setdefault("memo_map", {})
        if expr not in memo:
            method = "visit_op" if isinstance(expr, _Op) else _METHOD_OF.get(type(expr))
            if method is None:
                raise Unsupported(f"relay: a {type(expr).__name__} is no expression of relay")
            memo[expr] = getattr(self, method)(expr)
        return memo[expr]


class ExprVisitor(ExprFunctor):
    """Visits every part; a method that goes on calls super().visit_...(expr)."""

    def visit_function(self, fn) -> None:
        """Visits the parameters and the body."""
        for each in (*fn.params, body_of(fn)):
            self.visit(each)

    def visit_call(self, call) -> None:
        """Visits what is called, and the arguments."""
        for each in (call.op, *call.args):
            if not isinstance(each, _ATTRIBUTES):
                self.visit(each)

    def visit_tuple(self, tup) -> None:
        """Visits the elements."""
        for each in tup.elements:
            self.visit(each)

    def visit_tuple_getitem(self, item) -> None:
        """Visits the tuple."""
        self.visit(item.tuple)

    def visit_var(self, var) -> None:
        """A variable has no parts."""

    def visit_constant(self, const) -> None:
        """A constant has no parts."""

    def visit_global_var(self, gvar) -> None:
        """The name of a function has no parts."""

    def visit_op(self, op) -> None:
        """An operator has no parts."""


class ExprMutator(ExprFunctor):
    """Rewrites an expression: each method gives what takes the place of its expression."""

    def visit_function(self, fn):
        """The function of the parameters and the body as they are rewritten."""
        attrs = dict(fn.attrs) if fn.attrs else None
        return Function([self.visit(each) for each in fn.params], self.visit(body_of(fn)), attrs=attrs)

    def visit_call(self, call):
        """The call of what is called, with its arguments, as they are rewritten."""
        args = [arg if isinstance(arg, _ATTRIBUTES) else typed(self.visit(arg)) for arg in call.args]
        op = self.visit(call.op)
        if op.same_as(call.op) and all(map(_is_same, args, call.args)):
            return call
        return typed(call.replace(op=op, args=args, type=None))

    def visit_tuple(self, tup):
        """The tuple of the elements as they are rewritten."""
        elements = [typed(self.visit(each)) for each in tup.elements]
        return tup if all(map(_is_same, elements, tup.elements)) else typed(_Tuple(elements))

    def visit_tuple_getitem(self, item):
        """The same element of the tuple as it is rewritten."""
        value = typed(self.visit(item.tuple))
        return item if _is_same(value, item.tuple) else typed(item.replace(tuple=value, type=None))

    def visit_var(self, var):
        """The variable itself."""
        return var

    def visit_constant(self, const):
        """The constant itself."""
        return const

    def visit_global_var(self, gvar):
        """The name itself."""
        return gvar

    def visit_op(self, op):
        """The operator itself."""
        return op


def _is_same(a, b) -> bool:
    return a.same_as(b)


class _PostOrder(ExprVisitor):
    def __init__(self, fvisit):
        super().__init__()
        self.fvisit = fvisit

    def visit(self, expr):
        """Visits the parts first, and each expression once."""
        if expr not in self.memo_map:
            super().visit(expr)
            self.fvisit(expr)


def post_order_visit(expr, fvisit) -> None:
    """Calls fvisit for each expression in `expr`, parts first, each once."""
    _PostOrder(fvisit).visit(expr.astuple() if isinstance(expr, TupleWrapper) else expr)


NAMES = {"ExprFunctor": ExprFunctor, "ExprVisitor": ExprVisitor, "ExprMutator": ExprMutator}
ANALYSIS = {"post_order_visit": post_order_visit}
