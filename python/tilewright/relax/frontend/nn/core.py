"""Modules: objects whose attributes are parameters, effects and other modules, with a forward method."""

from collections import OrderedDict
from collections.abc import Callable, Iterator

from .... import runtime
from ....errors import UserError
from ...block_builder import BlockBuilder
from .subroutine import SubroutineMixin
from .tensor import Tensor, _Var, get_default_dtype, tensor_type
from .tensor import set_default_dtype as set_default_dtype


class Object:
    """A value of a graph that is no tensor, such as the state of a cache.

    _expr  the graph expression; it is bound to a variable called `_name`
    """

    def __init__(self, *, _expr, _name: str = "object"):
        builder = BlockBuilder.current()
        self._expr = _expr if isinstance(_expr, _Var) or builder is None else builder.emit(_expr, _name)


class Effect:
    """A state that a model changes while it runs: a value that enters a function and leaves it changed."""

    def emit_init(self, name_hint: str, builder) -> list:
        """The variables of the effect at the start, bound in the function that `builder` has open."""
        raise NotImplementedError

    def create(self, name_hint: str) -> list:
        """New parameters for the state of the effect."""
        raise NotImplementedError

    def set_state(self, state_vars: list) -> None:
        """Makes these variables the effect's."""
        raise NotImplementedError

    def finalize(self) -> list:
        """The variables at the end of the function."""
        raise NotImplementedError

    def to(self, dtype: str | None = None) -> None:
        """Converts the effect to a dtype, if it has one."""


class Parameter(Tensor):
    """A weight: a tensor with a place for its elements.

    shape  ints, or names of symbolic dimensions
    dtype  default: get_default_dtype()
    """

    def __init__(self, shape, dtype: str | None = None):
        super().__init__(_expr=_Var("param", tensor_type(shape, dtype or get_default_dtype(), {})))
        self._data = None
        self.attrs: OrderedDict = OrderedDict()

    @property
    def data(self):
        """The elements as a tensor, or None if they were not set."""
        return self._data

    @data.setter
    def data(self, data) -> None:
        if data is None:
            self._data = None
            return
        if hasattr(data, "detach"):  # of torch: gradients do not come along
            data = data.detach().cpu().contiguous()
        tensor = data if isinstance(data, runtime.Tensor) else runtime.tensor(data)
        if list(tensor.shape) != self.shape:
            raise UserError(
                f"nn.Parameter: the data has shape {list(tensor.shape)}, the parameter {self.shape}"
            )
        if str(tensor.dtype) != self.dtype:
            raise UserError(
                f"nn.Parameter: the data has dtype {tensor.dtype}, the parameter {self.dtype}\n"
                "help: convert the data, or the module with to(dtype)"
            )
        self._data = tensor

    def to(self, dtype: str | None = None) -> None:
        """Changes the dtype, also of the data."""
        if dtype is None or dtype == self.dtype:
            return
        self._expr = _Var("param", tensor_type(self.shape, dtype, {}))
        if self._data is not None:
            self._data = runtime.tensor(self._data.numpy().astype(dtype))


