"""Models built inside of an open BlockBuilder function, layer by layer; relax.frontend.nn exports whole models.

bb = relax.BlockBuilder()
with bb.function("main"):
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU())
    data = nn.Placeholder((n, 784), name="data")
    bb.emit_func_output(model(data), params=[data, *model.parameters()])
"""

from collections.abc import Callable

import numpy

from ... import runtime
from ...errors import UserError
from ...ir._nodes import classes
from .. import op
from ..block_builder import BlockBuilder

_Var, _Expr = classes["relax.Var"], classes["RelaxExpr"]


def _builder() -> BlockBuilder:
    builder = BlockBuilder.current()
    if builder is None:
        raise UserError(
            "relax.testing.nn: no function is open\nhelp: build the model inside of bb.function(...)"
        )
    return builder


def emit(expr, name_hint: str = ""):
    """A new variable bound to `expr` in the open function."""
    return _builder().emit(expr, name_hint)


def emit_te(func: Callable, *args, **kwargs):
    """A new variable bound to a call of the loop program that a function of te tensors describes."""
    return _builder().emit_te(func, *args, **kwargs)


def Placeholder(shape, dtype: str = "float32", name: str = "data"):
    """A variable that is no parameter of the model."""
    extents = shape if isinstance(shape, list | tuple | _Expr) else [shape]
    return _Var(name, classes["relax.TensorType"](extents, dtype))


def Parameter(shape, dtype: str = "float32", name: str = "param"):
    """A variable that is a parameter of the model that has it as an attribute."""
    return Placeholder(shape, dtype, name)


class Module:
    """A part of a model: parameters and modules are attributes, forward gives the result."""

    def parameters(self) -> list:
        """The parameters of this and of all modules inside, each once."""
        return _parameters_of(list(vars(self).values()))

    def __call__(self, *args):
        """Calls forward."""
        return self.forward(*args)


def _parameters_of(values) -> list:
    found: list = []
    for value in values:
        if isinstance(value, _Var):
            inner = [value]
        elif isinstance(value, Module):
            inner = value.parameters()
        elif isinstance(value, dict):
            inner = _parameters_of(value.values())
        elif isinstance(value, list | tuple):
            inner = _parameters_of(value)
        else:
            inner = []
        found += [var for var in inner if not any(var.same_as(known) for known in found)]
    return found


class Sequential(Module):
    """Modules one after the other; plain functions count, too."""

    def __init__(self, *modules):
        self.modules = modules

    def append(self, module) -> None:
        """Adds a module at the end."""
        self.modules = (*self.modules, module)

    def __iter__(self):
        return iter(self.modules)

    def __getitem__(self, index):
        return self.modules[index]

    def __len__(self) -> int:
        return len(self.modules)

    def forward(self, x):
        """x through all modules."""
        for module in self.modules:
            x = module(x)
        return x


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x):
        """relax.op.nn.relu."""
        return emit(op.nn.relu(x))


class LogSoftmax(Module):
    """log(softmax(x)) along the last axis."""

    def forward(self, x):
        """relax.op.nn.log_softmax."""
        return emit(op.nn.log_softmax(x))


class Linear(Module):
    """x @ weight + bias, with a weight [in_features, out_features]."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter((in_features, out_features), name="linear_weight")
        self.bias = Parameter((out_features,), name="linear_bias") if bias else None

    def forward(self, x):
        """x [.., in_features] -> [.., out_features]."""
        y = emit(op.matmul(x, self.weight))
        return y if self.bias is None else emit(op.add(y, self.bias))


def init_params(mod, seed: int = 0) -> list:
    """Random tensors between 0 and 1 for the parameters of "main", which have constant shapes."""
    numbers = numpy.random.default_rng(seed)
    values = []
    for param in mod["main"].params:
        shape = [int(extent.value) for extent in param.type.shape.values]
        values.append(runtime.tensor(numbers.random(shape).astype(str(param.type.dtype))))
    return values
