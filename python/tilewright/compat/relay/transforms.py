"""relay.transform: the passes of relax that do the same."""

from tilewright import relax
from tilewright.errors import Unsupported
from tilewright.transform import Sequential

from .. import relax_transform
from ..transform import function_pass, module_pass


def _of(pass_name: str, doc: str, *given):
    """The pass of relax, whatever options the old one had that say how and not what."""

    def make(*args, **options):
        return getattr(relax.transform, pass_name)(*given)

    make.__doc__ = doc
    return make


def FuseOps(fuse_opt_level: int = -1):
    """Groups cheap operators with the operator before them; operators become loop programs first."""
    named = relax_transform.names()
    return Sequential(
        [
            relax.transform.legalize_ops(),
            relax.transform.annotate_tir_op_pattern(),
            named["FuseOps"](fuse_opt_level),
        ]
    )


def SimplifyInference():
    """Replaces batch norms and other composite operators by simple ones."""
    return relax.transform.decompose_ops()


def ToMixedPrecision(mixed_precision_type: str = "float16", missing_op_mode: int = 1):
    """Computes products in a smaller float dtype."""
    return relax.transform.to_mixed_precision(out_dtype=mixed_precision_type)


#: of weights, where "default" is asked for beside a layout of data
_KERNELS = {"NHWC": "HWIO", "NCHW": "OIHW"}


def ConvertLayout(desired_layouts: dict):
    """Gives operators other layouts: {"nn.conv2d": ["NHWC", "OHWI"]}."""
    layouts = {
        f"relax.{name.removeprefix('relax.')}": [
            _KERNELS.get(data, kernel) if kernel == "default" else kernel for kernel in value
        ]
        for name, value in desired_layouts.items()
        for data in value[:1]
    }
    return relax_transform.names()["ConvertLayout"](layouts)


_SAME = {
    "FoldConstant": ("fold_constant", "Computes what depends on constants alone."),
    "EliminateCommonSubexpr": ("eliminate_common_subexpr", "Computes equal values once."),
    "DeadCodeElimination": ("dead_code_elimination", "Removes bindings that nothing uses."),
    "InferType": ("normalize", "Gives every expression its type."),
    "ToANormalForm": ("normalize", "Gives every value a name."),
    "CombineParallelDense": ("combine_parallel_matmul", "Makes one product of those that share an operand."),
    "CombineParallelBatchMatmul": (
        "combine_parallel_matmul",
        "Makes one product of those that share an operand.",
    ),
    "RemoveUnusedFunctions": ("dead_code_elimination", "Removes functions that nothing calls."),
    "LambdaLift": ("lambda_lift", "Makes functions inside of others global ones."),
    "FoldScaleAxis": ("fold_batch_norm", "Scales weights instead of results."),
    "CanonicalizeOps": ("decompose_ops", "Replaces composite operators by simple ones."),
}


def _missing(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    raise Unsupported(
        f"relay.transform.{name}: no pass over graphs here does it\n"
        f"help: these have one: {', '.join(sorted(NAMES))}; relay.build runs all that help"
    )


_Sequential = {
    "Sequential": Sequential,
    "FuseOps": FuseOps,
    "SimplifyInference": SimplifyInference,
    "ToMixedPrecision": ToMixedPrecision,
    "ConvertLayout": ConvertLayout,
}
# these make passes, and are no answer to "which passes are there"
_DECORATORS = {"function_pass": function_pass, "module_pass": module_pass}
NAMES = {**{name: _of(*found) for name, found in _SAME.items()}, **_Sequential}
MODULE = {**NAMES, **_DECORATORS, "__getattr__": _missing}
