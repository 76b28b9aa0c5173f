"""The names of 2017 to 2019, when tensor expressions and loop programs had no modules of their own: tvm.placeholder, tvm.compute."""

from tilewright import runtime, tir
from tilewright.target import Target

from .transform import PassContext

_OF_TE = (
    "placeholder compute create_schedule var size_var reduce_axis thread_axis extern scan sum max min all any comm_reducer"
    " decl_tensor_intrin decl_buffer tag_scope power"
)
_OF_TIR = (
    "exp tanh sigmoid log sqrt rsqrt floor ceil trunc round abs if_then_else const erf popcount fmod isnan sin cos atan"
    " call_packed call_extern call_intrin min_value max_value likely"
)


def build_config(**options):
    """A context of building; options of the lowering of that time have no effect."""
    return PassContext(opt_level=options.get("opt_level", 2))


def names(te: dict) -> dict:
    """{name: object}, from those of tvm.te."""
    return {
        **{name: te[name] for name in _OF_TE.split()},
        **{name: getattr(tir, name) for name in _OF_TIR.split()},
        "select": tir.Select,
        "build_config": build_config,
        "cl": runtime.opencl,
    }


def _target(kind: str):
    def make(model=None, options=None):
        return Target(kind)

    make.__name__ = make.__qualname__ = kind
    make.__doc__ = f"The target {kind}; models and options of that time have no effect."
    return make


#: tvm.target
OF_TARGET = {"create": Target, **{kind: _target(kind) for kind in ("cuda", "opencl", "metal", "llvm")}}
