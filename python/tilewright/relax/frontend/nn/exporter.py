"""From a model and its specification to graph functions, and to something that runs."""

from .... import tir
from ....build import compile as compile_module
from ....errors import Unsupported, UserError
from ....ir._nodes import classes
from ....runtime import Shape, VirtualMachine
from ....runtime.vm import require_cpu
from ...block_builder import BlockBuilder
from . import spec as specs
from . import subroutine
from .core import Module, Object
from .modules import IOEffect
from .tensor import Tensor, _Var, tensor_type

_Tuple = classes["relax.Tuple"]


def export(module: Module, spec, debug: bool):
    """The result of Module.export_tvm."""
    spec = specs.ModuleSpec.from_raw(spec, module)
    params = list(module.named_parameters())
    effects = [("_io", IOEffect()), *module.named_effects()] if debug else []
    builder = BlockBuilder()
    token = subroutine.recording()
    try:
        if debug:
            _emit_initial_effects(builder, effects)
        for name, method in zip(spec.method_names, spec.method_specs, strict=True):
            _emit_method(builder, name, method, params, effects)
    finally:
        subroutine.stop(token)
    return builder.get(), params


def _emit_initial_effects(builder: BlockBuilder, effects: list) -> None:
    """_initialize_effect(), which gives the effects at the start."""
    with builder.function("_initialize_effect", []):
        with builder.dataflow():
            states = [var for name, effect in effects for var in effect.emit_init(name, builder)]
            output = builder.emit_output(_Tuple(states))
        builder.emit_func_output(output)


def _emit_method(builder: BlockBuilder, name: str, method, params: list, effects: list) -> None:
    symbols: dict = {}
    mode = method.param_mode if params else "none"
    inputs, args = [], []
    for arg_name, arg_spec in zip(method.arg_names, method.arg_specs, strict=True):
        var, arg = _input(arg_name, arg_spec, symbols)
        inputs.append(var)
        args.append(arg)
    states = [_states(effect_name, effect) for effect_name, effect in effects]
    weights = {path: _Var(path.replace(".", "_"), _named_type(param, symbols)) for path, param in params}
    all_params = [*inputs, *(var for group in states for var in group)]
    packed = _packed(weights) if mode == "packed" else None
    all_params += [packed] if packed is not None else list(weights.values()) if mode == "plain" else []
    saved = [param._expr for _, param in params]
    is_pure = not effects
    with builder.function(name, all_params, attrs={"num_input": len(inputs)}, pure=is_pure):
        with builder.dataflow() if is_pure else _nothing():
            _bind(builder, params, weights, packed, mode)
            try:
                arguments = {
                    key: _unpacked(builder, arg) for key, arg in zip(method.arg_names, args, strict=True)
                }
                result = _expr_of(method.method(**arguments))
            finally:
                for (_, param), expr in zip(params, saved, strict=True):
                    param._expr = expr
            if effects:
                changed = [var for _, effect in effects for var in effect.finalize()]
                result = _Tuple([result, _Tuple(changed)])
            output = builder.emit_output(result) if is_pure else builder.emit(result)
        builder.emit_func_output(output)


class _nothing:
    """A scope without a dataflow block, as calls that print are not allowed in one."""

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        pass


def _named_type(param, symbols: dict):
    """The type of a parameter; its symbolic dimensions are those of the same name in the method."""
    return tensor_type(
        [extent if isinstance(extent, int) else _own(extent, symbols) for extent in param.shape],
        param.dtype,
        symbols,
    )


def _own(extent, symbols: dict):
    return symbols.setdefault(extent.name, extent) if isinstance(extent, classes["tir.Var"]) else extent


def _input(name: str, spec, symbols: dict):
    """The parameter of the function for an argument, and what the method gets."""
    if isinstance(spec, specs.Int):
        size = symbols.setdefault(name, tir.Var(name, "int64"))
        return _Var(name, classes["relax.ShapeType"](values=[size], ndim=1, is_known=True)), size
    if isinstance(spec, specs.Tensor):
        var = _Var(name, tensor_type(spec.shape, spec.dtype, symbols))
        return var, Tensor(_expr=var)
    if isinstance(spec, specs.Object):
        var = _Var(name, classes["ir.ObjectType"]())
        return var, spec.object_type(_expr=var)
    fields = [_input(f"{name}_{n}", element, symbols) for n, element in enumerate(spec.elements)]
    var = _Var(name, classes["ir.TupleType"]([field.type for field, _ in fields]))
    return var, _Fields(var, type(spec.elements), [arg for _, arg in fields])


