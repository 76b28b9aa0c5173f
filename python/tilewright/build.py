"""From modules to code that runs."""

import sys

from . import _core
from ._guard import guard_module
from ._numbers import is_whole
from .errors import UserError
from .ir._nodes import classes
from .ir.module import IRModule, unwrapped
from .target import Target
from .transform import PassContext


def _current_database():
    """What `with database:` gave, as the bindings take it; None if no program uses databases."""
    records = sys.modules.get(f"{__package__}.records")
    return records.core_of_current() if records else None


_PrimFunc = classes["tir.PrimFunc"]
_Function = classes["relax.Function"]


def build(mod, target="llvm", *, schedule: bool = True, check_bounds: bool = False) -> _core.Module:
    """The loop programs of `mod`, compiled and loaded.

    mod       an IRModule of PrimFuncs, or one PrimFunc
    target    text or Target; default "llvm", this machine
    schedule  functions that nobody has scheduled get the schedule of tilewright.schedule.by_rules; default True
    check_bounds  each access whose indices are not proved to be inside of its buffer is checked when it runs; a wrong one raises a
              UserError with buffer, index, extent and line (docs/errors.md); slow; default False
    Returns   a Module: lib["name"] is a function, lib.time_evaluator times it
    Raises    UserError for an unknown target or a malformed program
    >>> lib = tilewright.build(MyModule, target="llvm"); lib["mm_relu"](a, b, c)
    """
    if isinstance(mod, _PrimFunc):
        mod = IRModule.from_expr(mod)
    return _core.build(unwrapped(mod), Target(target), schedule, check_bounds, _current_database())


def _require_text(name: str, value, known: str) -> None:
    if value is not None and not isinstance(value, str):
        given = repr(value) if isinstance(value, bool | int | float) else f"a Python {type(value).__name__}"
        raise UserError(f"{name} is {given}, expected text\nhelp: one of {known}")


def _require_policies(precision, weights) -> None:
    _require_text("precision", precision, "exact, bf16, bf16x3, bf16x6 and bf16x9")
    _require_text("weights", weights, "float32, int8 and int4")


def build_graph(
    mod,
    target="llvm",
    params: dict | None = None,
    *,
    precision: str | None = None,
    weights: str | None = None,
    check_bounds: bool = False,
    best_at: dict[str, int | list[int]] | None = None,
    reproducible: bool = False,
) -> _core.Executable:
    """The graph functions and loop programs of `mod`, compiled; run it with VirtualMachine.

    mod     an IRModule with relax functions, or one function
    target  text or Target, or several as in compile; default "llvm", this machine
    params  {parameter name: tensor} to bind into "main" before; default none
    precision, weights, check_bounds, best_at, reproducible  as in compile
    Raises  UserError for a precision or weights that there are not, best_at of a dimension that is not open, and reproducible
            results of target c without -fp-contract=off
    """
    if isinstance(mod, _Function):
        mod = IRModule({"main": mod})
    if params:
        from .relax.transform import BindParams

        mod = BindParams("main", params)(mod)
    return _built(
        unwrapped(mod),
        target,
        precision,
        weights,
        check_bounds,
        best_at=_likely_sizes(best_at),
        reproducible=reproducible,
    )


def _likely_sizes(best_at) -> dict[str, list[int]]:
    """The argument best_at of compile with a list for each name; {} for None.

    Raises  UserError unless it maps names to whole numbers or lists of them
    """
    if best_at is None:
        return {}
    example = 'help: e.g. {"batch": 8} or {"batch": [1, 8]}'
    if not isinstance(best_at, dict):
        raise UserError(f"best_at is a Python {type(best_at).__name__}, expected a dict\n{example}")
    lists = {}
    for name, extents in best_at.items():
        extents = list(extents) if isinstance(extents, list | tuple) else [extents]
        if not isinstance(name, str) or not all(map(is_whole, extents)):
            raise UserError(
                f"best_at has {name!r}: {best_at[name]!r}, expected a name and a whole number or a list of them\n{example}"
            )
        lists[name] = [int(extent) for extent in extents]
    return lists


def _targets(target) -> list:
    """The Targets that the argument `target` of compile gives, the first of which is for values without a device."""
    if isinstance(target, dict) and not {"kind", "tag"} & target.keys():
        for name, each in target.items():
            known = Target(each).kind
            if name not in (known, "cpu" if known in ("llvm", "c") else "gpu"):
                raise UserError(
                    f'target has "{name}": {Target(each)}, whose kind is {known}\n'
                    f'help: write {{"{known}": ...}}, or a list of targets'
                )
        target = list(target.values())
    if not isinstance(target, list | tuple):
        return [Target(target)]
    if not target:
        raise UserError('there is no target\nhelp: e.g. ["llvm", "opencl"]')
    return [Target(each) for each in target]


def _built(
    source,
    target,
    precision,
    weights,
    check_bounds,
    shapes=None,
    best_at=None,
    reproducible=False,
    converters=None,
):
    """An Executable of `source`, a module's node, or the path or bytes of an ONNX model, which no Python object holds meanwhile."""
    _require_policies(precision, weights)
    context = PassContext.current()
    asked = {"precision.policy": precision, "quantize_weights.dtype": weights}
    config = context.config | {key: value for key, value in asked.items() if value is not None}
    return _core.build_graph(
        source,
        _targets(target),
        context.opt_level,
        context.disabled_pass,
        context.required_pass,
        config,
        context.hooks(),
        check_bounds,
        _current_database(),
        shapes or {},
        best_at or {},
        bool(reproducible),
        converters or {},
    )


