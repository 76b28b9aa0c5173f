"""Losses: each, called with the types of predictions and targets, gives a graph function that computes it.

CrossEntropyLoss(reduction="mean")(R.Tensor((64, 10), "float32"), R.Tensor((64,), "int64"))
"""

from ..._guard import guard_module
from ...errors import UserError
from ...ir._nodes import classes
from .. import op
from ..block_builder import BlockBuilder

_Var = classes["RelaxExpr"]


def _param(given, name: str):
    """A parameter of the type `given`, or of that of the variable `given`."""
    if isinstance(given, _Var):
        return classes["relax.Var"](given.name_hint, given.type)
    return classes["relax.Var"](name, given)


class Loss:
    """The base class of losses.

    loss_name             the name of the function
    reduction             "mean", "sum" or "none": how the losses of elements or samples are combined
    num_backbone_outputs  how many results of a model it takes first
    """

    def __init__(self, loss_name: str, reduction: str = "mean", num_backbone_outputs: int = 1):
        if reduction not in ("mean", "sum", "none"):
            raise UserError(f'{loss_name}: reduction is "{reduction}", expected "mean", "sum" or "none"')
        self._loss_name, self._reduction = loss_name, reduction
        self._num_backbone_outputs = num_backbone_outputs

    @property
    def num_backbone_outputs(self) -> int:
        """How many results of a model it takes first."""
        return self._num_backbone_outputs

    def _function(self, params: list, body):
        bb = BlockBuilder()
        with bb.function(self._loss_name, params):
            with bb.dataflow():
                loss = bb.emit_output(body(*params))
            bb.emit_func_output(loss)
        return bb.get()[self._loss_name]

    def _reduced(self, losses):
        return losses if self._reduction == "none" else getattr(op, self._reduction)(losses)


class L1Loss(Loss):
    """The absolute difference of predictions and targets."""

    def __init__(self, reduction: str = "mean"):
        super().__init__("l1_loss", reduction)

    def __call__(self, predictions, targets):
        """The function (predictions, targets) -> loss, of their types."""
        params = [_param(predictions, "predictions"), _param(targets, "targets")]
        return self._function(params, lambda p, t: self._reduced(op.abs(op.subtract(p, t))))


class MSELoss(Loss):
    """The squared difference of predictions and targets."""

    def __init__(self, reduction: str = "mean"):
        super().__init__("mse_loss", reduction)

    def __call__(self, predictions, targets):
        """The function (predictions, targets) -> loss, of their types."""
        params = [_param(predictions, "predictions"), _param(targets, "targets")]
        return self._function(params, lambda p, t: self._reduced(op.square(op.subtract(p, t))))


class CrossEntropyLoss(Loss):
    """nll_loss of the log_softmax of predictions [n, classes, ...] or [classes]: torch.nn.CrossEntropyLoss.

    ignore_index  elements of this target are left out of the loss; default -100
    """

    def __init__(self, reduction: str = "mean", ignore_index: int = -100):
        super().__init__("cross_entropy_loss", reduction)
        self._ignore_index = ignore_index

    def __call__(self, predictions, targets, weights=None):
        """The function (predictions, targets[, weights of classes]) -> loss, of their types."""
        params = [_param(predictions, "predictions"), _param(targets, "targets")]
        params += [] if weights is None else [_param(weights, "weights")]

        def body(predictions, *rest):
            axis = 1 if predictions.type.ndim > 1 else 0
            logits = op.nn.log_softmax(predictions, axis=axis)
            return op.nn.nll_loss(logits, *rest, reduction=self._reduction, ignore_index=self._ignore_index)

        return self._function(params, body)


class CategoricalCrossEntropyLoss(Loss):
    """The cross entropy of predictions, which are probabilities or scores (from_logits), and one-hot targets.

    from_logits  whether predictions are softmaxed first; default False
    """

    def __init__(self, reduction: str = "mean", from_logits: bool = False):
        super().__init__("categorical_cross_entropy_loss", reduction)
        self._from_logits = from_logits

    def __call__(self, predictions, targets, weights=None):
        """The function (predictions, targets[, weights of classes]) -> loss, of their types."""
        params = [_param(predictions, "predictions"), _param(targets, "targets")]
        params += [] if weights is None else [_param(weights, "weights")]

        def body(predictions, targets, *weights):
            logs = op.nn.log_softmax(predictions) if self._from_logits else op.log(predictions)
            products = op.multiply(logs, targets)
            if weights:
                products = op.multiply(products, weights[0])
            losses = op.negative(op.sum(products, axis=[-1]))
            return self._reduced(losses)

        return self._function(params, body)


guard_module(
    __name__,
    globals(),
    ["Loss", "L1Loss", "MSELoss", "CrossEntropyLoss", "CategoricalCrossEntropyLoss"],
)
