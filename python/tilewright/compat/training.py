"""Graph passes and training where TVM's arguments differ from ours."""

from tilewright import _core, relax
from tilewright.relax import transform


def ToMixedPrecision(out_dtype: str = "float32", fp16_input_names=None):
    """to_mixed_precision in float16; parameters of these names are float16."""
    return transform.to_mixed_precision(out_dtype=out_dtype, low_inputs=list(fp16_input_names or ()))


def LiftTransformParams(shared_transform=False):
    """lift_transform_params; a transform shared by several functions is not served."""
    if shared_transform:
        from tilewright.errors import Unsupported

        raise Unsupported(
            "LiftTransformParams: shared_transform is not served\nhelp: each function has a transform of its own"
        )
    return transform.lift_transform_params()


def BundleModelParams(param_name: str | None = None):
    """bundle_model_params."""
    return transform.bundle_model_params(param_name=param_name or "model_params")


def call_tir_with_grad(gvar, args, out_sinfo, te_grad_name: str, te_grad_kwargs=None, tir_vars=None):
    """R.call_tir_with_grad as an expression."""
    args = (
        args
        if isinstance(args, relax.Tuple)
        else relax.Tuple(list(args) if isinstance(args, list | tuple) else [args])
    )
    attrs = {"te_grad_name": te_grad_name, **({"te_grad_kwargs": te_grad_kwargs} if te_grad_kwargs else {})}
    operands = [gvar, args, *([] if tir_vars is None else [tir_vars])]
    types = list(out_sinfo) if isinstance(out_sinfo, list | tuple) else [out_sinfo]
    op = _core.make_node("ir.Op", {"name": "relax.call_tir_with_grad"})
    return relax.Call(op=op, args=operands, attrs=attrs, type_args=types)


OP_NAMES = {"call_tir_with_grad": call_tir_with_grad}
TRANSFORM_NAMES = {
    "ToMixedPrecision": ToMixedPrecision,
    "LiftTransformParams": LiftTransformParams,
    "BundleModelParams": BundleModelParams,
}
UTILS_NAMES = {
    "AppendLoss": relax.training.AppendLoss,
    "register_te_gradient": transform.register_te_gradient,
}
