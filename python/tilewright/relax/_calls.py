"""Calls of loop programs, registered functions and closures, with the arguments that relax.op gives them."""

from .. import _core
from .._numbers import plain
from ..ir._nodes import classes
from ..tir._index_map import index_map as tir_index_map
from ._op_call import _value
from .expr import _operand, const

_Call, _Tuple, _ExternFunc = classes["relax.Call"], classes["relax.Tuple"], classes["relax.ExternFunc"]
_DataTypeValue = classes["relax.DataTypeValue"]
_TupleType, _RelaxExpr = classes["ir.TupleType"], classes["RelaxExpr"]


def _types(given) -> list:
    """The types of the results: one, a list of several, or a tuple type."""
    listed = list(given) if isinstance(given, list | tuple) else [given]
    return listed if len(listed) == 1 else [_TupleType(listed)]


def _tuple(args):
    """The arguments as a tuple: a list of them, a tuple, or the only one."""
    if isinstance(args, _Tuple):
        return args
    return _Tuple([_value(arg) for arg in (args if isinstance(args, list | tuple) else [args])])


def _function(func):
    return _ExternFunc(func) if isinstance(func, str) else func


def _call_with_outputs(name: str, func, args, outputs, tir_vars=None, attrs: dict | None = None):
    operands = [_function(func), _tuple(args)]
    if tir_vars is not None:
        operands.append(tir_vars if isinstance(tir_vars, _RelaxExpr) else _core.relax_shape(list(tir_vars)))
    call = _core.relax_call_op(f"relax.{name}", operands, attrs or {})
    return call.replace(type_args=_types(outputs))


def call_tir(gvar, args, out_sinfo=None, tir_vars=None, *, out_ty=None):
    """A call of a loop program that writes its results, which are allocated for it.

    gvar       the GlobalVar of the loop program
    args       tensors: a list, a tuple, or one
    out_sinfo  the type of the result, or a list of the types of several; out_ty is the same
    tir_vars   extents that the loop program takes after its tensors; default none
    """
    return _call_with_outputs("call_tir", gvar, args, out_ty if out_sinfo is None else out_sinfo, tir_vars)


def call_tir_inplace(gvar, args, inplace_indices, out_sinfo=None, tir_vars=None, *, out_ty=None):
    """call_tir whose results take the memory of arguments.

    inplace_indices  for each result the number of the argument, or -1 for memory of its own; an int for one
    """
    indices = [inplace_indices] if isinstance(plain(inplace_indices), int) else list(inplace_indices)
    outputs = out_ty if out_sinfo is None else out_sinfo
    return _call_with_outputs("call_tir_inplace", gvar, args, outputs, tir_vars, {"inplace_indices": indices})


def call_dps_packed(func, args, out_sinfo=None, *, out_ty=None):
    """A call of a registered function, by name, that gets the arguments and the results to write."""
    return _call_with_outputs("call_dps_packed", func, args, out_ty if out_sinfo is None else out_sinfo)


def call_pure_packed(func, *args, sinfo_args=None, ty_args=None):
    """A call of a registered function that returns its result and changes nothing.

    sinfo_args  the type of the result; default: any object
    """
    given = ty_args if sinfo_args is None else sinfo_args
    types = [classes["ir.ObjectType"]()] if given is None else _types(given)
    operands = [_function(func), *map(_value, args)]
    return _core.relax_call_op("relax.call_pure_packed", operands, {}).replace(type_args=types)


def call_inplace_packed(func, *args, inplace_indices, sinfo_args=None, ty_args=None):
    """A call of a registered function that changes arguments, which are not used afterwards, and gives them.

    inplace_indices  for each result the number of the argument that becomes it, or -1 for a new one; an int for one
    sinfo_args       the type of the result, or a list of several
    """
    indices = [inplace_indices] if isinstance(plain(inplace_indices), int) else list(inplace_indices)
    operands = [_function(func), *map(_value, args)]
    call = _core.relax_call_op("relax.call_inplace_packed", operands, {"inplace_indices": indices})
    return call.replace(type_args=_types(ty_args if sinfo_args is None else sinfo_args))


def view(data, shape=None, dtype: str | None = None, relative_byte_offset=None):
    """The bytes of `data`, from an offset on, as a tensor of another shape and dtype; it must not be written.

    shape, dtype          default those of data
    relative_byte_offset  default 0
    """
    if isinstance(dtype, str):
        dtype = _DataTypeValue(dtype)
    given = [_Tuple([]) if each is None else _value(each) for each in (shape, dtype, relative_byte_offset)]
    return _core.relax_call_op("relax.memory.view", [data, *given], {})


def layout_transform(x, index_map, pad_value=None, axis_separators=None, input_axis_separators=None):
    """The elements of `x` at the places that an index map gives them.

    index_map              an IndexMap, or a function such as lambda i, j: (j // 4, i, j % 4)
    pad_value              the value where the map puts no element of `x`; default 0
    axis_separators        dimensions of the result that begin a physical one; default none
    input_axis_separators  the same of x
    """
    attrs = {
        "index_map": tir_index_map(index_map) if callable(index_map) else index_map,
        "pad_value": getattr(pad_value, "value", pad_value),
        "axis_separators": list(axis_separators or []),
        "input_axis_separators": list(input_axis_separators or []),
    }
    given = {key: value for key, value in attrs.items() if value is not None}
    return _core.relax_call_op("relax.layout_transform", [x], given)


