"""What tvm.topi's schedules decide: plain loops on the cores of a processor, or on the threads of a GPU."""

from tilewright import te
from tilewright.ir._nodes import classes

from ..target import Target
from ..te_schedule import NAMES as TE_NAMES

_COMPUTE, _REDUCE = classes["te.Compute"], classes["tir.Reduce"]
_KINDS_OF_GPU = ("cuda", "opencl", "metal")
_THREADS, _LANES = 64, 16


def is_gpu(target=None) -> bool:
    """True if `target`, else the current one, is a GPU."""
    target = target or Target.current()
    return target is not None and Target(target).kind in _KINDS_OF_GPU


def listed(outs) -> list:
    """The tensors to schedule, one or several."""
    return list(outs) if isinstance(outs, list | tuple) else [outs]


def scheduled(outs, on_gpu: bool, with_inlining: bool):
    """A schedule of the tensors `outs` and of what computes them.

    on_gpu         whether loops are bound to blocks and threads, else the outer ones run on the cores of a processor
    with_inlining  whether elements that need no sum are computed where they are read
    """
    outputs = [each.op if isinstance(each, te.Tensor) else each for each in listed(outs)]
    s = TE_NAMES["create_schedule"](outputs)
    kept = [op for op in (stage.op for stage in s.stages) if isinstance(op, _COMPUTE)]
    if with_inlining:
        for op in kept:
            if _is_inlined(s, op, outputs):
                s[op].compute_inline()
    for op in kept:
        if s[op].attach_type != _INLINE:
            place(s, op, on_gpu)
    return s


_INLINE = 2


def _is_inlined(s, op, outputs: list) -> bool:
    """True if `op` is no result, computes one value an element without a sum, and only such formulas read it."""
    if any(op.same_as(each) for each in outputs) or is_reduction(op) or len(op.body) != 1:
        return False
    readers = [
        stage.op for stage in s.stages if any(tensor.op.same_as(op) for tensor in stage.op.input_tensors)
    ]
    return all(isinstance(each, _COMPUTE) for each in readers)


def is_reduction(op) -> bool:
    """True if each element of `op` is a sum, a maximum or the like."""
    return isinstance(op.body[0], _REDUCE)


def place(s, op, on_gpu: bool) -> None:
    """Decides where the loops of one operation run."""
    axes = list(op.axis)
    if not axes:
        return
    if on_gpu:
        _on_threads(s[op], axes)
    else:
        _on_cores(s[op], axes, is_reduction(op))


def _on_threads(stage, axes: list) -> None:
    fused = stage.fuse(*axes) if len(axes) > 1 else axes[0]
    block, thread = stage.split(fused, factor=_THREADS)
    stage.bind(block, TE_NAMES["thread_axis"]("blockIdx.x"))
    stage.bind(thread, TE_NAMES["thread_axis"]("threadIdx.x"))


def _on_cores(stage, axes: list, has_reduction: bool) -> None:
    """The outer loops are one parallel loop; the innermost becomes vectors, if its extent allows it."""
    lanes = 1 if has_reduction else _lanes(axes[-1].dom.extent)
    if lanes > 1:
        outer, inner = stage.split(axes[-1], factor=lanes)
        stage.vectorize(inner)
        axes = [*axes[:-1], outer]
    elif not has_reduction and len(axes) > 1:
        axes = axes[:-1]
    stage.parallel(stage.fuse(*axes) if len(axes) > 1 else axes[0])


def _lanes(extent) -> int:
    """The largest power of two, up to _LANES, that divides a known extent."""
    known = getattr(extent, "value", None)
    if not isinstance(known, int) or known < 1:
        return 1
    return min(known & -known, _LANES)
