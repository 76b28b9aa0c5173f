"""IRModule: the functions of a program under their names."""

from .. import _core
from .._guard import guard_class
from ._nodes import classes, methods_for
from .printing import shortened, show, to_script

_GlobalVar = classes["ir.GlobalVar"]


def unwrapped(value):
    """The node behind `value`: of a module its immutable node, else `value` itself."""
    return value.__tilewright_node__() if isinstance(value, IRModule) else value


def wrapped(node):
    """`node` as users hold it: a module node becomes an IRModule."""
    return IRModule._of(node) if isinstance(node, classes["ir.IRModule"]) else node


class IRModule:
    """Named functions, loop programs and graphs together.

    functions  {name or GlobalVar: PrimFunc or relax Function}, in order; default none
    attrs      {str: value}; default none
    pyfuncs    {name: Python function} that the script marked with @I.pyfunc; passes keep them

    A module can be changed in place (`mod["f"] = func`); what it is made of cannot.
    >>> tilewright.IRModule({"main": func})["main"]
    """

    __slots__ = ("__weakref__", "_node", "pyfuncs")

    def __init__(self, functions=None, attrs=None, global_infos=None):
        self._node = _core.make_node(
            "ir.IRModule", {"attrs": attrs or {}, "global_infos": global_infos or {}}
        )
        self.pyfuncs = {}
        for name, func in (functions or {}).items():
            self[name] = func

    @classmethod
    def _of(cls, node) -> "IRModule":
        self = cls.__new__(cls)
        self._node = node
        self.pyfuncs = {}
        return self

    def __tilewright_node__(self):
        return self._node

    @staticmethod
    def from_expr(func) -> "IRModule":
        """A module with the one function `func`, named by its global_symbol or "main"."""
        return IRModule({func.attrs.get("global_symbol", "main"): func})

    def __getitem__(self, name):
        return _core.module_lookup(self._node, _name_of(name))

    def __setitem__(self, name, func):
        self._node = _core.module_with_function(self._node, _name_of(name), func)

    def __delitem__(self, name):
        _core.module_lookup(self._node, _name_of(name))
        self._node = _core.module_without_function(self._node, _name_of(name))

    def __contains__(self, name) -> bool:
        return _name_of(name) in [var.name_hint for var in self._node.global_vars]

    def __len__(self) -> int:
        return len(self._node.functions)

    def __iter__(self):
        return iter(self._node.global_vars)

    @property
    def functions(self) -> dict:
        """{GlobalVar: function}, in order."""
        return dict(zip(self._node.global_vars, self._node.functions, strict=True))

    def functions_items(self) -> list:
        """[(GlobalVar, function)], in order."""
        return list(self.functions.items())

    @property
    def attrs(self) -> dict:
        """Attributes of the module."""
        return self._node.attrs

    @property
    def global_infos(self) -> dict:
        """Lists of virtual devices and the like."""
        return self._node.global_infos

    def get_global_var(self, name: str):
        """The GlobalVar called `name`; raises UserError if there is none."""
        _core.module_lookup(self._node, name)
        return next(var for var in self._node.global_vars if var.name_hint == name)

    def get_global_vars(self) -> list:
        """All GlobalVars, in order."""
        return list(self._node.global_vars)

    def update_func(self, name, func) -> None:
        """Sets the function called `name`."""
        self[name] = func

    def update(self, other) -> None:
        """Takes over all functions of `other`, a module or a dict."""
        items = other.functions if isinstance(other, IRModule) else other
        for name, func in items.items():
            self[name] = func

    def get_attr(self, key: str):
        """Attribute `key`, or None."""
        return self.attrs.get(key)

    def with_attr(self, key: str, value) -> "IRModule":
        """A copy with attribute `key` set to `value`."""
        return self.with_attrs({key: value})

    def with_attrs(self, attrs: dict) -> "IRModule":
        """A copy with these attributes set."""
        return self._with_only({**self.attrs, **attrs})

    def without_attr(self, key: str) -> "IRModule":
        """A copy without attribute `key`."""
        return self._with_only({name: value for name, value in self.attrs.items() if name != key})

    def _with_only(self, attrs: dict) -> "IRModule":
        copy = self.clone()
        copy._node = self._node.replace(attrs=attrs)
        return copy

    def clone(self) -> "IRModule":
        """A module with the same functions that changes on its own."""
        copy = IRModule._of(self._node)
        copy.pyfuncs = dict(self.pyfuncs)
        return copy

    def __copy__(self) -> "IRModule":
        return self.clone()

    def __deepcopy__(self, memo) -> "IRModule":
        return self.clone()  # its functions cannot change

    def __reduce__(self):
        return _restored, (_core.save_json(self._node), self.pyfuncs)

    def script(self, **options) -> str:
        """The module as TVMScript; see tilewright.script.to_script for the options."""
        return to_script(self, **options)

    def show(self, **options) -> None:
        """Prints the script, coloured where the terminal or notebook can."""
        show(self, **options)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return shortened(self.script())


def _restored(json: str, pyfuncs: dict) -> IRModule:
    """A module that pickle has brought."""
    module = IRModule._of(_core.load_json(json))
    module.pyfuncs = pyfuncs
    return module


def _name_of(name) -> str:
    return name.name_hint if isinstance(name, _GlobalVar) else name


@methods_for("BaseFunc")
class _Function:
    def with_attr(self, key, value=None):
        """A copy with attribute `key` (or all of a dict) set."""
        changes = key if isinstance(key, dict) else {key: value}
        func = self
        for name, item in changes.items():
            func = _core.function_with_attr(func, name, item)
        return func

    def without_attr(self, key: str):
        """A copy without attribute `key`."""
        return _core.function_with_attr(self, key, None)

    def script(self, **options) -> str:
        """The function as TVMScript."""
        return to_script(self, **options)

    def show(self, **options) -> None:
        """Prints the script, coloured where the terminal or notebook can."""
        show(self, **options)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return shortened(self.script())


@methods_for("ir.GlobalVar")
class _GlobalVarMethods:
    def __eq__(self, other) -> bool:
        return isinstance(other, _GlobalVar) and self.name_hint == other.name_hint

    def __hash__(self) -> int:
        return hash(self.name_hint)

    def __str__(self) -> str:
        return self.name_hint


guard_class("tilewright.IRModule", IRModule)