class _Fields:
    """A tuple argument, whose fields are taken out when the function is open."""

    def __init__(self, var, kind: type, args: list):
        self.var, self.kind, self.args = var, kind, args


def _unpacked(builder: BlockBuilder, arg, expr=None):
    if isinstance(arg, _Fields):
        value = arg.var if expr is None else expr
        fields = [builder.emit(value[n]) for n in range(len(arg.args))]
        return arg.kind(_unpacked(builder, each, field) for each, field in zip(arg.args, fields, strict=True))
    if expr is None:
        return arg
    return type(arg)(_expr=expr) if isinstance(arg, Tensor | Object) else arg


def _states(name: str, effect) -> list:
    variables = effect.create(name)
    effect.set_state(variables)
    return variables


def _packed(weights: dict):
    return _Var("packed_params", classes["ir.TupleType"]([var.type for var in weights.values()]))


def _bind(builder: BlockBuilder, params: list, weights: dict, packed, mode: str) -> None:
    """Makes the weights of the model the function's."""
    for number, (path, param) in enumerate(params):
        if mode == "none":
            continue
        name = path.replace(".", "_")
        param._expr = weights[path] if packed is None else builder.emit(packed[number], name)


def _expr_of(result):
    """The result of a method as a graph expression."""
    if isinstance(result, Tensor | Object):
        return result._expr
    if isinstance(result, list | tuple):
        return _Tuple([_expr_of(item) for item in result])
    if isinstance(result, classes["RelaxExpr"]):
        return result
    raise UserError(
        f"nn: a method returned a Python {type(result).__name__}, expected tensors or tuples of them"
    )


def jit(module: Module, spec, device, pipeline, out_format: str, debug: bool):
    """The result of Module.jit."""
    require_cpu("jit", device)
    if out_format not in ("torch", "numpy"):
        raise Unsupported(f'jit: out_format is "{out_format}", expected torch or numpy')
    spec = specs.ModuleSpec.from_raw(spec, module)
    mod, params = export(module, spec, debug)
    unset = [name for name, param in params if param.data is None]
    if unset:
        raise UserError(f"jit: parameter {unset[0]} has no data\nhelp: load_state_dict sets the data")
    if callable(pipeline):
        mod = pipeline(mod)
    return JitModule(
        spec, VirtualMachine(compile_module(mod)), [param.data for _, param in params], out_format, debug
    )


class JitModule:
    """A compiled model with its weights: model["forward"](x)."""

    def __init__(self, spec, vm, params: list, out_format: str, debug: bool):
        self.spec, self.vm, self.params, self.out_format = spec, vm, params, out_format
        self._effects = list(vm["_initialize_effect"]()) if debug else []

    def __getitem__(self, name: str):
        """The method called `name`; raises UserError if the specification has none."""
        if name not in self.spec.method_names:
            raise UserError(
                f"jit: there is no method {name}\nhelp: there are {', '.join(self.spec.method_names)}"
            )
        method = self.spec.method_specs[self.spec.method_names.index(name)]
        return lambda *args: self._call(name, method, args)

    def _call(self, name: str, method, args: tuple):
        if len(args) != len(method.arg_names):
            raise UserError(
                f"{name}: {len(args)} arguments are given, expected {', '.join(method.arg_names)}"
            )
        values = [_passed(arg, spec) for arg, spec in zip(args, method.arg_specs, strict=True)]
        weights = {"plain": self.params, "packed": [tuple(self.params)], "none": []}[method.param_mode]
        result = self.vm[name](*values, *self._effects, *(weights if self.params else []))
        if self._effects:
            result, self._effects = result[0], list(result[1])
        return _converted(result, self.out_format)


def _passed(arg, spec):
    if isinstance(spec, specs.Int):
        return Shape((arg,))
    if isinstance(spec, specs.Tuple):
        return tuple(_passed(item, inner) for item, inner in zip(arg, spec.elements, strict=True))
    return arg.detach().contiguous() if hasattr(arg, "detach") else arg


def _converted(value, out_format: str):
    if isinstance(value, list | tuple):
        return type(value)(_converted(item, out_format) for item in value)
    if not hasattr(value, "numpy"):
        return value
    if out_format == "numpy":
        return value.numpy()
    import torch

    return torch.from_dlpack(value)
