"""Models as classes: modules with parameters and a forward method over tensors that only have a type.

class Net(nn.Module):
    def __init__(self):
        self.fc1 = nn.Linear(784, 128)

    def forward(self, x):
        return nn.op.relu(self.fc1(x))

mod, params = Net().export_tvm({"forward": {"x": nn.spec.Tensor(["n", 784], "float32")}})
"""

from ...._guard import guard_module
from . import _sugar as _sugar
from . import op, spec
from .core import (
    Effect,
    Module,
    ModuleDict,
    ModuleList,
    Object,
    Parameter,
    ParameterDict,
    ParameterList,
    Sequential,
    Tensor,
    get_default_dtype,
    set_default_dtype,
)
from .diffusion import Attention, TimestepEmbedding, Timesteps
from .modules import (
    GELU,
    Conv1D,
    Conv2D,
    Conv3D,
    ConvTranspose1D,
    Embedding,
    GroupNorm,
    Identity,
    IOEffect,
    LayerNorm,
    Linear,
    ReLU,
    RMSNorm,
    SiLU,
)
from .op import *  # noqa: F403 - nn.add and nn.op.add are both written
from .op import __all__ as _operators
from .subroutine import SubroutineMixin
from .visitor import Mutator

__all__ = [
    "GELU",
    "Attention",
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "ConvTranspose1D",
    "Effect",
    "Embedding",
    "GroupNorm",
    "IOEffect",
    "Identity",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Mutator",
    "Object",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "SubroutineMixin",
    "Tensor",
    "TimestepEmbedding",
    "Timesteps",
    "get_default_dtype",
    "op",
    "set_default_dtype",
    "spec",
]  # fmt: skip
guard_module(__name__, globals(), [name for name in __all__ if name not in ("op", "spec")])
__all__ = __all__ + _operators  # noqa: PLE0605 - a list of the names of op.py