def compile(
    source,
    target="llvm",
    params: dict | None = None,
    *,
    schedule: bool = True,
    precision: str | None = None,
    weights: str | None = None,
    shapes: dict[str, int] | None = None,
    best_at: dict[str, int | list[int]] | None = None,
    check_bounds: bool = False,
    reproducible: bool = False,
) -> _core.Module | _core.Executable:
    """A compiled program: a Module for loop programs, an Executable for graphs.

    source  an IRModule, a function, or an ONNX model: its path, a ModelProto or bytes
    target  text or Target; default "llvm", this machine.  For a graph whose values are on several devices (docs/devices.md) a list, or a
            dict such as {"cpu": "llvm", "opencl": "opencl -max_threads_per_block=128"}: each serves the devices of its kind
            for which I.vdevice gives no attributes, the first also values without a device; devices for which there is none
            are compiled for their own
    schedule  as in build, for a module of loop programs
    precision  of matrix products and convolutions of float32 in a graph: "exact", "bf16", "bf16x3", "bf16x6" or "bf16x9" (docs/
            precision.md has the error bounds); default: what the current PassContext says, else "exact"
    weights  what constant weights of matmuls in a graph are rounded to, where reading them is what takes the time: "int8" (a scale for
            each column), "int4" (one for each 32 rows) or "float32", not at all; docs/precision.md has the error bounds; default: what the
            current PassContext says, else "float32"
    check_bounds  as in build, for the loop programs of a graph too; default False
    shapes  {name of an open dimension of the inputs: its extent}, e.g. {"batch": 1}; of a dimension of an ONNX model that has no name
            "x.0", input and axis; default: all stay open
    best_at  {name of an open dimension: the extent that schedules are chosen for}, e.g. {"batch": 8}, or a list of extents of at least 1,
            e.g. {"batch": [1, 8]}: a kernel whose schedules differ has one for each and chooses by the extent of a call, at most 4 in all
            combinations (docs/decisions/0026-plans-by-extent.md); results are right at all extents,
            and may differ in rounding without reproducible=True (docs/decisions/0025-likely-sizes.md); default: of images that convolutions read, 8 in a batch and 224 x 224 pixels, else no extent is preferred
    reproducible  float32 results have the same bits with open and fixed extents, alone and in a batch, with any number of threads, with and
            without tuning records: no convolution by Winograd, which costs networks of 3 x 3 convolutions time (docs/precision.md); default False
    Raises  UserError for a source of another kind, a model that is missing or damaged, a precision or weights that there are not, and
            shapes or best_at of dimensions that the source has not, reproducible results of target c without -fp-contract=off;
            Unsupported with every operator of a model that has no conversion
    >>> ex = tilewright.compile("model.onnx", weights="int8", shapes={"n": 1}); vm = tilewright.VirtualMachine(ex)
    """
    if (
        isinstance(source, str | bytes)
        or hasattr(source, "__fspath__")
        or hasattr(source, "SerializeToString")
    ):
        from .frontend.onnx import converters, fixed_dims, from_onnx, path_or_bytes

        if not params:
            return _built(
                path_or_bytes(source),
                target,
                precision,
                weights,
                check_bounds,
                fixed_dims(shapes),
                _likely_sizes(best_at),
                reproducible,
                converters(),
            )
        source = from_onnx(source, shapes)
        shapes = None
    if isinstance(source, _Function):
        source = IRModule({"main": source})
    if isinstance(source, _PrimFunc):
        source = IRModule.from_expr(source)
    if not isinstance(source, IRModule):
        raise UserError(
            f"cannot compile a Python {type(source).__name__}\nhelp: give a module, a function or an ONNX path"
        )
    if shapes:
        from .frontend.onnx import fixed_dims
        from .relax.transform import bind_symbolic_vars

        source = bind_symbolic_vars(binding_map=fixed_dims(shapes))(source)
    has_graph = any(isinstance(func, _Function) for func in source.functions.values())
    if has_graph:
        return build_graph(
            source,
            target,
            params,
            precision=precision,
            weights=weights,
            check_bounds=check_bounds,
            best_at=best_at,
            reproducible=reproducible,
        )
    _require_policies(precision, weights)
    if precision not in (None, "exact"):
        raise UserError(
            "precision= applies to graph functions; this module has only loop programs\nhelp: write the casts into them"
        )
    if best_at:
        raise UserError("best_at= applies to graph functions; this module has only loop programs")
    if reproducible:
        raise UserError(
            "reproducible= applies to graph functions; this module has only loop programs\nhelp: their sums have the order of the default schedule where no record of a database is in force"
        )
    if weights not in (None, "float32"):
        raise UserError(
            "weights= applies to graph functions; this module has only loop programs\nhelp: write the casts into them"
        )
    return build(source, target, schedule=schedule, check_bounds=check_bounds)


guard_module("tilewright", globals(), ["build", "build_graph", "compile"])
