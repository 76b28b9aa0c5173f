"""Optimizers: each gives a graph function (parameters, gradients, states) -> (new parameters, new states), all tuples.

adam = Adam(0.01).init(list_of_parameters)
module["optimizer"] = adam.get_function()
states = adam.state                      # zeros; handed in, and replaced by what comes out
"""

from ... import _core
from ..._guard import guard_module
from ...errors import UserError
from ...ir._nodes import classes
from .. import op
from ..block_builder import BlockBuilder
from ..expr import const


class Optimizer:
    """The base class of optimizers; `name` is that of the function."""

    def __init__(self, name: str):
        self.name = name
        self.state = None  # tensors: what get_function's function takes first
        self.param_list: list = []

    def init(self, params) -> "Optimizer":
        """Sets the optimizer up for `params`: variables (or one) of floating-point tensors of known shape."""
        params = list(params) if isinstance(params, list | tuple) else [params]
        if not params:
            raise UserError(f"{self.name}: no parameters are given")
        for param in params:
            dtype = str(getattr(param.type, "dtype", ""))
            if "float" not in dtype:
                shown = f"is {dtype}" if dtype else "is no tensor"
                raise UserError(
                    f"{self.name}: parameter {param.name_hint} {shown}, expected a floating-point tensor"
                )
        self.param_list = params
        self.dtype = str(params[0].type.dtype)
        self.state = [_core_tensor(value) for value in self._first_state()]
        return self

    def _zeros(self) -> list:
        return [_filled(0, param.type.shape.values, param.type.dtype) for param in self.param_list]

    def _first_state(self) -> list:
        raise NotImplementedError

    def _step(self, bb, param, gradient, position: int, states: list) -> list:
        """[the new parameter, its new states...]"""
        raise NotImplementedError

    def _count(self, bb, states: list) -> list:
        """The new states that belong to no parameter."""
        return [bb.emit(op.add(states[0], const(1, "int64")), "num_steps_new")]

    def get_function(self):
        """The function (params, gradients, states) -> (params, states).  Raises UserError before init."""
        if self.state is None:
            raise UserError(f"{self.name}: init(params) comes first")
        bb = BlockBuilder()
        types = [param.type for param in self.param_list]
        state_types = [const(value.numpy()).type for value in self.state]
        params, gradients = (_tuple_var(name, types) for name in ("params", "gradients"))
        states = _tuple_var("optim_states", state_types)
        with bb.function(self.name, [params, gradients, states]):
            with bb.dataflow():
                old = [bb.emit(states[n], f"state{n}") for n in range(len(state_types))]
                common = self._count(bb, old)
                new_params, per_state = [], []
                for n, param in enumerate(self.param_list):
                    own = [old[k] for k in range(len(common) + n, len(old), len(types))]
                    value = bb.emit(params[n], param.name_hint)
                    gradient = bb.emit(gradients[n], param.name_hint + "_grad")
                    new, *changed = self._step(bb, value, gradient, common, own)
                    new_params.append(new)
                    per_state.append(changed)
                by_kind = [changed for kind in zip(*per_state, strict=True) for changed in kind]
                outputs = bb.emit_output(_tuple(new_params), "params_new")
                new_states = bb.emit_output(_tuple(common + by_kind), "optim_states_new")
            bb.emit_func_output([outputs, new_states])
        return bb.get()[self.name]


def _core_tensor(value):
    from ...runtime import tensor

    return tensor(value)


def _filled(value, extents=(), dtype="int64"):
    import numpy

    return numpy.full([int(extent) for extent in extents], value, str(dtype))


def _tuple_var(name: str, types: list):
    return classes["relax.Var"](name, classes["ir.TupleType"](types))


def _tuple(elements: list):
    return _core.make_node("relax.Tuple", {"elements": elements})


class SGD(Optimizer):
    """p - learning_rate * (g + weight_decay * p); its state is the number of steps."""

    def __init__(self, learning_rate: float, weight_decay: float = 0.0):
        super().__init__("SGD")
        self.learning_rate, self.weight_decay = learning_rate, weight_decay

    def _first_state(self) -> list:
        return [_filled(0)]

    def _step(self, bb, param, gradient, common, states) -> list:
        if self.weight_decay:
            gradient = gradient + param * self.weight_decay
        return [bb.emit(param - gradient * self.learning_rate, param.name_hint + "_new")]


class MomentumSGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g;  p - learning_rate * v, with nesterov of g + momentum * v.

    Source: Sutskever et al., ICML 2013; torch.optim.SGD
    """

    def __init__(
        self,
        learning_rate: float,
        momentum: float,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ):
        super().__init__("MomentumSGD")
        self.learning_rate, self.momentum, self.dampening = learning_rate, momentum, dampening
        self.weight_decay, self.nesterov = weight_decay, nesterov

    def _first_state(self) -> list:
        return [_filled(0), *self._zeros()]

    def _step(self, bb, param, gradient, common, states) -> list:
        name = param.name_hint
        if self.weight_decay:
            gradient = bb.emit(gradient + param * self.weight_decay)
        now = gradient * (1 - self.dampening) if self.dampening else gradient
        velocity = bb.emit(states[0] * self.momentum + now, name + "_v_new")
        step = gradient + velocity * self.momentum if self.nesterov else velocity
        return [bb.emit(param - step * self.learning_rate, name + "_new"), velocity]


class Adam(Optimizer):
    """Adam; its states are the number of steps, the powers of both betas, first and second moments.

    Source: Kingma and Ba, arXiv 1412.6980
    """

    def __init__(
        self,
        learning_rate: float,
        betas: tuple = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        super().__init__("Adam")
        self.learning_rate, self.betas, self.eps, self.weight_decay = learning_rate, betas, eps, weight_decay

    def _first_state(self) -> list:
        one = _filled(1, dtype=self.dtype)
        return [_filled(0), one, one, *self._zeros(), *self._zeros()]

    def _count(self, bb, states: list) -> list:
        powers = [bb.emit(states[n + 1] * beta, f"beta{n}_power") for n, beta in enumerate(self.betas)]
        return [*super()._count(bb, states), *powers]

    def _step(self, bb, param, gradient, common, states) -> list:
        name = param.name_hint
        if self.weight_decay:
            gradient = bb.emit(gradient + param * self.weight_decay)
        first, second = self.betas
        m = bb.emit(states[0] * first + gradient * (1 - first), name + "_m_new")
        v = bb.emit(states[1] * second + gradient * gradient * (1 - second), name + "_v_new")
        one = const(1, self.dtype)
        m_hat, v_hat = (bb.emit(x / (one - power)) for x, power in ((m, common[1]), (v, common[2])))
        step = m_hat * self.learning_rate / (op.sqrt(v_hat) + self.eps)
        return [bb.emit(param - step, name + "_new"), m, v]


guard_module(__name__, globals(), ["Optimizer", "SGD", "MomentumSGD", "Adam"])
