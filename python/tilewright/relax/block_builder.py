"""Building graph functions binding by binding."""

import contextlib
import contextvars

from .. import _core
from ..ir.module import IRModule, unwrapped

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
        """A new variable bound to `expr`."""
        return self._core.emit(expr, name_hint)

    def call_te(self, func, *args, primfunc_name_hint: str | None = None, **kwargs):
        """A call_tir of the loop program that `func`, a function of te tensors, describes."""
        tensors = [arg for arg in args if not isinstance(arg, int | float | str)]
        rest = [arg for arg in args if isinstance(arg, int | float | str)]
        name = primfunc_name_hint or getattr(func, "__name__", "te_func")
        return self._core.call_te(name, lambda *inputs: func(*inputs, *rest, **kwargs), tensors)

    def emit_te(self, func, *args, primfunc_name_hint: str | None = None, **kwargs):
        """A new variable bound to call_te of the same arguments."""
        return self.emit(self.call_te(func, *args, primfunc_name_hint=primfunc_name_hint, **kwargs))

    def emit_output(self, expr, name_hint: str = ""):
        """A new variable bound to `expr` that is seen outside of the dataflow block."""
        return self._core.emit_output(expr, name_hint)

    def emit_match_cast(self, value, type, name_hint: str = ""):
        """A new variable bound to `value`, which is checked to have `type` when it runs."""
        return self._core.emit_match_cast(value, type, name_hint)

    def emit_func_output(self, output, params=None):
        """The GlobalVar of the open function, whose result is `output`."""
        params = [params] if params is not None and not isinstance(params, list | tuple) else params
        if isinstance(output, list | tuple):
            output = _core.make_node("relax.Tuple", {"elements": list(output)})
        return self._core.emit_func_output(output, params)

    def normalize(self, expr):
        """`expr` in A-normal form with its type."""
        return self._core.normalize(expr)

    def current_block_is_dataflow(self) -> bool:
        """True inside a dataflow block."""
        return self._core.current_block_is_dataflow()

    def lookup_binding(self, var):
        """What `var` is bound to, or None."""
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
