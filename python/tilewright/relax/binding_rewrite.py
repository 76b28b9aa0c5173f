"""Changing one dataflow block of a function binding by binding."""

from .. import _core
from .._guard import guard_class
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.module import IRModule
from .analysis import all_vars, free_vars, remove_all_unused
from .block_builder import BlockBuilder
from .expr_functor import PyExprMutator

_DataflowVar, _Var, _VarBinding = (classes[f"relax.{name}"] for name in ("DataflowVar", "Var", "VarBinding"))
_MatchCast = classes["relax.MatchCast"]


class DataflowBlockRewrite:
    """Changes a dataflow block; the function and the block themselves stay as they are.

    dfb      a dataflow block of root_fn
    root_fn  a graph function
    Raises   UserError if the block is not one of the function's

        rewrite = DataflowBlockRewrite(func.body.blocks[0], func)
        rewrite.replace_all_uses(old, new)
        rewrite.remove_unused(old)
        changed = rewrite.mutated_root_fn()
    """

    def __init__(self, dfb, root_fn):
        self._root, self._func = root_fn, root_fn
        found = [number for number, block in enumerate(root_fn.body.blocks) if block.same_as(dfb)]
        if not found:
            raise UserError("the dataflow block is none of the function's")
        self._number = found[0]

    def _changed(self, bindings: list) -> None:
        body = self._func.body
        blocks = list(body.blocks)
        blocks[self._number] = blocks[self._number].replace(bindings=bindings)
        self._func = self._func.replace(body=body.replace(blocks=blocks))

    @property
    def _bindings(self) -> list:
        return list(self._func.body.blocks[self._number].bindings)

    def replace_all_uses(self, old_var, new_var) -> None:
        """Uses of one variable, in the whole function, become uses of another, which must be defined before them."""
        mutator = PyExprMutator()
        mutator.set_var_remap(old_var, new_var)
        self._func = mutator.visit_expr(self._func)

    def add(self, expr_or_binding=None, name: str | None = None, is_dfvar: bool = False, expr=None) -> None:
        """Adds a binding at the end of the block: one that is given, or of a new variable to an expression.

        name      of the new variable; default a free one
        is_dfvar  the variable is seen only inside of the block; default False
        """
        given = expr if expr_or_binding is None else expr_or_binding
        if isinstance(given, _VarBinding | _MatchCast):
            return self._changed([*self._bindings, given])
        names = {var.name_hint for var in all_vars(self._func)}
        base = name or ("lv" if is_dfvar else "gv")
        free = base if name else next(n for n in _numbered(base) if n not in names)
        type = given.type if given.type is not None else _core.relax_infer_type(given)
        var = (_DataflowVar if is_dfvar else _Var)(free, type)
        return self._changed([*self._bindings, _VarBinding(var, given)])

    def remove_unused(self, var, allow_undef: bool = False) -> None:
        """Removes the binding of a variable.

        allow_undef  a variable that the block does not bind is no error; default False
        Raises       UserError if something uses the variable, or the block does not bind it
        """
        kept = [binding for binding in self._bindings if not binding.var.same_as(var)]
        if len(kept) == len(self._bindings):
            if allow_undef:
                return
            raise UserError(f"remove_unused: the block does not bind {var.name_hint}")
        before = self._func
        self._changed(kept)
        if any(var.same_as(used) for used in free_vars(self._func)):
            self._func = before
            raise UserError(f"remove_unused: {var.name_hint} is used")

    def remove_all_unused(self) -> None:
        """Removes bindings whose variables nothing uses, until there are none."""
        self._func = remove_all_unused(self._func)

    def mutated_dfb(self):
        """The block as it is now."""
        return self.mutated_root_fn().body.blocks[self._number]

    def mutated_root_fn(self):
        """The function as it is now, normal and with its types."""
        return BlockBuilder().normalize(self._func)

    def mutate_irmodule(self, irmodule: IRModule) -> IRModule:
        """The module with the changed function for the old one."""
        changed = irmodule.clone()
        for var, func in irmodule.functions.items():
            if func.same_as(self._root):
                changed[var] = self.mutated_root_fn()
        return changed


def _numbered(base: str):
    number = 0
    while True:
        yield f"{base}{number or ''}"
        number += 1


guard_class("tilewright.relax.binding_rewrite.DataflowBlockRewrite", DataflowBlockRewrite)