class Module(SubroutineMixin):
    """A part of a model: assign parameters and modules to attributes, and write forward."""

    def __call__(self, *args, **kwargs):
        """Calls forward."""
        if not hasattr(self, "forward"):
            raise UserError(f"nn.Module: {type(self).__name__} has no method forward")
        return self.forward(*args, **kwargs)

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, "Module"]]:
        """(dotted name, module) of this and of all modules inside."""
        yield prefix, self
        for name, value in _children(self):
            if isinstance(value, Module):
                yield from value.named_modules(_joined(prefix, name))

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter) of all parameters, in the order in which they were assigned."""
        yield from _named(self, prefix, lambda value: isinstance(value, Parameter))

    def named_effects(self, prefix: str = "") -> Iterator[tuple[str, Effect]]:
        """(dotted name, effect) of all effects."""
        yield from _named(self, prefix, lambda value: isinstance(value, Effect))

    def parameters(self) -> Iterator[Parameter]:
        """All parameters."""
        for _, param in self.named_parameters():
            yield param

    def state_dict(self, *, prefix: str = "", destination: dict | None = None) -> dict:
        """{dotted name: parameter}, put into `destination` if one is given."""
        destination = OrderedDict() if destination is None else destination
        destination.update(self.named_parameters(prefix.rstrip(".")))
        return destination

    def load_state_dict(self, state_dict: dict, strict: bool = True) -> tuple[list[str], list[str]]:
        """The names that `state_dict` lacks, and those that are no parameters; sets the data of all others.

        state_dict  {dotted name: parameter, tensor, numpy array or torch tensor}
        strict      raise UserError if there is any such name; default True
        """
        params = dict(self.named_parameters())
        missing = [name for name in params if name not in state_dict]
        unexpected = [name for name in state_dict if name not in params]
        if strict and (missing or unexpected):
            raise UserError(
                f"load_state_dict: missing are [{', '.join(missing)}], unexpected are [{', '.join(unexpected)}]"
            )
        for name, value in state_dict.items():
            if name in params:
                params[name].data = value.data if isinstance(value, Parameter) else value
        return missing, unexpected

    def to(self, dtype: str | None = None) -> None:
        """Changes the dtype of all parameters and effects."""
        for _, value in _children(self):
            if hasattr(value, "to"):
                value.to(dtype)
        if dtype is not None and isinstance(getattr(self, "dtype", None), str):
            self.dtype = dtype


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _children(node) -> list:
    """(name, value) of what a module, a list or a dict holds."""
    if isinstance(node, ModuleList | ParameterList):
        return [(str(n), value) for n, value in enumerate(node)]
    if isinstance(node, ModuleDict | ParameterDict):
        return list(node.items())
    return list(vars(node).items())


def _named(node, prefix: str, is_wanted: Callable) -> Iterator:
    for name, value in _children(node):
        path = _joined(prefix, name)
        if is_wanted(value):
            yield path, value
        elif isinstance(value, Module | ParameterList | ParameterDict):
            yield from _named(value, path, is_wanted)


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules=()):
        self.modules = list(modules)

    def __iter__(self):
        return iter(self.modules)

    def __getitem__(self, index):
        return self.modules[index]

    def __setitem__(self, index, module) -> None:
        self.modules[index] = module

    def __len__(self) -> int:
        return len(self.modules)

    def append(self, module: Module) -> None:
        """Adds a module at the end."""
        self.modules.append(module)

    def forward(self, x):
        """x through all modules, one after the other."""
        for module in self.modules:
            x = module(x)
        return x


class Sequential(ModuleList):
    """Modules, or callables, one after the other: Sequential(a, b)(x) is b(a(x))."""

    def __init__(self, *modules):
        listed = modules[0] if len(modules) == 1 and isinstance(modules[0], list | tuple) else modules
        super().__init__(listed)


class ModuleDict(Module):
    """A dict of modules."""

    def __init__(self, modules: dict | None = None):
        self.modules = OrderedDict(modules or {})

    def __getitem__(self, key):
        return self.modules[key]

    def __setitem__(self, key, module) -> None:
        self.modules[key] = module

    def __iter__(self):
        return iter(self.modules.values())

    def __len__(self) -> int:
        return len(self.modules)

    def __contains__(self, key) -> bool:
        return key in self.modules

    def keys(self):
        """The keys."""
        return self.modules.keys()

    def values(self):
        """The modules."""
        return self.modules.values()

    def items(self):
        """(key, module)."""
        return self.modules.items()

    def get(self, key, default=None):
        """The module of a key, or the default."""
        return self.modules.get(key, default)

    def update(self, modules: dict) -> None:
        """Takes over modules."""
        self.modules.update(modules)

    def pop(self, key) -> Module:
        """Removes a module and returns it."""
        return self.modules.pop(key)


class ParameterList(list):
    """A list of parameters."""

    def to(self, dtype: str | None = None) -> None:
        """Changes the dtype of all."""
        for param in self:
            param.to(dtype)


class ParameterDict(OrderedDict):
    """A dict of parameters."""

    def to(self, dtype: str | None = None) -> None:
        """Changes the dtype of all."""
        for param in self.values():
            param.to(dtype)
