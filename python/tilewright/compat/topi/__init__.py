"""tvm.topi: the functions of tilewright.topi, and below this folder those of TVM's spellings, a file for each family.

A file has NAMES, {module below tvm.topi ("" is itself): {name: object}}.  What a file gives wins over tilewright's own.
"""

import importlib
import pkgutil

from tilewright import topi

#: modules of TVM that hold functions of tilewright.topi under their own names
_NATIVE = {
    "math": "exp exp2 exp10 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid"
    " erf floor ceil trunc round abs negative sign isnan isinf isfinite cast clip reinterpret identity popcount",
    "broadcast": "broadcast_to",
    "tensor": "full full_like eye",
    "reduction": "sum prod max min any all collapse_sum",
    "transform": "expand_dims transpose flip reverse_sequence reshape squeeze concatenate stack split where repeat tile"
    " tensordot index_tensor",
    "searchsorted": "",
    "einsum": "einsum",
    "slice_scatter": "slice_scatter",
    "index_put": "index_put",
    "scatter_elements": "scatter_elements",
}


def _functions(module) -> dict:
    """The public functions of a module of tilewright.topi."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith(module.__name__)
    }


def _collected() -> dict:
    """{module below tvm.topi: {name: object}}"""
    found: dict[str, dict] = {"": _functions(topi)}
    for module in ("nn", "image", "vision"):
        found[module] = _functions(getattr(topi, module))
    for module, names in _NATIVE.items():
        found[module] = {name: getattr(topi, name) for name in names.split()}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_"):
            continue
        for module, names in importlib.import_module(f"{__name__}.{info.name}").NAMES.items():
            found.setdefault(module, {}).update(names)
    return found


_NAMES = _collected()
#: the rows of ../tables.py
MODULES = {
    f"tvm.topi.{module}" if module else "tvm.topi": lambda names=names: dict(names)
    for module, names in _NAMES.items()
}
