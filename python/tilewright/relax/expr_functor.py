"""Reading and changing graphs from Python: a visitor, and a mutator that keeps graphs in A-normal form.

Both call a method per kind of expression, which subclasses override: visit_call_, visit_var_, visit_function_, ...
(the names of relax's Python interface, docs/graph-passes.md).
"""

import contextlib

from .. import _core
from .._guard import guard_class
from ..ir._nodes import classes
from .block_builder import BlockBuilder

_METHODS = {
    "ir.GlobalVar": "visit_global_var_",
    "ir.Op": "visit_op_",
    "relax.Call": "visit_call_",
    "relax.Constant": "visit_constant_",
    "relax.DataTypeValue": "visit_data_type_imm_",
    "relax.DataflowVar": "visit_dataflow_var_",
    "relax.ExternFunc": "visit_extern_func_",
    "relax.Function": "visit_function_",
    "relax.If": "visit_if_",
    "relax.PrimValue": "visit_prim_value_",
    "relax.SeqExpr": "visit_seq_expr_",
    "relax.ShapeExpr": "visit_shape_expr_",
    "relax.StringValue": "visit_string_imm_",
    "relax.Tuple": "visit_tuple_",
    "relax.TupleGetItem": "visit_tuple_getitem_",
    "relax.Var": "visit_var_",
}
_BY_CLASS = {classes[kind]: method for kind, method in _METHODS.items()}
_BindingBlock, _Tuple = classes["BindingBlock"], classes["relax.Tuple"]
_DataflowBlock, _MatchCast = classes["relax.DataflowBlock"], classes["relax.MatchCast"]
_Function, _SeqExpr, _VarBinding = (
    classes[f"relax.{name}"] for name in ("Function", "SeqExpr", "VarBinding")
)
_DataflowVar, _Var = classes["relax.DataflowVar"], classes["relax.Var"]


def _same(old: list, new: list) -> bool:
    return all(a is b or a.same_as(b) for a, b in zip(old, new, strict=True))


class _Functor:
    """Calls the method for the kind of an expression, a binding or a block."""

    def _dispatch(self, expr):
        method = _BY_CLASS.get(type(expr))
        if method is None:
            raise TypeError(f"a {type(expr).__name__} is no graph expression")
        return getattr(self, method)(expr)

    def visit_binding(self, binding):
        """Visits a binding: visit_match_cast_ or visit_var_binding_."""
        return (self.visit_match_cast_ if isinstance(binding, _MatchCast) else self.visit_var_binding_)(
            binding
        )

    def visit_binding_block(self, block):
        """Visits a block of bindings: visit_dataflow_block_ or visit_binding_block_."""
        is_dataflow = isinstance(block, _DataflowBlock)
        return (self.visit_dataflow_block_ if is_dataflow else self.visit_binding_block_)(block)

    def visit_var_def(self, var):
        """Visits a variable where it is defined: visit_dataflow_var_def_ or visit_var_def_."""
        is_inner = isinstance(var, _DataflowVar)
        return (self.visit_dataflow_var_def_ if is_inner else self.visit_var_def_)(var)


class PyExprVisitor(_Functor):
    """Reads a graph: each method visits what is inside of its expression, in the order in which it is computed.

    >>> class Calls(tilewright.relax.PyExprVisitor):
    ...     def __init__(self): self.names = []
    ...     def visit_call_(self, call):
    ...         super().visit_call_(call)
    ...         self.names.append(call.op.name)
    >>> calls = Calls(); calls.visit_expr(mod["main"]); calls.names
    """

    def __init__(self):
        """Nothing to set up; subclasses need not call it."""

    def visit_expr(self, expr) -> None:
        """Visits an expression by the method for its kind.

        Raises TypeError for what is no graph expression.
        """
        self._dispatch(expr)

    def visit_leaf_(self, expr) -> None:
        """Default of the methods for expressions without others inside: does nothing."""

    visit_global_var_ = visit_op_ = visit_constant_ = visit_data_type_imm_ = visit_leaf_
    visit_dataflow_var_ = visit_extern_func_ = visit_prim_value_ = visit_shape_expr_ = visit_leaf_
    visit_string_imm_ = visit_var_ = visit_var_def_ = visit_dataflow_var_def_ = visit_leaf_

    def visit_call_(self, call) -> None:
        """Visits the operator or function, then the arguments."""
        for child in [call.op, *call.args]:
            self.visit_expr(child)

    def visit_tuple_(self, expr) -> None:
        """Visits the elements."""
        for element in expr.elements:
            self.visit_expr(element)

    def visit_tuple_getitem_(self, item) -> None:
        """Visits the tuple."""
        self.visit_expr(item.tuple)

    def visit_if_(self, expr) -> None:
        """Visits the condition and both branches."""
        for child in (expr.cond, expr.true_branch, expr.false_branch):
            self.visit_expr(child)

    def visit_seq_expr_(self, seq) -> None:
        """Visits the blocks, then the result."""
        for block in seq.blocks:
            self.visit_binding_block(block)
        self.visit_expr(seq.body)

    def visit_function_(self, func) -> None:
        """Visits the parameters, then the body."""
        for param in func.params:
            self.visit_var_def(param)
        self.visit_expr(func.body)

    def visit_binding_block_(self, block) -> None:
        """Visits the bindings."""
        for binding in block.bindings:
            self.visit_binding(binding)

    visit_dataflow_block_ = visit_binding_block_

    def visit_var_binding_(self, binding) -> None:
        """Visits the value, then the variable."""
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    visit_match_cast_ = visit_var_binding_


