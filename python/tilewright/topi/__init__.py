"""Ready-made tensor expressions over te tensors: topi.add(a, b), topi.sum(x, axis=1), topi.nn.relu(x).

A Python number beside a tensor is a constant of its dtype.
"""

from .._guard import guard_module
from . import (
    _broadcast,
    _creation,
    _elementwise,
    _products,
    _reductions,
    _scatter,
    _shapes,
    _slices,
    _sorting,
    image,
    nn,
    vision,
)

for _module in (
    _elementwise,
    _broadcast,
    _reductions,
    _shapes,
    _slices,
    _creation,
    _sorting,
    _scatter,
    _products,
):
    globals().update(
        {
            _name: _value
            for _name, _value in vars(_module).items()
            if not _name.startswith("_") and getattr(_value, "__module__", None) == _module.__name__
        }
    )

guard_module(__name__, globals(), [_name for _name in globals() if not _name.startswith("_")])
__all__ = ["image", "nn", "vision"]
