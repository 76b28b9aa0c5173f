"""tvm.tir's PyStmtExprVisitor and PyStmtExprMutator: a method per kind of node, visit_for_(op), visit_add_(op), ..."""

import re

from tilewright import _core, tir
from tilewright.ir._nodes import classes

from .tir_functions import used_parts, with_parts

# statements and expressions, as their methods are called
_KINDS = [
    cls
    for name, cls in classes.items()
    if name.startswith("tir.") and issubclass(cls, (tir.Stmt, tir.PrimExpr))
] + [tir.IntImm, tir.FloatImm, tir.StringImm]


def _method_name(cls: type) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__)
    return f"visit_{words.lower()}_"


_METHODS = {cls: _method_name(cls) for cls in _KINDS}
#: names of 2026 for the same nodes
_LATER = {"visit_block_": "visit_sblock_", "visit_block_realize_": "visit_sblock_realize_"}


class _Functor:
    """Calls the method of each node's kind."""

    def visit_stmt(self, stmt):
        """Visits a statement."""
        return self._dispatch(stmt)

    def visit_expr(self, expr):
        """Visits an expression."""
        return self._dispatch(expr)

    def _dispatch(self, node):
        name = _METHODS.get(type(node))
        if name is None:
            return self._default(node)
        later = _LATER.get(name)
        if later is not None and hasattr(type(self), later):
            name = later
        return getattr(self, name)(node)

    def _visit(self, node):
        """Visits what stands below a node; what is neither statement nor expression, a region say, has no method."""
        if isinstance(node, tir.Stmt):
            return self.visit_stmt(node)
        if isinstance(node, (tir.PrimExpr, tir.StringImm)):
            return self.visit_expr(node)
        return self._default(node) if isinstance(node, _core.Object) else node


def _method(name: str):
    def visit(self, op):
        return self._default(op)

    visit.__name__ = visit.__qualname__ = name
    visit.__doc__ = "Goes on below `op`."
    return visit


for _name in _METHODS.values():
    setattr(_Functor, _name, _method(_name))


class PyStmtExprVisitor(_Functor):
    """Visits all statements and expressions; a method that goes on calls super().visit_..._(op)."""

    def _default(self, node) -> None:
        for part in used_parts(node, with_axes=True):
            for item in part if isinstance(part, (list, tuple)) else [part]:
                self._visit(item)


class PyStmtExprMutator(_Functor):
    """Rewrites statements and expressions: each method gives what takes the place of `op`."""

    def _default(self, node):
        return with_parts(node, self._visit, with_axes=True)


def visitor(visitor_cls=None):
    """The class itself: methods are found by name."""
    return visitor_cls


NAMES = {"PyStmtExprVisitor": PyStmtExprVisitor, "PyStmtExprMutator": PyStmtExprMutator}
FUNCTOR_NAMES = {**NAMES, "visitor": visitor, "mutator": visitor}
