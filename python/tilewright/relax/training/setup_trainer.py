"""From a model to everything that training it needs."""

from ..._guard import guard_class
from ...errors import UserError
from ...ir.module import IRModule
from .. import transform
from ..expr import const
from .append_loss import AppendLoss


class SetupTrainer:
    """Adds to a module with the function backbone what a Trainer runs.

    loss       of relax.training.loss
    optimizer  of relax.training.optimizer
    loss_args  the types that the loss is called with: results of backbone, then targets
    legalize   whether operators become loop programs now; default True
    backbone takes (inputs..., parameters..., states...) and gives (results..., new states...), or one result.  The module's
    attributes param_num and state_num say how many parameters and states there are.  Added are backbone_loss,
    backbone_loss_adjoint, the function of the optimizer as optimizer, and the attribute optim_state.
    """

    BACKBONE_FUNC = "backbone"
    BACKBONE_LOSS_FUNC = "backbone_loss"
    ADJOINT_FUNC = "backbone_loss_adjoint"
    UPDATE_PARAMS_FUNC = "optimizer"

    def __init__(self, loss, optimizer, loss_args: list, legalize: bool = True):
        self._loss, self._optimizer = loss, optimizer
        self._loss_args, self._legalize = list(loss_args), legalize

    def __call__(self, mod: IRModule) -> IRModule:
        """The module with the functions of training.  Raises UserError if backbone or an attribute is missing."""
        for key in ("param_num", "state_num"):
            if key not in mod.attrs:
                raise UserError(
                    f'SetupTrainer: the module has no attribute "{key}"\nhelp: I.module_attrs({{"{key}": 2}})'
                )
        if self.BACKBONE_FUNC not in mod:
            raise UserError(f'SetupTrainer: the module has no function "{self.BACKBONE_FUNC}"')
        num_params, num_states = int(mod.attrs["param_num"]), int(mod.attrs["state_num"])
        num_inputs = len(mod[self.BACKBONE_FUNC].params) - num_params - num_states
        if num_inputs < 0:
            raise UserError(
                f"SetupTrainer: {self.BACKBONE_FUNC} has {len(mod[self.BACKBONE_FUNC].params)} parameters, fewer than "
                f"param_num {num_params} and state_num {num_states}"
            )
        loss = self._loss(*self._loss_args)
        mod = AppendLoss(self.BACKBONE_FUNC, loss, self._loss.num_backbone_outputs, self.BACKBONE_LOSS_FUNC)(
            mod
        )
        params = list(mod[self.BACKBONE_LOSS_FUNC].params)[num_inputs : num_inputs + num_params]
        mod = transform.Gradient(self.BACKBONE_LOSS_FUNC, require_grads=params)(mod)
        mod[self.UPDATE_PARAMS_FUNC] = (
            self._optimizer.init(params).get_function().with_attr("global_symbol", self.UPDATE_PARAMS_FUNC)
        )
        mod = mod.with_attr("optim_state", [const(value.numpy()) for value in self._optimizer.state])
        return transform.legalize_ops()(mod) if self._legalize else mod


guard_class("tilewright.relax.training.SetupTrainer", SetupTrainer)
