"""What tvm.topi's schedules decide: plain loops on the cores of a processor, or on the threads of a GPU."""

from tilewright import te
from tilewright.errors import Unsupported
from tilewright.ir._nodes import classes

from ..target import Target
from ..te_schedule import NAMES as TE_NAMES

_COMPUTE, _EXTERN, _REDUCE = classes["te.Compute"], classes["te.Extern"], classes["tir.Reduce"]
_KINDS_OF_GPU = ("cuda", "opencl", "metal")
_THREADS, _MOST_THREADS, _LANES = 64, 256, 16


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
    for stage in s.stages:
        if on_gpu and isinstance(stage.op, _EXTERN):
            raise Unsupported(
                f'{stage.op.name} is computed by a function of the host, which a GPU does not call\nhelp: schedule and build it for "llvm"'
            )
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
    if on_gpu and axes:
        _on_threads(s[op], axes, is_reduction(op))
    elif on_gpu:
        _as_one_number(s, op)
    elif axes:
        _on_cores(s[op], axes, is_reduction(op))


def _on_threads(stage, axes: list, has_reduction: bool) -> None:
    """Elements are fused and cut into blocks of _THREADS threads.  Of a reduction the inner loops as they are become threads and
    the outer ones blocks: of a cut across loops nobody could prove that threads write different sums."""
    if not has_reduction:
        block, thread = stage.split(_fused(stage, axes), factor=_THREADS)
        stage.bind(block, _thread("blockIdx.x"))
        stage.bind(thread, _thread("threadIdx.x"))
        return
    inner = [axes[n:] for n in range(1, len(axes)) if 0 < _total(axes[n:]) <= _MOST_THREADS]
    threads = inner[0] if inner else []
    stage.bind(_fused(stage, axes[: len(axes) - len(threads)]), _thread("blockIdx.x"))
    if threads:
        stage.bind(_fused(stage, threads), _thread("threadIdx.x"))


def _as_one_number(s, op) -> None:
    """A sum without dimensions: each of _THREADS threads adds a part, and they add these."""
    tensor = op.output(0)
    if not is_reduction(op) or len(op.body) != 1:
        return
    _, part = s[tensor].split(_fused(s[tensor], list(op.reduce_axis)), factor=_THREADS)
    parts = s.rfactor(tensor, part)
    of_parts = s[tensor].op.reduce_axis[0]
    s[tensor].bind(of_parts, _thread("threadIdx.x"))
    s[parts].compute_at(s[tensor], of_parts)


def _thread(tag: str):
    return TE_NAMES["thread_axis"](tag)


def _fused(stage, axes: list):
    return stage.fuse(*axes) if len(axes) > 1 else axes[0]


def _total(axes: list) -> int:
    """The number of iterations of all loops together; 0 if it is known only when the program runs."""
    total = 1
    for axis in axes:
        extent = getattr(axis.dom.extent, "value", None)
        total *= extent if isinstance(extent, int) else 0
    return total


def _on_cores(stage, axes: list, has_reduction: bool) -> None:
    """The outer loops are one parallel loop; the innermost becomes vectors, if its extent allows it."""
    lanes = 1 if has_reduction else _lanes(axes[-1].dom.extent)
    if lanes > 1:
        outer, inner = stage.split(axes[-1], factor=lanes)
        stage.vectorize(inner)
        axes = [*axes[:-1], outer]
    elif not has_reduction and len(axes) > 1:
        axes = axes[:-1]
    stage.parallel(_fused(stage, axes))


def _lanes(extent) -> int:
    """The largest power of two, up to _LANES, that divides a known extent."""
    known = getattr(extent, "value", None)
    if not isinstance(known, int) or known < 1:
        return 1
    return min(known & -known, _LANES)
