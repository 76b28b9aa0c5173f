"""Runs what SetupTrainer made: one step after the other."""

from ..._guard import guard_class
from ...errors import UserError
from .setup_trainer import SetupTrainer


def _listed(values) -> list:
    return list(values) if isinstance(values, list | tuple) else [values]


class Trainer:
    """Holds the parameters and states of a model and changes them by training steps.

    train_mod              what SetupTrainer gave
    vm                     a VirtualMachine of it
    device                 None or the CPU
    zero_init_param_state  whether parameters and states start as zeros; else load_params and load_states come first
    """

    def __init__(self, train_mod, vm, device=None, zero_init_param_state: bool = True):
        from ...runtime import tensor
        from ...runtime.vm import require_cpu

        require_cpu("Trainer", device)
        self.mod, self.vm, self._tensor = train_mod, vm, tensor
        num_params, num_states = (int(train_mod.attrs[key]) for key in ("param_num", "state_num"))
        variables = list(train_mod[SetupTrainer.BACKBONE_FUNC].params)
        self._num_inputs = len(variables) - num_params - num_states
        self._param_vars = variables[self._num_inputs : self._num_inputs + num_params]
        self._state_vars = variables[self._num_inputs + num_params :]
        self._params: list = [None] * num_params
        self._states: list = [None] * num_states
        self._optim_states = [tensor(each.data.numpy()) for each in train_mod.attrs["optim_state"]]
        if zero_init_param_state:
            self.zero_init_params()
            self.zero_init_states()

    def _filled(self, variables: list, make) -> list:
        return [
            self._tensor(make([int(e) for e in var.type.shape.values]).astype(str(var.type.dtype)))
            for var in variables
        ]

    def xaiver_uniform_init_params(self, seed: int = 0) -> None:
        """Parameters of two and more dimensions are drawn by Xavier's uniform rule, the others are zeros.

        Source: Glorot and Bengio, AISTATS 2010
        """
        import numpy

        rng = numpy.random.default_rng(seed)

        def drawn(shape):
            if len(shape) < 2:
                return numpy.zeros(shape)
            window = int(numpy.prod(shape[2:]))
            limit = numpy.sqrt(6 / ((shape[0] + shape[1]) * window))
            return rng.uniform(-limit, limit, shape)

        self._params = self._filled(self._param_vars, drawn)

    xavier_uniform_init_params = xaiver_uniform_init_params

    def zero_init_params(self) -> None:
        """All parameters are zeros."""
        import numpy

        self._params = self._filled(self._param_vars, numpy.zeros)

    def zero_init_states(self) -> None:
        """All states are zeros."""
        import numpy

        self._states = self._filled(self._state_vars, numpy.zeros)

    def _loaded(self, variables: list, given: dict, what: str) -> list:
        missing = [var.name_hint for var in variables if var.name_hint not in given]
        if missing:
            raise UserError(f"Trainer: no value is given for {what} {', '.join(missing)}")
        values = [given[var.name_hint] for var in variables]
        return [self._tensor(v.numpy() if hasattr(v, "numpy") else v) for v in values]

    def load_params(self, params: dict) -> None:
        """Sets the parameters, by their names in backbone.  Raises UserError if one is missing."""
        self._params = self._loaded(self._param_vars, params, "parameters")

    def load_states(self, states: dict) -> None:
        """Sets the states, by their names in backbone.  Raises UserError if one is missing."""
        self._states = self._loaded(self._state_vars, states, "states")

    def export_params(self) -> dict:
        """{name: tensor} of the parameters as they are now."""
        return {var.name_hint: value for var, value in zip(self._param_vars, self._params, strict=True)}

    def export_states(self) -> dict:
        """{name: tensor} of the states as they are now."""
        return {var.name_hint: value for var, value in zip(self._state_vars, self._states, strict=True)}

    def _arguments(self, inputs) -> list:
        inputs = [value if hasattr(value, "numpy") else self._tensor(value) for value in _listed(inputs)]
        if len(inputs) != self._num_inputs:
            raise UserError(f"Trainer: {len(inputs)} inputs are given, expected {self._num_inputs}")
        if any(value is None for value in self._params + self._states):
            raise UserError(
                "Trainer: parameters or states have no values\nhelp: load_params and load_states come first"
            )
        return inputs + self._params + self._states

    def predict(self, *inputs):
        """The results of backbone for these inputs, without its states."""
        results = _listed(self.vm[SetupTrainer.BACKBONE_FUNC](*self._arguments(list(inputs))))
        results = results[: len(results) - len(self._states)]
        return results[0] if len(results) == 1 else results

    def update(self, inputs, targets):
        """The loss of these inputs and targets (one or a list each); parameters and states are changed by a step."""
        targets = [value if hasattr(value, "numpy") else self._tensor(value) for value in _listed(targets)]
        results, gradients = self.vm[SetupTrainer.ADJOINT_FUNC](*self._arguments(inputs), *targets)
        loss, *states = _listed(results)
        if self._states:
            self._states = states[len(states) - len(self._states) :]
        params, optim_states = self.vm[SetupTrainer.UPDATE_PARAMS_FUNC](
            self._params, list(gradients), self._optim_states
        )
        self._params, self._optim_states = list(params), list(optim_states)
        return loss

    def profile_adjoint(self, inputs, targets):
        """The profile of one call of backbone_loss_adjoint; see VirtualMachine.profile."""
        targets = [value if hasattr(value, "numpy") else self._tensor(value) for value in _listed(targets)]
        return self.vm.profile(SetupTrainer.ADJOINT_FUNC, *self._arguments(inputs), *targets)


guard_class("tilewright.relax.training.Trainer", Trainer)