class PyExprMutator(_Functor):
    """Rebuilds a graph: each method returns the replacement of its expression; an expression that no method changes stays the same object.

    mod  the module whose functions the graph calls, and to which `builder_` adds functions; default none

    What a method returns is put into A-normal form and gets its type by inference (`builder_.normalize`), so a method may
    return nested calls without types.  Variables whose values change their type are replaced with all their uses.

    >>> class NegateTwice(tilewright.relax.PyExprMutator):
    ...     def visit_call_(self, call):
    ...         call = self.visit_expr_post_order(call)
    ...         return relax.op.negative(relax.op.negative(call)) if call.op.name == "relax.exp" else call
    >>> NegateTwice().visit_expr(mod["main"])
    """

    def __init__(self, mod=None):
        self.builder_ = BlockBuilder(mod)
        self._remap: dict = {}  # id of a variable -> (the variable, what stands for it)

    def visit_expr(self, expr):
        """The expression that replaces `expr`, in normal form and with its type.

        Raises TypeError for what is no graph expression, UserError where types contradict each other.
        """
        result = self._dispatch(expr)
        return result if isinstance(result, (_Function, _SeqExpr)) else self.builder_.normalize(result)

    def visit_expr_post_order(self, expr):
        """`expr` with its parts visited, normal and with its type; the method for its own kind is not called."""
        result = getattr(PyExprMutator, _BY_CLASS[type(expr)])(self, expr)
        return result if isinstance(result, (_Function, _SeqExpr)) else self.builder_.normalize(result)

    def visit_with_new_scope(self, expr, params=()):
        """The SeqExpr that a branch or body becomes: bindings that its visit emits stay inside of it."""
        with self._scope(params) as end_scope:
            is_sequence = isinstance(expr, _SeqExpr)
            result = end_scope(self._visit_sequence(expr) if is_sequence else self.visit_expr(expr))
        return expr if is_sequence and _core.relax_is_same_body(expr, result) else result

    @contextlib.contextmanager
    def _scope(self, params):
        core = self.builder_._core
        core.begin_scope(list(params))
        try:
            yield core.end_scope
        except BaseException:
            core.abandon_scope()
            raise

    def _visit_sequence(self, seq):
        for block in seq.blocks:
            made = self.visit_binding_block(block)
            if isinstance(made, _BindingBlock):  # of a method that ends its block by hand
                self._emit_block(made)
        return self.visit_expr(seq.body)

    def _emit_block(self, block) -> None:
        is_dataflow = isinstance(block, _DataflowBlock)
        with self.builder_.dataflow() if is_dataflow else contextlib.nullcontext():
            for binding in block.bindings:
                self.builder_.emit_normalized(binding)

    def visit_binding_block(self, block):
        """Emits the rebuilt bindings of a block; outside of a function it returns the block of them."""
        if self.builder_._core.is_open():
            return super().visit_binding_block(block)
        with self._scope(()) as end_scope:
            made = super().visit_binding_block(block)
            if isinstance(made, _BindingBlock):
                self.builder_._core.abandon_scope()
                return made
            blocks = end_scope(_Tuple([])).blocks
        return blocks[0] if blocks else block.replace(bindings=[])

    # ---- variables

    def set_var_remap(self, var, new) -> None:
        """From now on uses of `var` become `new`."""
        self._remap[id(var)] = (var, new)

    def get_var_remap(self, var):
        """The variable that replaces uses of `var`: itself unless it was replaced."""
        return self._remap.get(id(var), (var, var))[1]

    def lookup_binding(self, var):
        """The value that `var`, a variable of the rebuilt graph, is bound to; None for parameters."""
        return self.builder_.lookup_binding(var) if isinstance(var, (_DataflowVar, _Var)) else None

    def with_type(self, var, type):
        """`var` if it has `type`, else a new variable of that name and type."""
        from ..ir import structural_equal

        same = var.type is not None and structural_equal(var.type, type)
        return var if same else var.replace(type=type)

    def visit_var_(self, var):
        """The variable that replaces `var`."""
        return self.get_var_remap(var)

    visit_dataflow_var_ = visit_var_

    def visit_var_def_(self, var):
        """The variable that is defined instead; default the same."""
        return var

    visit_dataflow_var_def_ = visit_var_def_

    # ---- expressions

    def visit_leaf_(self, expr):
        """Default of the methods for expressions without others inside: returns the expression."""
        return expr

    visit_global_var_ = visit_op_ = visit_constant_ = visit_data_type_imm_ = visit_leaf_
    visit_extern_func_ = visit_prim_value_ = visit_shape_expr_ = visit_string_imm_ = visit_leaf_

    def visit_call_(self, call):
        """The call with its operator and arguments rebuilt."""
        op, args = self.visit_expr(call.op), [self.visit_expr(arg) for arg in call.args]
        return (
            call if _same([call.op, *call.args], [op, *args]) else call.replace(op=op, args=args, type=None)
        )

    def visit_tuple_(self, expr):
        """The tuple with its elements rebuilt."""
        elements = [self.visit_expr(element) for element in expr.elements]
        return expr if _same(expr.elements, elements) else expr.replace(elements=elements, type=None)

    def visit_tuple_getitem_(self, item):
        """The element of the rebuilt tuple."""
        source = self.visit_expr(item.tuple)
        return item if _same([item.tuple], [source]) else item.replace(tuple=source, type=None)

    def visit_if_(self, expr):
        """The branch with its condition and branches rebuilt, each branch in its own scope."""
        old = [expr.cond, expr.true_branch, expr.false_branch]
        new = [self.visit_expr(expr.cond), *(self.visit_with_new_scope(branch) for branch in old[1:])]
        if _same(old, new):
            return expr
        return expr.replace(cond=new[0], true_branch=new[1], false_branch=new[2], type=None)

    def visit_seq_expr_(self, seq):
        """The sequence with its blocks and result rebuilt, in its own scope."""
        return self.visit_with_new_scope(seq)

    def visit_function_(self, func):
        """The function with its parameters and body rebuilt; its result has the type that inference finds."""
        params = [self.visit_var_def(param) for param in func.params]
        for old, new in zip(func.params, params, strict=True):
            if new is not old:
                self.set_var_remap(old, new)
        body = self.visit_with_new_scope(func.body, params)
        return _core.relax_with_body(func, params, body)

    # ---- bindings

    def visit_binding_block_(self, block) -> None:
        """Emits the rebuilt bindings."""
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_dataflow_block_(self, block) -> None:
        """Emits the rebuilt bindings in a dataflow block."""
        with self.builder_.dataflow():
            for binding in block.bindings:
                self.visit_binding(binding)

    def visit_var_binding_(self, binding) -> None:
        """Emits the variable bound to its rebuilt value."""
        value = self.visit_expr(binding.value)
        var = self.visit_var_def(binding.var)
        if value.type is not None:
            var = self.with_type(var, value.type)
        self._emit(binding, var, value=value)

    def visit_match_cast_(self, binding) -> None:
        """Emits the cast of what the value becomes."""
        self._emit(binding, self.visit_var_def(binding.var), value=self.visit_expr(binding.value))

    def _emit(self, binding, var, value) -> None:
        if var is not binding.var:
            self.set_var_remap(binding.var, var)
        same = _same([binding.var, binding.value], [var, value])
        self.builder_._core.emit_normalized(binding if same else binding.replace(var=var, value=value))


guard_class("tilewright.relax.PyExprVisitor", PyExprVisitor)
guard_class("tilewright.relax.PyExprMutator", PyExprMutator)
