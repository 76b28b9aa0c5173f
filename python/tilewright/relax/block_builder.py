"""Building graph functions binding by binding."""

import contextlib
import contextvars

from .. import _core
from ..ir._nodes import classes
from ..ir.module import IRModule, unwrapped

_RelaxExpr, _TupleType = classes["RelaxExpr"], classes["ir.TupleType"]
_Tuple, _ShapeExpr, _PrimValue, _SeqExpr = (
    classes[f"relax.{name}"] for name in ("Tuple", "ShapeExpr", "PrimValue", "SeqExpr")
)

#: the builders whose functions are open, the innermost last
_open: contextvars.ContextVar[tuple] = contextvars.ContextVar("open block builders", default=())


class BlockBuilder:
    """Builds graph functions in A-normal form with inferred types.

    mod  functions are added to those of this module; default none
    >>> bb = relax.BlockBuilder()
    >>> with bb.function("main", [x]):
    ...     with bb.dataflow():
    ...         out = bb.emit_output(bb.emit(relax.op.nn.relu(x)))
    ...     bb.emit_func_output(out)
    >>> bb.get()
    """

    def __init__(self, mod: IRModule | None = None):
        self._core = _core.BlockBuilder(unwrapped(mod) if mod is not None else None)

    @contextlib.contextmanager
    def function(
        self, name: str, params=None, attrs: dict | None = None, pure: bool = True, private: bool = False
    ):
        """The scope in which the function `name` is written; params may be given here or to emit_func_output."""
        params = [params] if params is not None and not isinstance(params, list | tuple) else params
        self._core.begin_function(name, params, attrs or {}, pure, private)
        token = _open.set((*_open.get(), self))
        try:
            yield
        except BaseException:
            self._core.abandon_function()
            raise
        finally:
            _open.reset(token)
        self._core.end_function()

    @staticmethod
    def current() -> "BlockBuilder | None":
        """The builder of the innermost open function scope, or None outside of any."""
        return (_open.get() or (None,))[-1]

    @contextlib.contextmanager
    def dataflow(self):
        """The scope of a dataflow block: no side effects; only emit_output's variables are seen outside."""
        self._core.begin_dataflow()
        yield
        self._core.end_dataflow()

    def emit(self, expr, name_hint: str = ""):
        """A new variable bound to `expr`; a list is a tuple."""
        return self._core.emit(_as_tuples(expr), name_hint)

    def call_te(
        self, func, *args, primfunc_name_hint: str | None = None, primfunc_attrs: dict | None = None, **kwargs
    ):
        """A call_tir of the loop program that `func`, a function of te tensors, describes.

        args, kwargs    of `func`: graph values become te tensors, also inside of lists and dicts, tuples lists of them;
                        all else is passed as it is
        primfunc_attrs  attributes of the loop program; default none
        """
        tensors: list = []
        places, named = _with_places(args, tensors), _with_places(kwargs, tensors)
        name = primfunc_name_hint or getattr(func, "__name__", "te_func")
        call = self._core.call_te(
            name, lambda *inputs: func(*_filled(places, inputs), **_filled(named, inputs)), tensors
        )
        if primfunc_attrs:
            target = call.args[0]
            self.update_func(target, self.get()[target.name_hint].with_attr(primfunc_attrs))
        return call

    def call_te_with_grad(
        self, func, *args, te_grad_name: str, te_grad_kwargs: dict | None = None, **options
    ):
        """call_te whose gradient is the function that transform.register_te_gradient knows as `te_grad_name`.

        te_grad_kwargs  what that function gets by keyword; default nothing
        """
        attrs = {
            "te_grad_name": te_grad_name,
            **({"te_grad_kwargs": te_grad_kwargs} if te_grad_kwargs else {}),
        }
        op = _core.make_node("ir.Op", {"name": "relax.call_tir_with_grad"})
        return self.call_te(func, *args, **options).replace(op=op, attrs=attrs)

    def emit_te(self, func, *args, **kwargs):
        """A new variable bound to call_te of the same arguments."""
        return self.emit(self.call_te(func, *args, **kwargs))

    def emit_output(self, expr, name_hint: str = ""):
        """A new variable bound to `expr` that is seen outside of the dataflow block."""
        return self._core.emit_output(_as_tuples(expr), name_hint)

    def emit_match_cast(self, value, type, name_hint: str = ""):
        """A new variable bound to `value`, which is checked to have `type` when it runs."""
        return self._core.emit_match_cast(value, type, name_hint)

    match_cast = emit_match_cast

    def emit_normalized(self, binding):
        """The variable of a VarBinding or MatchCast, which is added as it is: its value is normal and has its type."""
        self._core.emit_normalized(binding)
        return binding.var

    def emit_func_output(self, output, params=None):
        """The GlobalVar of the open function, whose result is `output`."""
        params = [params] if params is not None and not isinstance(params, list | tuple) else params
        return self._core.emit_func_output(_as_tuples(output), params)

    def normalize(self, expr):
        """`expr` in A-normal form with its type; outside of a function a SeqExpr if it needs bindings."""
        if self._core.is_open():
            return self._core.normalize(expr)
        if not isinstance(expr, _SeqExpr):
            result, block = self._inside(expr, lambda result: (result, self._core.end_block()))
            if not block.bindings:
                return result
        return self._inside(expr, self._core.end_scope)

    def _inside(self, expr, end):
        """The result of `end` for the normal form of `expr`, in a scope of its own."""
        self._core.begin_scope([])
        try:
            return end(self._core.normalize(expr))
        except BaseException:
            self._core.abandon_scope()
            raise

    def get_unique_name(self, name_prefix: str) -> str:
        """The prefix, or the prefix and a number: a name that no variable of the open function has."""
        return self._core.unique_name(name_prefix)

    # blocks by hand, as mutators do that override visit_binding_block_

    def _begin_binding_block(self) -> None:
        """Opens a block that is part of nothing."""
        self._core.begin_block(False)

    def _begin_dataflow_block(self) -> None:
        """Opens a dataflow block that is part of nothing."""
        self._core.begin_block(True)

    def _end_block(self):
        """The block with the bindings since it was opened."""
        return self._core.end_block()

    def current_block_is_dataflow(self) -> bool:
        """True inside a dataflow block."""
        return self._core.current_block_is_dataflow()

    def lookup_binding(self, var):
        """The value that `var` is bound to, or None."""
        return self._core.lookup_binding(var)

    def add_func(self, func, name_hint: str):
        """The GlobalVar under which `func` is in the module now."""
        return self._core.add_func(func, name_hint)

    def update_func(self, var, func) -> None:
        """Replaces the function that `var` names, or adds it under that name."""
        self._core.update_func(var, func)

    def get(self) -> IRModule:
        """The module with all complete functions."""
        return IRModule._of(self._core.get())

    finalize = get


