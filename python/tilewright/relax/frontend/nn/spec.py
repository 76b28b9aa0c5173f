"""Specifications of the arguments of a model's methods, which export_tvm and jit take."""

import inspect

from ....errors import UserError
from .core import Module


class Int:
    """A number that is known when the function runs; the method gets it as a symbolic dimension."""

    def __repr__(self) -> str:
        return "int"


class Tensor:
    """A tensor.

    shape  extents: ints, or names; one name is one symbolic dimension of the method
    dtype  of the elements
    """

    def __init__(self, shape, dtype: str):
        self.shape, self.dtype = list(shape), dtype

    def __repr__(self) -> str:
        return f"Tensor([{', '.join(map(str, self.shape))}], '{self.dtype}')"


class Object:
    """A value that is no tensor.

    object_type  the class of what the method gets, made as object_type(_expr=...)
    """

    def __init__(self, object_type: type):
        self.object_type = object_type

    def __repr__(self) -> str:
        return "object"


class Tuple:
    """A tuple or list of arguments.

    name      what its parameter is called
    elements  their specifications
    """

    def __init__(self, name: str, elements):
        self.name, self.elements = name, elements

    def __repr__(self) -> str:
        return repr(tuple(self.elements))


class MethodSpec:
    """The arguments of one method.

    method       a bound method of the model
    arg_names    its arguments
    arg_specs    what each is
    param_mode   "plain": every weight is a parameter of the function; "packed": one tuple of all; "none": left out
    effect_mode  the same of effects
    """

    def __init__(self, method, arg_names, arg_specs, param_mode: str = "plain", effect_mode: str = "plain"):
        for what, mode in (("param_mode", param_mode), ("effect_mode", effect_mode)):
            if mode not in ("plain", "packed", "none"):
                raise UserError(f'nn.spec.MethodSpec: {what} is "{mode}", expected plain, packed or none')
        self.method, self.arg_names, self.arg_specs = method, list(arg_names), list(arg_specs)
        self.param_mode, self.effect_mode = param_mode, effect_mode

    @staticmethod
    def from_raw(spec, method) -> "MethodSpec":
        """The specification {argument: what it is} of a bound method; "$" holds param_mode and effect_mode."""
        if isinstance(spec, MethodSpec):
            return spec
        options = dict(spec.get("$", {})) if isinstance(spec, dict) else {}
        spec = {name: value for name, value in spec.items() if name != "$"}
        names = list(inspect.signature(method).parameters)
        unknown = [name for name in spec if name not in names]
        if unknown:
            raise UserError(
                f"nn.spec: {method.__name__} has no argument {unknown[0]}\nhelp: its arguments are {', '.join(names)}"
            )
        given = [name for name in names if name in spec]
        return MethodSpec(method, given, [_spec_of(name, spec[name]) for name in given], **options)

    def __repr__(self) -> str:
        args = ", ".join(
            f"{name}: {spec!r}" for name, spec in zip(self.arg_names, self.arg_specs, strict=True)
        )
        return f"{self.method.__name__}({args})"


def _spec_of(name: str, spec):
    if spec is int or spec == "int":
        return Int()
    if isinstance(spec, list | tuple):
        kind = type(spec)
        return Tuple(name, kind(_spec_of(f"{name}_{n}", item) for n, item in enumerate(spec)))
    if isinstance(spec, Int | Tensor | Object | Tuple):
        return spec
    raise UserError(
        f"nn.spec: argument {name} is specified by a Python {type(spec).__name__}\n"
        "help: give nn.spec.Tensor(shape, dtype), nn.spec.Object(type), int, or a list of such"
    )


class ModuleSpec:
    """The methods of a model that become graph functions.

    module        the model
    method_names  the functions
    method_specs  their arguments
    """

    def __init__(self, module: Module, method_names, method_specs):
        self.module, self.method_names, self.method_specs = module, list(method_names), list(method_specs)

    @staticmethod
    def from_raw(spec, module: Module) -> "ModuleSpec":
        """The specification {method: {argument: what it is}} of a model."""
        if isinstance(spec, ModuleSpec):
            return spec
        specs = []
        for name, method_spec in spec.items():
            method = getattr(module, name, None)
            if not callable(method):
                raise UserError(f"nn.spec: {type(module).__name__} has no method {name}")
            specs.append(MethodSpec.from_raw(method_spec, method))
        return ModuleSpec(module, list(spec), specs)

    def __repr__(self) -> str:
        return "\n".join(["ModuleSpec:", *(f"  {spec!r}" for spec in self.method_specs)])
