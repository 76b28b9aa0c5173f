"""tvm.relax.testing: modules made for tests."""

from tilewright import relax


def get_relax_attention_module(
    q_shape, k_shape, v_shape, *, dtype, bias_shape=None, qk_scale=None, causal_mask=None, window_size=None
):
    """main(q, k, v[, bias]): attention of [batch, sequence, heads, features]."""
    shapes = {"q": q_shape, "k": k_shape, "v": v_shape, **({"bias": bias_shape} if bias_shape else {})}
    params = [relax.Var(name, relax.TensorType(shape, dtype)) for name, shape in shapes.items()]
    scale = None if qk_scale is None else float(getattr(qk_scale, "value", qk_scale))
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        with builder.dataflow():
            call = relax.op.nn.attention(
                *params, scale=scale, causal_mask=causal_mask, window_size=window_size
            )
            result = builder.emit_output(call)
        builder.emit_func_output(result)
    return builder.get()


def _marked(values, mark):
    if isinstance(values, list | tuple):
        return tuple(_marked(value, mark) for value in values)
    return mark(values) if hasattr(values, "type") else values


def _between_marks(func, args, kwargs, bind):
    start, end = (
        lambda value, mark=mark: bind(mark(value))
        for mark in (relax.op.grad.start_checkpoint, relax.op.grad.end_checkpoint)
    )
    result = func(*_marked(args, start), **{name: _marked(value, start) for name, value in kwargs.items()})
    return _marked(result, end)


def checkpoint(func, *args, **kwargs):
    """The result of `func`; the backward pass of a gradient computes its bindings again instead of keeping them."""
    return _between_marks(func, args, kwargs, lambda value: value)


def emit_checkpoint(func, *args, **kwargs):
    """checkpoint, whose marks and result are bound by the open BlockBuilder."""
    return _between_marks(func, args, kwargs, relax.BlockBuilder.current().emit)


def emit_checkpoint_sequential(functions, segments, input, checkpoint_last: bool = False):
    """Functions one after the other, a checkpoint for each segment of them: so many equal ones, or their lengths."""
    functions = list(functions)
    if isinstance(segments, int):
        length = len(functions) // segments
        segments = [length] * (segments - 1) + [len(functions) - length * (segments - 1)]
    begin = 0
    for number, length in enumerate(segments):
        part = functions[begin : begin + length]
        begin += length

        def run(value, part=part):
            for function in part:
                value = function(value)
            return value

        is_last = number == len(segments) - 1
        input = run(input) if is_last and not checkpoint_last else emit_checkpoint(run, input)
    return input


CHECKPOINTS = {made.__name__: made for made in (checkpoint, emit_checkpoint, emit_checkpoint_sequential)}
NAMES = {"get_relax_attention_module": get_relax_attention_module}
