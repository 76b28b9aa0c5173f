"""Matmuls by a CBLAS library that is on this machine, as an example of external code; off unless asked for.

from tilewright.relax import cblas, transform
if cblas.is_available():
    mod = transform.FuseOpsByPattern(cblas.patterns(), annotate_codegen=True)(mod)
    mod = transform.RunCodegen()(mod)
"""

import ctypes
import functools

import numpy

from ..errors import UserError
from ..ir._nodes import classes
from .external import called_function, register_codegen
from .pattern import is_op, wildcard

_Constant = classes["relax.Constant"]

# where Debian, conda and the BLAS reference put cblas_sgemm
_LIBRARIES = ("libopenblas.so.0", "libcblas.so.3", "libblas.so.3", "libopenblas.so")
_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112
_GEMM = {
    "float32": ("cblas_sgemm", ctypes.c_float),
    "float64": ("cblas_dgemm", ctypes.c_double),
}


@functools.cache
def _library() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        if hasattr(library, "cblas_sgemm"):
            return library
    return None


def is_available() -> bool:
    """True if a CBLAS library can be loaded here (Debian: libblas3, libopenblas0)."""
    return _library() is not None


def _fits(context) -> bool:
    """float32 or float64; a matrix on the right, a row as bias."""
    parts = {name: expr.type for name, expr in context.annotated_expr.items()}
    left, right, bias = (parts.get(name) for name in ("x", "w", "bias"))
    result = context.matched_expr.type
    permutes = [
        value.attrs.get("axes")
        for value in context.matched_bindings.values()
        if value.op.name == "relax.permute_dims"
    ]
    return (
        str(result.dtype) in _GEMM
        and left.dtype == right.dtype == result.dtype
        and left.ndim >= 2
        and right.ndim == 2
        and (bias is None or (bias.dtype == result.dtype and bias.ndim == 1))
        and all(not axes or [int(axis) for axis in axes] == [1, 0] for axes in permutes)
    )


def patterns() -> list:
    """Rows for FuseOpsByPattern: matmul, with its right side transposed or not, with a bias or not."""
    rows = []
    for with_bias in (True, False):
        for is_transposed in (True, False):
            x, w, bias = wildcard(), wildcard(), wildcard()
            right = is_op("relax.permute_dims")(w) if is_transposed else w
            product = is_op("relax.matmul")(x, right)
            whole = is_op("relax.add")(product, bias) if with_bias else product
            parts = {"x": x, "w": w, **({"bias": bias} if with_bias else {})}
            name = "cblas.matmul" + "_transposed" * is_transposed + "_bias" * with_bias
            rows.append((name, whole, parts, _fits))
    return rows


def _array(tensor) -> numpy.ndarray:
    """The elements of `tensor`, not copied, to read and to write."""
    if isinstance(tensor, numpy.ndarray):
        return tensor
    view = numpy.from_dlpack(tensor)
    _, number = _GEMM[str(view.dtype)]
    return numpy.ctypeslib.as_array(ctypes.cast(view.ctypes.data, ctypes.POINTER(number)), view.shape)


def _gemm(x: numpy.ndarray, w: numpy.ndarray, bias, out: numpy.ndarray, is_transposed: bool) -> None:
    name, number = _GEMM[str(out.dtype)]
    rows, inner, columns = x.size // max(x.shape[-1], 1), x.shape[-1], out.shape[-1]
    if bias is None:
        out[...] = 0
    else:
        out[...] = bias
    if 0 in (rows, inner, columns):
        return
    pointer = ctypes.POINTER(number)
    getattr(_library(), name)(
        _ROW_MAJOR,
        _PLAIN,
        _TRANSPOSED if is_transposed else _PLAIN,
        *(ctypes.c_int(extent) for extent in (rows, columns, inner)),
        number(1),
        x.ctypes.data_as(pointer),
        ctypes.c_int(inner),
        w.ctypes.data_as(pointer),
        ctypes.c_int(w.shape[1]),
        number(1),
        out.ctypes.data_as(pointer),
        ctypes.c_int(columns),
    )


class _Step:
    """One composite function as a call of cblas_?gemm: where its operands come from."""

    def __init__(self, func, operands: list):
        self.is_transposed = "_transposed" in str(func.attrs["Composite"])
        values = dict(zip(func.params, operands, strict=True))
        calls = {
            binding.value.op.name: binding.value for block in func.body.blocks for binding in block.bindings
        }
        product = calls["relax.matmul"]
        right = calls["relax.permute_dims"].args[0] if self.is_transposed else product.args[1]
        self.x, self.w = self._source(product.args[0], values), self._source(right, values)
        total = calls.get("relax.add")
        self.bias = self._source(total.args[1], values) if total is not None else None

    @staticmethod
    def _source(arg, values: dict):
        return arg.data.numpy() if isinstance(arg, _Constant) else values[arg]


@register_codegen("cblas")
def _generate(func, mod, options):
    if not is_available():
        raise UserError(
            f"cblas: none of {', '.join(_LIBRARIES)} can be loaded\nhelp: install libblas3 or libopenblas0"
        )
    values: dict = {param: n for n, param in enumerate(func.params)}
    steps = []
    for block in func.body.blocks:
        for binding in block.bindings:
            _, composite = called_function(binding.value, mod)
            operands = [
                arg.data.numpy() if isinstance(arg, _Constant) else values[arg] for arg in binding.value.args
            ]
            steps.append(_Step(composite, operands))
            values[binding.var] = len(values)

    def run(*tensors):
        *given, out = map(_array, tensors)
        for n, step in enumerate(steps):
            x, w, bias = (
                given[part] if isinstance(part, int) else part for part in (step.x, step.w, step.bias)
            )
            is_last = n == len(steps) - 1
            columns = w.shape[0] if step.is_transposed else w.shape[1]
            result = out if is_last else numpy.empty((*x.shape[:-1], columns), out.dtype)
            _gemm(x, w, bias, result, step.is_transposed)
            given.append(result)

    return run
