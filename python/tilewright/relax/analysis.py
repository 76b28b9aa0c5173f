"""Questions about graphs: variables, functions called, bindings."""

from .. import _core
from .._guard import guard_module
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.module import IRModule, unwrapped
from ..tir import post_order_visit as visit_nodes
from .block_builder import BlockBuilder
from .expr_functor import PyExprVisitor

_TIR_VAR = classes["tir.Var"]


class _Variables(PyExprVisitor):
    def __init__(self):
        self.used: dict = {}  # id of a node -> the node
        self.defined: dict = {}

    def visit_var_(self, var) -> None:
        self.used.setdefault(id(var), var)

    visit_dataflow_var_ = visit_var_

    def visit_var_def_(self, var) -> None:
        self.defined.setdefault(id(var), var)

    visit_dataflow_var_def_ = visit_var_def_


def _variables(expr) -> _Variables:
    variables = _Variables()
    variables.visit_expr(expr)
    return variables


def all_vars(expr) -> list:
    """The graph variables that `expr` uses or defines, in order of appearance."""
    variables = _variables(expr)
    return list((variables.defined | variables.used).values())


def bound_vars(expr) -> list:
    """The graph variables that `expr` defines: parameters and bindings."""
    return list(_variables(expr).defined.values())


def free_vars(expr) -> list:
    """The graph variables that `expr` uses without defining them."""
    variables = _variables(expr)
    return [var for key, var in variables.used.items() if key not in variables.defined]


def post_order_visit(expr, visit) -> None:
    """Calls `visit` with every graph expression inside `expr`, parts before the whole."""

    class Visitor(PyExprVisitor):
        def visit_expr(self, inner) -> None:
            super().visit_expr(inner)
            visit(inner)

    Visitor().visit_expr(expr)


def all_global_vars(expr) -> list:
    """The global functions that `expr` names, each once."""
    found: dict = {}

    class Visitor(PyExprVisitor):
        def visit_global_var_(self, var) -> None:
            found.setdefault(var.name_hint, var)

    Visitor().visit_expr(expr)
    return list(found.values())


def get_var2val(func) -> dict:
    """{variable: what it is bound to} of a function."""
    values: dict = {}

    class Visitor(PyExprVisitor):
        def visit_binding(self, binding) -> None:
            super().visit_binding(binding)
            values[binding.var] = binding.value

    Visitor().visit_expr(func)
    return values


def name_to_binding(func) -> dict:
    """{name: [bindings of variables of that name]} of a function."""
    named: dict = {}

    class Visitor(PyExprVisitor):
        def visit_binding(self, binding) -> None:
            super().visit_binding(binding)
            named.setdefault(binding.var.name_hint, []).append(binding)

    Visitor().visit_expr(func)
    return named


def udchain(func) -> dict:
    """{variable: [variables whose values use it]} of a function or a dataflow block."""
    users: dict = {}

    class Visitor(PyExprVisitor):
        def visit_binding(self, binding) -> None:
            super().visit_binding(binding)
            users.setdefault(binding.var, [])
            for var in free_vars(binding.value):
                users.setdefault(var, []).append(binding.var)

    visitor = Visitor()
    (visitor.visit_binding_block if hasattr(func, "bindings") else visitor.visit_expr)(func)
    return users


def free_symbolic_vars(func) -> list:
    """The dimensions that the types of `func` use and its parameters do not define."""
    defined = {id(dim): dim for dim in defined_symbolic_vars(func)}  # alive: ids are those of living objects
    return [dim for dim in _dims_of(all_vars(func)) if id(dim) not in defined]


def defined_symbolic_vars(func) -> list:
    """The dimensions that the parameters of `func` define, in order."""
    return _dims_of(func.params)


def _dims_of(variables) -> list:
    found: dict = {}
    for var in variables:
        visit_nodes(
            var.type, lambda node: found.setdefault(id(node), node) if isinstance(node, _TIR_VAR) else None
        )
    return list(found.values())


def remove_all_unused(func):
    """`func` without bindings of dataflow blocks whose variables nothing uses and that have no effect."""
    return _core.relax_remove_unused(func)


def well_formed(program, check_struct_info: bool = True) -> bool:
    """True if the graph functions of a module, or one function, define each variable and dimension once and before its uses,
    have operands of the right types, and what they declare of results and side effects holds.

    compile refuses whatever is not, but undeclared side effects."""
    module = program if isinstance(program, IRModule) else IRModule({"main": program})
    builder = BlockBuilder(module)
    try:
        _core.relax_require_definitions(unwrapped(module))
        for var, func in module.functions.items():
            if isinstance(func, classes["relax.Function"]):
                normal = builder.normalize(func)
                _core.relax_require_result(func, var.name_hint, normal.body.type)
                _core.relax_require_purity(func, var.name_hint, module)
    except UserError:
        return False
    return True


__all__ = [
    "all_global_vars",
    "all_vars",
    "bound_vars",
    "defined_symbolic_vars",
    "free_symbolic_vars",
    "free_vars",
    "get_var2val",
    "name_to_binding",
    "post_order_visit",
    "remove_all_unused",
    "udchain",
    "well_formed",
]
guard_module(__name__, globals(), __all__)
