"""A loss behind a function."""

from ... import _core
from ..._guard import guard_class
from ...ir.module import IRModule, unwrapped


class AppendLoss:
    """Adds the function `new_func_name`: `func_name`, whose results go into `loss_function`.

    func_name             a graph function
    loss_function         a graph function; its first parameters take results of func_name
    num_backbone_outputs  how many; default 1
    new_func_name         default func_name + "_loss"
    The new function takes what both take and gives (loss, results that the loss does not take...), or the loss alone.
    """

    def __init__(
        self, func_name: str, loss_function, num_backbone_outputs: int = 1, new_func_name: str | None = None
    ):
        self.func_name, self.loss_function = func_name, loss_function
        self.num_backbone_outputs = num_backbone_outputs
        self.new_func_name = new_func_name or func_name + "_loss"

    def __call__(self, mod: IRModule) -> IRModule:
        """The module with the new function."""
        return IRModule._of(
            _core.relax_append_loss(
                unwrapped(mod),
                self.func_name,
                self.loss_function,
                self.num_backbone_outputs,
                self.new_func_name,
            )
        )


guard_class("tilewright.relax.training.AppendLoss", AppendLoss)