def invoke_closure(closure, args, sinfo_args=None, *, ty_args=None):
    """A call of a function value; sinfo_args, or ty_args, is the type of the result."""
    fields = args.elements if isinstance(args, _Tuple) else args
    sinfo_args = ty_args if sinfo_args is None else sinfo_args
    types = [classes["ir.ObjectType"]()] if sinfo_args is None else _types(sinfo_args)
    return _Call(op=closure, args=[_value(arg) for arg in fields], attrs={}, type_args=types)


def make_closure(func, args):
    """A function value: `func` of the module with its last parameters given, a list of them."""
    return _core.relax_call_op("relax.make_closure", [func, _tuple(args)], {})


def loop(body, most, condition, carried, captured=()):
    """Calls `body` again and again; a tuple of the values carried on, and of the values collected.

    body       a function of the module: takes the number of the iteration, the condition, the carried values
               and the captured ones; returns the condition, the carried values and the tensors to collect
    most       the most iterations, an int64 scalar; None: any number
    condition  a bool scalar, whether the first iteration is run; None: what the body returns as condition is
               ignored
    carried    the values that the first iteration gets
    captured   values that every iteration gets
    """
    given = [() if each is None else each for each in (most, condition)]
    return _core.relax_call_op(
        "relax.loop",
        [
            body,
            *(_tuple(each) if each == () else _value(each) for each in given),
            _tuple(carried),
            _tuple(captured),
        ],
        {},
    )


def arange(start, end=None, step=1, dtype: str | None = None):
    """start, start + step, ... before end; arange(5) is arange(0, 5).

    dtype  default int64, float32 if a number is a float
    """
    start, end, step = plain(start), plain(end), plain(step)
    start, end = (0, start) if end is None else (start, end)
    is_float = any(isinstance(each, float) for each in (start, end, step))
    attrs = {"dtype": dtype or "float32"} if dtype or is_float else {}
    return _core.relax_call_op("relax.arange", [_value(each) for each in (start, end, step)], attrs)


def full(shape, fill_value, dtype: str | None = None):
    """A tensor with one value everywhere: a number, or a graph value without dimensions.

    dtype  default that of the value
    """
    is_number = isinstance(plain(fill_value), int | float | bool)
    value = const(fill_value, dtype) if is_number else fill_value
    return _core.relax_call_op("relax.full", [_value(shape), value], {"dtype": dtype} if dtype else {})


def full_like(x, fill_value, dtype: str | None = None):
    """A tensor in the shape of `x` with one value everywhere: a number, or a graph value without dimensions.

    dtype  default that of x
    """
    return _core.relax_call_op(
        "relax.full_like", [x, _operand(fill_value, x)], {"dtype": dtype} if dtype else {}
    )


def masked_fill(x, mask, value):
    """The tensor with `value`, a number, where `mask` is true: where(mask, full_like(x, value), x)."""
    return _core.relax_call_op("relax.where", [mask, full_like(x, value), x], {})


def _device_name(device) -> str:
    """The name of a device, "cpu:0": of a device, of its name, or of what I.vdevice gave."""
    if isinstance(device, dict):
        return f"{device['target']}:{device.get('vdevice_id', 0)}"
    return str(device)


def to_vdevice(data, dst_vdevice):
    """The tensor on a device: a device, or its name such as "llvm:0"."""
    return _core.relax_call_op("relax.to_vdevice", [_value(data)], {"dst_vdevice": _device_name(dst_vdevice)})


def hint_on_device(data, dst_vdevice, memory_scope: str = "global"):
    """The tensor, which is best computed on a device: a device, or its name such as "cpu:0"."""
    return _core.relax_call_op(
        "relax.hint_on_device", [_value(data)], {"dst_vdevice": _device_name(dst_vdevice)}
    )


def print(*values, format: str = ""):
    """Prints values when the graph runs, where the format has {}; the call is not pure."""
    if values and isinstance(values[0], str) and not format:
        format, *values = values
    return _core.relax_call_op("relax.print", [_value(format), *map(_value, values)], {})


def assert_op(condition, format_args=None, format: str = ""):
    """Stops the graph with a message if the condition is false when it runs; the call is not pure.

    format_args  values for the {} of the format: a list, or one; default none
    """
    values = [] if format_args is None else format_args
    listed = list(values) if isinstance(values, list | tuple) else [values]
    return _core.relax_call_op(
        "relax.assert_op", [_value(condition), _value(format), *map(_value, listed)], {}
    )


NAMES = {
    "arange": arange,
    "assert_op": assert_op,
    "call_dps_packed": call_dps_packed,
    "call_pure_packed": call_pure_packed,
    "call_tir": call_tir,
    "call_tir_inplace": call_tir_inplace,
    "call_inplace_packed": call_inplace_packed,
    "invoke_closure": invoke_closure,
    "layout_transform": layout_transform,
    "memory.view": view,
    "full": full,
    "full_like": full_like,
    "hint_on_device": hint_on_device,
    "invoke_pure_closure": invoke_closure,
    "loop": loop,
    "make_closure": make_closure,
    "masked_fill": masked_fill,
    "print": print,
    "to_vdevice": to_vdevice,
}
