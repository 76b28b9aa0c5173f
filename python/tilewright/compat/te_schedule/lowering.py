"""tvm.lower and tvm.build of a schedule by stages."""

from tilewright import ir, te, tir
from tilewright.errors import UserError
from tilewright.ir._nodes import classes

_VAR = classes["tir.Var"]


def scheduled(schedule, args, name: str = "main", binds: dict | None = None):
    """The module of loop programs that a schedule by stages describes.

    args   tensors, buffers of `binds` and scalar variables in the order of the function's parameters
    name   of the function; default "main"
    binds  {tensor: the buffer that holds it}; default compact memory, and for a tensor with a variable among its extents one
           whose strides are variables, too
    Raises UserError for a decision that is not legal: the text names the stage
    """
    buffers = dict(binds or {})
    of_buffer = {buffer: tensor for tensor, buffer in buffers.items()}
    args = [of_buffer.get(arg, arg) for arg in _listed(args)]
    tensors = [arg for arg in args if isinstance(arg, te.Tensor)]
    for tensor in tensors:
        if tensor not in buffers and any(isinstance(extent, _VAR) for extent in tensor.shape):
            buffers[tensor] = _strided(tensor)
    given = [tensor for tensor in tensors if tensor in buffers]
    _, func = schedule._core.replay(args, name, given, [buffers[tensor] for tensor in given])
    return ir.IRModule({name: func})


def _listed(args) -> list:
    if not isinstance(args, list | tuple):
        raise UserError(
            f"the arguments of a schedule are a list, as [A, B, C], not a Python {type(args).__name__}"
        )
    return list(args)


def _strided(tensor):
    """A buffer whose strides are variables."""
    strides = [tir.Var("stride", extent.dtype) for extent in tensor.shape]
    return tir.decl_buffer(tensor.shape, tensor.dtype, tensor.name).replace(strides=strides)
