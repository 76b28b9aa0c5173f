"""Postprocessors: checks and changes of candidates before they are built."""

from .. import tir
from ..errors import Error, InternalError, Unsupported, UserError
from ..schedule import Schedule

_PARALLEL, _VECTORIZE = "meta_schedule.parallel", "meta_schedule.vectorize"
_UNROLL = {"meta_schedule.unroll_explicit": 1, "meta_schedule.unroll_implicit": 0}
_TENSORIZE = "meta_schedule.auto_tensorize"


class Postproc:
    """Checks or changes each candidate; a subclass needs apply(sch).

    >>> class FewSteps(tilewright.tune.Postproc):
    ...     def apply(self, sch):
    ...         return len(str(sch.trace)) < 5000
    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=1, postprocs=[FewSteps()])
    """

    def apply(self, sch: Schedule) -> bool:
        """False, or a step that is refused: the candidate is left out; steps that it makes are part of the candidate."""
        raise Unsupported(
            f"{type(self).__name__} has no method apply(sch)\nhelp: define it, as tune.DisallowDynamicLoop does"
        )


def as_function(postproc: Postproc):
    """A function from a schedule's core to that of the schedule after it; None where the candidate is left out."""

    def run(core):
        sch = Schedule._of(core)
        try:
            return sch._core if postproc.apply(sch) else None
        except InternalError:
            raise
        except Error:
            return None

    return run


def checked_postprocs(postprocs) -> list[Postproc]:
    """A list of postprocessors.

    Raises UserError for what is none, and Unsupported for one without apply
    """
    found = list(postprocs)
    for each in found:
        if not isinstance(each, Postproc):
            raise UserError(f"postprocs has a Python {type(each).__name__}, expected tune.Postproc")
        if type(each).apply is Postproc.apply:
            each.apply(None)
    return found


def _nodes(node, kind):
    """The nodes of a kind in a program, from the top."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, list | tuple):
        for each in node:
            yield from _nodes(each, kind)
    elif isinstance(node, tir.PrimFunc | tir.Stmt):
        for name in node.field_names:
            yield from _nodes(getattr(node, name), kind)


def _functions(sch: Schedule):
    """(name, root block) of each function that has blocks."""
    for var, func in sch.mod.functions_items():
        if isinstance(func, tir.PrimFunc) and next(_nodes(func, tir.BlockRealize), None) is not None:
            yield var.name_hint, sch.get_block("root", func_name=var.name_hint)


def _blocks(sch: Schedule):
    """All blocks below the roots, outer ones first."""
    waiting = [root for _, root in _functions(sch)]
    while waiting:
        for block in sch.get_child_blocks(waiting.pop(0)):
            waiting.append(block)
            yield block


class DisallowDynamicLoop(Postproc):
    """Leaves out candidates with loops whose extent is not known.

    >>> postprocs = [tilewright.tune.DisallowDynamicLoop()]
    """

    def apply(self, sch: Schedule) -> bool:
        return all(
            isinstance(loop.extent, tir.IntImm)
            for var, func in sch.mod.functions_items()
            if isinstance(func, tir.PrimFunc)
            for loop in _nodes(func, tir.For)
        )


class RewriteReductionBlock(Postproc):
    """Sets the results of sums to their first value in blocks of their own, before the loops that add.

    >>> postprocs = [tilewright.tune.RewriteReductionBlock()]
    """

    def apply(self, sch: Schedule) -> bool:
        for block in list(_blocks(sch)):
            if sch.get(block).init is not None:
                self._decompose(sch, block)
        return True

    def _decompose(self, sch: Schedule, block) -> None:
        # the innermost loop that has all loops of the sum inside of it or is one of them
        for loop in reversed(sch.get_loops(block)):
            if is_done(lambda: sch.decompose_reduction(block, loop)):  # noqa: B023 - called at once
                return


def is_done(step) -> bool:
    """True if a call that takes steps succeeds; False if one of them is refused."""
    try:
        step()
    except InternalError:
        raise
    except Error:
        return False
    return True


class RewriteParallelVectorizeUnroll(Postproc):
    """Does what annotations of the root block ask for, in each block directly below it.

    meta_schedule.parallel   the outer loops whose extents multiply to at most so many become one parallel loop
    meta_schedule.vectorize  the inner ones become one vectorized loop
    meta_schedule.unroll_explicit, meta_schedule.unroll_implicit  the limit of steps that are written out
    >>> postprocs = [tilewright.tune.RewriteParallelVectorizeUnroll()]
    """

    def apply(self, sch: Schedule) -> bool:
        for _, root in list(_functions(sch)):
            wanted = {}
            for key in (_PARALLEL, _VECTORIZE, *_UNROLL):
                value = sch.get(root).annotations.get(key)
                if value is not None:
                    wanted[key] = int(value)
                    sch.unannotate(root, key)
            for block in sch.get_child_blocks(root) if wanted else []:
                self._rewrite(sch, block, wanted)
        return True

    def _rewrite(self, sch: Schedule, block, wanted: dict) -> None:
        self._fused(sch, sch.get_loops(block), wanted.get(_PARALLEL, 0), sch.parallel)
        self._fused(sch, sch.get_loops(block)[::-1], wanted.get(_VECTORIZE, 0), sch.vectorize)
        loops = sch.get_loops(block)
        for key, is_explicit in _UNROLL.items():
            if wanted.get(key, 0) > 0 and loops:
                sch.annotate(loops[0], "pragma_auto_unroll_max_step", wanted[key])
                sch.annotate(loops[0], "pragma_unroll_explicit", is_explicit)

    def _fused(self, sch: Schedule, loops: list, limit: int, make) -> None:
        """Fuses the first of `loops`, from outside or inside, as far as `limit` and their order of summation let it."""
        count, product = 0, 1
        for loop in loops:
            node = sch.get(loop)
            product *= int(node.extent) if isinstance(node.extent, tir.IntImm) else limit + 1
            if product > limit or node.for_kind != "serial":
                break
            count += 1
        for n in range(count, 0, -1):
            chosen = loops[:n] if make.__name__ == "parallel" else loops[:n][::-1]
            trial = sch.copy()
            if is_done(lambda: getattr(trial, make.__name__)(_joined(trial, chosen))):  # noqa: B023
                make(_joined(sch, chosen))
                return


def _joined(sch: Schedule, loops: list):
    return sch.fuse(*loops) if len(loops) > 1 else loops[0]


class RewriteTensorize(Postproc):
    """Replaces blocks with the annotation meta_schedule.auto_tensorize by the intrinsic that it names.

    A candidate in which one does not fit is left out.
    >>> postprocs = [tilewright.tune.RewriteTensorize()]
    """

    def apply(self, sch: Schedule) -> bool:
        # a block that is replaced takes those inside of it along
        while (
            block := next(filter(lambda each: annotation_text(sch.get(each), _TENSORIZE), _blocks(sch)), None)
        ) is not None:
            name = annotation_text(sch.get(block), _TENSORIZE)
            sch.unannotate(block, _TENSORIZE)
            sch.tensorize(block, name)
        return True


def annotation_text(block, key: str) -> str:
    """The text of an annotation of a Block; "" without one."""
    name = block.annotations.get(key, "")
    return str(getattr(name, "value", name))


__all__ = [
    "DisallowDynamicLoop",
    "Postproc",
    "RewriteParallelVectorizeUnroll",
    "RewriteReductionBlock",
    "RewriteTensorize",
]
