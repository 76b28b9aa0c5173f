"""Graph passes and training where TVM's arguments differ from ours."""

import functools

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


def BundleModelParams(param_tuple_name: str | None = None):
    """bundle_model_params."""
    return transform.bundle_model_params(param_name=param_tuple_name or "model_params")


class CategoricalCrossEntropyLoss(relax.training.loss.Loss):
    """Of scores and one-hot targets, as TVM computes it: the mean is over all elements.

    ignore_index  a class that counts nothing; negative: there is none
    """

    def __init__(self, reduction: str = "mean", ignore_index: int = -100):
        super().__init__("categorical_cross_entropy_loss", reduction)
        self._ignore_index = ignore_index

    def __call__(self, predictions, targets, weights=None):
        """The function (predictions, targets[, weights of classes]) -> loss, of their types."""
        names = ("predictions", "targets", "weights")
        given = [each for each in (predictions, targets, weights) if each is not None]
        params = [relax.training.loss._param(each, name) for each, name in zip(given, names, strict=False)]
        return self._function(params, self._loss)

    def _loss(self, predictions, targets, *weights):
        op, logs = relax.op, relax.op.nn.log_softmax(predictions, axis=-1)
        if self._ignore_index >= 0:
            options = {"reduction": self._reduction, "ignore_index": self._ignore_index}
            return op.nn.nll_loss(logs, op.argmax(targets, axis=1), *weights, **options)
        losses = op.multiply(op.negative(logs), op.astype(targets, str(predictions.type.dtype)))
        return self._reduced(op.multiply(losses, *weights) if weights else losses)


class Loss(relax.training.loss.Loss):
    """relax.training.loss.Loss with the arguments of TVM's."""

    def __init__(self, loss_name: str, num_backbone_outputs: int, reduction: str = "mean"):
        super().__init__(loss_name, reduction, num_backbone_outputs)


def call_tir_with_grad(
    gvar, args, out_sinfo=None, te_grad_name: str = "", te_grad_kwargs=None, tir_vars=None, *, out_ty=None
):
    """R.call_tir_with_grad as an expression."""
    out_sinfo = out_ty if out_sinfo is None else out_sinfo
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


def call_py_func(func_name: str, args, out_ty=None, *, out_sinfo=None):
    """R.call_py_func as an expression."""
    fields = args.elements if isinstance(args, relax.Tuple) else args
    fields = list(fields) if isinstance(fields, list | tuple) else [fields]
    return relax.op.call_pure_packed(func_name, *fields, sinfo_args=out_sinfo if out_ty is None else out_ty)


def square_or(size, count: int):
    """A size of `count` extents: one number is all of them."""
    return size if isinstance(size, list | tuple) or hasattr(size, "type") else [size] * count


def _of_square_sizes(name: str, count: int):
    function = getattr(relax.op.image, name)

    @functools.wraps(function)
    def call(data, size, *args, **named):
        return function(data, square_or(size, count), *args, **named)

    return call


IMAGE_NAMES = {
    name: _of_square_sizes(name, count)
    for name, count in (("resize2d", 2), ("resize3d", 3), ("affine_grid", 2))
}
OP_NAMES = {
    "call_py_func": call_py_func,
    "call_tir_with_grad": call_tir_with_grad,
    **vars(relax.op.vision),
}
LOSS_NAMES = {"CategoricalCrossEntropyLoss": CategoricalCrossEntropyLoss, "Loss": Loss}
TRANSFORM_NAMES = {
    "ToMixedPrecision": ToMixedPrecision,
    "LiftTransformParams": LiftTransformParams,
    "BundleModelParams": BundleModelParams,
}
UTILS_NAMES = {
    "AppendLoss": relax.training.AppendLoss,
    "register_te_gradient": transform.register_te_gradient,
}
