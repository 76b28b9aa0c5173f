"""relax.build, relax.get_pipeline and tvm.compile with TVM's arguments."""

from tilewright import relax, transform, tune
from tilewright.build import build_graph
from tilewright.build import compile as compile_any
from tilewright.errors import UserError

from .meta_schedule.database import ScheduleFnDatabase
from .meta_schedule.passes import TO_LOOPS, MetaScheduleApplyDatabase, static_shape_tuning_pipeline
from .target import target_or_current


def _steps(*names: str):
    """The pipeline of passes of these names."""
    return lambda **options: transform.Sequential([getattr(relax.transform, name)() for name in names])


#: the names that get_pipeline takes; relax.build itself runs all that docs/graph-passes.md lists, whatever pipeline is named
_pipelines = {
    "zero": _steps(*TO_LOOPS),
    "default": _steps(*TO_LOOPS),
    "default_build": _steps(*TO_LOOPS),
    "static_shape_tuning": static_shape_tuning_pipeline,
}


def register_pipeline(name: str):
    """A decorator: makes get_pipeline(name) what the function gives, a pass."""

    def register(make):
        if name in _pipelines:
            raise UserError(f'register_pipeline: there is a pipeline "{name}" already')
        _pipelines[name] = make
        return make

    return register


def get_pipeline(name: str = "zero", **options):
    """The pipeline of that name: passes that make a graph one of fused loop programs."""
    if name not in _pipelines:
        raise UserError(
            f'get_pipeline: there is no pipeline "{name}"\nhelp: there are {", ".join(_pipelines)}'
        )
    return _pipelines[name](**options)


def get_default_pipeline(target):
    """The passes of relax.build before it compiles for a target, as far as they can be run one by one."""
    return get_pipeline("default_build")


def _checked_mode(mode: str) -> None:
    if mode not in ("bytecode", "compiled"):
        raise UserError(f'relax.build: exec_mode is "{mode}", expected "bytecode" or "compiled"')


def _after(pipeline, mod):
    """`mod` after a pipeline that is a pass; by name it is what compiling does anyway."""
    if isinstance(pipeline, str):
        get_pipeline(pipeline)
    mod = pipeline(mod) if callable(pipeline) else mod
    if isinstance(tune.Database.current(), ScheduleFnDatabase):
        # its function takes programs, and compiling looks up keys of programs
        mod = MetaScheduleApplyDatabase()(get_pipeline("zero")(mod))
    return mod


def build(
    mod,
    target=None,
    params=None,
    pipeline="default_build",
    exec_mode: str = "bytecode",
    *,
    relax_pipeline=None,
    tir_pipeline=None,
    system_lib=None,
):
    """relax.build: the module after a pipeline of yours, compiled; both modes give what a VirtualMachine runs."""
    _checked_mode(exec_mode)
    return build_graph(_after(relax_pipeline or pipeline, mod), target_or_current(target), params)


def compile_as_written(
    mod, target=None, params=None, *, relax_pipeline=None, tir_pipeline=None, exec_mode: str = "bytecode"
):
    """tvm.compile: loop programs run as they are written; kernels of graphs are scheduled by rules."""
    _checked_mode(exec_mode)
    return compile_any(_after(relax_pipeline, mod), target_or_current(target), params, schedule=False)


def _passes(*names: str):
    """The passes of these names, for any target."""
    return lambda target=None: [getattr(relax.transform, name)() for name in names]


NAMES = {
    "zero_pipeline": _pipelines["zero"],
    "default_build_pipeline": _pipelines["default_build"],
    "static_shape_tuning_pipeline": _pipelines["static_shape_tuning"],
    "library_dispatch_passes": _passes(),
    "legalize_passes": _passes(*TO_LOOPS),
    "dataflow_lower_passes": _passes("rewrite_dataflow_reshape", "to_non_dataflow", "call_tir_rewrite"),
    "finalize_passes": _passes(
        "static_plan_block_memory", "lower_alloc_tensor", "kill_after_last_use", "lower_runtime_builtin"
    ),
    "build": build,
    "get_pipeline": get_pipeline,
    "get_default_pipeline": get_default_pipeline,
    "register_pipeline": register_pipeline,
}