def _as_tuples(value):
    """`value` with tuples for lists, also inside of them."""
    if isinstance(value, list | tuple):
        return _Tuple([_as_tuples(item) for item in value])
    return value


class _Place:
    """Stands for tensor `number` among the arguments of a function of te tensors."""

    def __init__(self, number: int):
        self.number = number


def _with_places(value, tensors: list):
    """`value` with places instead of graph values, which are added to `tensors`."""
    if isinstance(value, _Tuple):
        return [_with_places(field, tensors) for field in value.elements]
    if isinstance(value, _ShapeExpr):
        return list(value.values)
    if isinstance(value, _PrimValue):
        return value.value
    if isinstance(value, _RelaxExpr):
        if isinstance(value.type, _TupleType):
            return [_with_places(value[n], tensors) for n in range(len(value.type.elements))]
        tensors.append(value)
        return _Place(len(tensors) - 1)
    if isinstance(value, list | tuple):
        return [_with_places(item, tensors) for item in value]
    if isinstance(value, dict):
        return {key: _with_places(item, tensors) for key, item in value.items()}
    return value


def _filled(value, inputs):
    """`value` with te tensors in the places."""
    if isinstance(value, _Place):
        return inputs[value.number]
    if isinstance(value, list):
        return [_filled(item, inputs) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, inputs) for key, item in value.items()}
    return value
