"""te.hybrid.script: the decorator."""

import ast
import functools
import inspect
import textwrap
import types

from tilewright import te
from tilewright.errors import UserError

from .errors import Source
from .functions import PLAIN
from .statements import Tracing


def script(function):
    """A function of tensors: called with those of te it is an operation, called with numpy arrays it runs as Python.

    Inside there are loops (range, serial, parallel, vectorized, unroll, const_range, bind), if, assignments to elements
    and scalars, `output_tensor(shape, dtype)` for results, `allocate(shape, dtype, scope)` for what is needed on the way, and math.

    Returns  a tensor, or a list of them if the function returns several
    Raises   UserError or Unsupported with the line that is wrong

        @te.hybrid.script
        def outer(a, b):
            c = output_tensor((a.shape[0], b.shape[0]), "float32")
            for i in range(a.shape[0]):
                for j in range(b.shape[0]):
                    c[i, j] = a[i] * b[j]
            return c
    """

    @functools.wraps(function)
    def wrapped(*args):
        if any(isinstance(arg, te.Tensor) for arg in args):
            return _operation(function, args)
        names = {**PLAIN, **function.__globals__}
        plain = types.FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        )
        return plain(*args)

    return wrapped


def _source_of(function) -> tuple:
    try:
        lines, first_line = inspect.getsourcelines(function)
        filename = inspect.getsourcefile(function) or "<unknown>"
    except (OSError, TypeError):
        raise UserError(
            f"te.hybrid.script: the source of {function.__qualname__} cannot be found\n"
            "help: define it in a file or a notebook cell"
        ) from None
    removed = len(lines[0]) - len(lines[0].lstrip())
    text = textwrap.dedent("".join(lines))
    return ast.parse(text).body[0], Source(filename, first_line, text.splitlines(), removed)


def _operation(function, args):
    definition, source = _source_of(function)
    names = [arg.arg for arg in definition.args.args]
    if len(names) != len(args):
        raise UserError(
            f"te.hybrid.script: {function.__name__} takes {len(names)} arguments, but {len(args)} are given"
        )
    captured = inspect.getclosurevars(function)
    tracing = Tracing(source, {**captured.globals, **captured.nonlocals})
    tensors, buffers = [], []
    for name, arg in zip(names, args, strict=True):
        if isinstance(arg, te.Tensor):
            tensors.append(arg)
            buffers.append(tracing.add_input(name, arg))
        else:
            tracing.add_value(name, arg)
    tracing.run(definition.body)
    if not tracing.results:
        raise source.error(
            definition, f"{function.__name__} returns no tensor", "return what output_tensor gave"
        )
    outputs = [result.buffer for result in tracing.results]
    return te.extern(
        [list(buffer.shape) for buffer in outputs],
        tensors,
        lambda ins, outs: tracing.body(),
        name=function.__name__,
        dtype=[buffer.dtype for buffer in outputs],
        in_buffers=buffers,
        out_buffers=outputs,
    )
