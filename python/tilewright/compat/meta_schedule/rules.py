"""ms.schedule_rule and ms.space_generator.PostOrderApply."""

import tilewright as tw
from tilewright import _core, tir, tune
from tilewright.errors import Error, InternalError, Unsupported, UserError
from tilewright.tune.postproc import annotation_text, is_done
from tilewright.tune.space import _core_rule as core_rule

from ..tir_functions import pre_order_visit
from .spaces import (
    PySpaceGenerator,
    ScheduleFn,
    SpaceGeneratorUnion,
    _mutators_of,
    _postprocs_of,
    _WithParts,
    no_target,
    require_cpu,
    require_default,
)

_RULE = "schedule_rule"
_STRUCTURE = "meta_schedule.tiling_structure"


class ScheduleRule:
    """The base class of rules written in Python: apply(sch, block) gives schedules."""

    name = "custom"

    def _initialize_with_tune_context(self, context) -> None:
        """Is not called: a rule is asked about blocks of any program."""

    def apply(self, sch, block) -> list:
        """Schedules that have more steps; [sch] as it was where the rule does not apply."""
        raise Unsupported(f"{type(self).__name__} has no method apply(sch, block)")

    def clone(self):
        """Itself: rules are not copied."""
        return self

    @staticmethod
    def create(kind: str = "llvm") -> list:
        """The rules for a kind of target, as TVM has them."""
        require_cpu("ScheduleRule.create", kind)
        return [
            ApplyCustomRule(),
            InlineConstantScalars(),
            AutoInline(False, True, True, True, True, True, ["tir.exp"]),
            AddRFactor(16, 64),
            MultiLevelTiling("SSRSRS", None, 64, None, None, ReuseType("may", [1, 2], "global")),
            ParallelizeVectorizeUnroll(16, 64, [0, 16, 64, 512], True),
            RandomComputeLocation(),
        ]


class _Native(tune.ScheduleRule):
    """A rule of TVM's form for tilewright's space."""

    def __init__(self, rule, block_filter=None):
        self.rule, self.block_filter = rule, block_filter
        self.name = getattr(rule, "name", "custom")
        if self.name == "custom":
            self.name = type(rule).__name__

    def apply(self, sch, block):
        if self.block_filter is not None and not self.block_filter(sch.get(block)):
            return "f_block_filter leaves it out"
        before = len(sch.trace.insts)
        found = self.rule.apply(sch, block)
        if isinstance(found, str):
            return found
        found = list(found) if isinstance(found, list | tuple) else [found]
        changed = [each for each in found if len(each.trace.insts) > before]
        return changed or "the rule leaves it as it is"


def _values(block) -> list:
    """What a block computes with: names of its operators and kinds of its expressions."""
    found: list = []

    def visit(node) -> None:
        found.append(
            node.op.name if isinstance(node, tir.Call) and hasattr(node.op, "name") else type(node).__name__
        )

    pre_order_visit(block.body, lambda node: visit(node) or True)
    return found


class AutoInline(ScheduleRule):
    """Computes a block where its results are read, or where it reads, as far as the options let it.

    into_producer          also joins the block before it
    into_consumer          joins those after it
    inline_const_tensor    also blocks that read nothing
    disallow_if_then_else  not blocks with a choice
    disallow_op            not blocks that call one of these operators
    require_injective, require_ordered  have to be True for what is joined: other blocks are refused by the steps
    """

    name = "auto_inline"

    def __init__(
        self,
        into_producer: bool,
        into_consumer: bool,
        inline_const_tensor: bool,
        disallow_if_then_else: bool,
        require_injective: bool,
        require_ordered: bool,
        disallow_op: list | None = None,
    ):
        self.into_producer, self.into_consumer = into_producer, into_consumer
        self.inline_const_tensor, self.disallow_if_then_else = inline_const_tensor, disallow_if_then_else
        self.require_injective, self.require_ordered = require_injective, require_ordered
        self.disallow_op = [getattr(each, "name", each) for each in disallow_op or []]

    def apply(self, sch, block):
        node = sch.get(block)
        if not node.reads and not self.inline_const_tensor:
            return "it reads nothing"
        used = _values(node)
        if self.disallow_if_then_else and ("Select" in used or "tir.if_then_else" in used):
            return "it has a choice"
        for name in self.disallow_op:
            if name in used or name.replace("tirx.", "tir.") in used:
                return f"it calls {name}"
        for is_wanted, step in (
            (self.into_consumer, "compute_inline"),
            (self.into_producer, "reverse_compute_inline"),
        ):
            if is_wanted and is_done(lambda: getattr(sch, step)(block)):  # noqa: B023 - called at once
                return [sch]
        return "neither a block before nor after it can take it"


class InlineConstantScalars(ScheduleRule):
    """Computes constants of one element where they are read."""

    name = "inline_constant_scalars"

    def apply(self, sch, block):
        node = sch.get(block)
        is_constant = isinstance(node.body, tir.BufferStore) and isinstance(
            node.body.value, tir.IntImm | tir.FloatImm
        )
        if not is_constant or any(each.dom.extent != 1 for each in node.iter_vars):
            return "it is no constant of one element"
        sch.compute_inline(block)
        return [sch]


class AddRFactor(ScheduleRule):
    """Adds parts of a sum apart from each other, with the inner or the outer part outside.

    max_jobs_per_core     blocks with so many results for each thread are left as they are; default 16
    max_innermost_factor  of the part, default none
    """

    name = "add_rfactor"

    def __init__(self, max_jobs_per_core: int = 16, max_innermost_factor: int | None = None):
        self.max_jobs_per_core, self.max_innermost_factor = max_jobs_per_core, max_innermost_factor

    def apply(self, sch, block):
        node = sch.get(block)
        kinds = [each.iter_type for each in node.iter_vars]
        loops = sch.get_loops(block)
        if node.init is None or "reduce" not in kinds or len(loops) != len(kinds):
            return "it is no sum in loops of its own"
        results = 1
        for each, kind in zip(node.iter_vars, kinds, strict=True):
            results *= int(each.dom.extent) if kind == "spatial" else 1
        if results >= self.max_jobs_per_core * _core.num_threads():
            return "it has results enough for all threads"
        terms = [loop for loop, kind in zip(loops, kinds, strict=True) if kind == "reduce"]
        sums = sch.fuse(*terms) if len(terms) > 1 else terms[0]
        limit = self.max_innermost_factor or 0
        parts = sch.split(sums, sch.sample_perfect_tile(sums, n=2, max_innermost_factor=limit or 64))
        found = [sch.copy() for _ in parts]
        kept = [
            each
            for each, part in zip(found, parts, strict=True)
            if is_done(lambda: each.rfactor(part, len(loops) - len(terms)))  # noqa: B023
        ]
        return kept or "its sum cannot be cut"


class ReuseType:
    """Where a tile is kept.

    req     "no", "may" or "must"
    levels  of tiles, from 1 on
    scope   of the memory
    """

    def __init__(self, req: str, levels: list, scope: str):
        self.req, self.levels, self.scope = req, list(levels), scope

    def as_dict(self) -> dict:
        """{"req", "levels", "scope"}."""
        return dict(vars(self))


class MultiLevelTiling(ScheduleRule):
    """Tiles the loops of a sum on several levels.

    structure             a letter for each level, from outside: S of loops of results, R of terms
    max_innermost_factor  of tiles; default 64
    reuse_write           where results are kept before they are written; default nowhere
    filter_fn             function of (schedule, block) -> bool; default: sums
    Raises                Unsupported for tile_binds, vector_load_lens and reuse_read, which are for GPUs
    """

    name = "multi_level_tiling"

    def __init__(
        self,
        structure: str,
        tile_binds=None,
        max_innermost_factor: int | None = None,
        vector_load_lens=None,
        reuse_read=None,
        reuse_write=None,
        filter_fn=None,
    ):
        require_default(
            "MultiLevelTiling",
            tile_binds=(tile_binds or None, None),
            vector_load_lens=(vector_load_lens or None, None),
            reuse_read=(reuse_read, None),
        )
        if set(structure) != {"S", "R"}:
            raise UserError(f'MultiLevelTiling: the structure is "{structure}", expected letters S and R')
        self.structure, self.max_innermost_factor = structure, max_innermost_factor or 64
        given = reuse_write.as_dict() if isinstance(reuse_write, ReuseType) else reuse_write
        self.reuse_write, self.filter_fn = given or {"req": "no", "levels": [], "scope": "global"}, filter_fn

    def apply(self, sch, block):
        node = sch.get(block)
        kinds = [each.iter_type for each in node.iter_vars]
        if self.filter_fn is not None:
            if not self.filter_fn(sch, block):
                return "filter_fn leaves it out"
        elif node.init is None:
            return "it is no sum"
        if len(sch.get_loops(block)) != len(kinds):
            return "it is not in loops of its own"
        sch.annotate(block, _STRUCTURE, self.structure)
        found = []
        if self.reuse_write["req"] != "must":
            found.append(self._tiled(sch.copy(), block, kinds, None))
        if self.reuse_write["req"] != "no":
            for level in self.reuse_write["levels"]:
                design = sch.copy()
                if is_done(lambda: self._tiled(design, block, kinds, level)):  # noqa: B023
                    found.append(design)
        return found

    def _tiled(self, sch, block, kinds: list, level: int | None):
        writer = None if level is None else sch.cache_write(block, 0, self.reuse_write["scope"])
        letters = {"spatial": "S", "reduce": "R"}
        tiles = [[] for _ in self.structure]
        for loop, kind in zip(sch.get_loops(block), kinds, strict=True):
            places = [n for n, letter in enumerate(self.structure) if letter == letters.get(kind)]
            if len(places) == 1:
                tiles[places[0]].append(loop)
                continue
            sizes = sch.sample_perfect_tile(
                loop, n=len(places), max_innermost_factor=self.max_innermost_factor
            )
            for place, part in zip(places, sch.split(loop, sizes), strict=True):
                tiles[place].append(part)
        sch.reorder(*(loop for level in tiles for loop in level))
        if writer is not None:
            sch.reverse_compute_at(writer, tiles[level - 1][-1], preserve_unit_loops=True)
        return sch


class ParallelizeVectorizeUnroll(ScheduleRule):
    """Annotates the root block with what RewriteParallelVectorizeUnroll then does.

    max_jobs_per_core     parallel iterations for each thread at most; -1: no parallel loop
    max_vectorize_extent  of vectorized loops; -1: none
    unroll_max_steps      choices of how many steps are written out
    unroll_explicit       by this compiler, not by LLVM
    """

    name = "parallelize_vectorize_unroll"

    def __init__(
        self,
        max_jobs_per_core: int = 16,
        max_vectorize_extent: int = 16,
        unroll_max_steps: list | None = None,
        unroll_explicit: bool = True,
    ):
        self.max_jobs_per_core, self.max_vectorize_extent = max_jobs_per_core, max_vectorize_extent
        self.unroll_max_steps, self.unroll_explicit = list(unroll_max_steps or []), unroll_explicit

    def apply(self, sch, block):
        root = sch.get_block("root")
        if any(str(key).startswith("meta_schedule.") for key in sch.get(root).annotations):
            return "the root block is annotated already"
        if self.max_jobs_per_core > 0:
            sch.annotate(root, "meta_schedule.parallel", self.max_jobs_per_core * _core.num_threads())
        if self.max_vectorize_extent > 0:
            sch.annotate(root, "meta_schedule.vectorize", self.max_vectorize_extent)
        how = "explicit" if self.unroll_explicit else "implicit"
        found = [sch.copy() for _ in self.unroll_max_steps]
        for each, steps in zip(found, self.unroll_max_steps, strict=True):
            each.annotate(root, f"meta_schedule.unroll_{how}", steps)
        return found or [sch]


class RandomComputeLocation(ScheduleRule):
    """Computes a block that others read at a sampled place."""

    name = "compute_location"

    def apply(self, sch, block):
        if not sch.get_consumers(block) or sch.get(block).init is not None:
            return "no block reads what it computes element by element"
        place = sch.sample_compute_location(block)
        sch.compute_at(block, place, preserve_unit_loops=True)
        return [sch]


class ApplyCustomRule(ScheduleRule):
    """Calls the registered function meta_schedule.cpu.NAME, or meta_schedule.llvm.NAME, for blocks with the annotation schedule_rule
    NAME; "None" asks for no rule."""

    name = "apply_custom_rule"

    def apply(self, sch, block):
        name = annotation_text(sch.get(block), _RULE)
        if name in ("", "None"):
            return "it asks for no rule by the annotation schedule_rule"
        for key in ("cpu", "llvm"):
            function = tw.get_global_func(f"meta_schedule.{key}.{name}", allow_missing=True)
            if function is not None:
                return list(function(sch, block))
        raise UserError(
            f'no function "meta_schedule.cpu.{name}" is registered\n'
            "help: register one by tvm.register_global_func, a function of (schedule, block) that returns schedules"
        )


def _custom_blocks(module) -> list[str]:
    """The names of blocks with the annotation schedule_rule."""
    found: list = []

    def visit(node) -> bool:
        if isinstance(node, tir.Block) and annotation_text(node, _RULE):
            found.append(node.name_hint)
        return True

    for _, func in module.functions_items():
        pre_order_visit(func.body, visit)
    return found


def _with_intrinsics(*args, **named):
    """Tiling for a tensor intrinsic: refused.

    Raises Unsupported
    """
    raise Unsupported(
        "MultiLevelTilingWithIntrin: intrinsics are chosen by the default space\n"
        "help: leave sch_rules out, or tensorize in a ScheduleFn space"
    )


RULES = {
    "ScheduleRule": ScheduleRule,
    "PyScheduleRule": ScheduleRule,
    "AddRFactor": AddRFactor,
    "ApplyCustomRule": ApplyCustomRule,
    "AutoInline": AutoInline,
    "InlineConstantScalars": InlineConstantScalars,
    "MultiLevelTiling": MultiLevelTiling,
    "MultiLevelTilingWithIntrin": _with_intrinsics,
    "ParallelizeVectorizeUnroll": ParallelizeVectorizeUnroll,
    "RandomComputeLocation": RandomComputeLocation,
    "ReuseType": ReuseType,
    "AutoBind": no_target("AutoBind", "GPUs"),
    "CrossThreadReduction": no_target("CrossThreadReduction", "GPUs"),
    "MultiLevelTilingTensorCore": no_target("MultiLevelTilingTensorCore", "GPUs"),
    "MultiLevelTilingWideVector": no_target("MultiLevelTilingWideVector", "Hexagon"),
}


class PostOrderApply(_WithParts, tune.DefaultSpace):
    """The default space, or that of rules; candidates of rules that are given pass `postprocs`.

    f_block_filter  function of a block: rules are asked about those for which it is true; default all
    sch_rules       a list of rules, or "llvm": those of TVM; default "from-target": the default space
    """

    def __init__(
        self,
        f_block_filter=None,
        sch_rules="from-target",
        postprocs="from-target",
        mutator_probs="from-target",
    ):
        is_default = sch_rules in (None, "from-target")
        if is_default:
            require_default("PostOrderApply", f_block_filter=(f_block_filter, None))
            super().__init__()
        else:
            rules = ScheduleRule.create(sch_rules) if isinstance(sch_rules, str) else list(sch_rules)
            super().__init__(rules=[_Native(each, f_block_filter) for each in rules])
            self.has_plans, self.name = False, "rules"
            self._custom = next((each for each in rules if isinstance(each, ApplyCustomRule)), None)
        self.sch_rules = None if is_default else rules
        # what the rules of the default space make needs no postprocessing
        has_none = postprocs is None or (is_default and postprocs == "from-target")
        self.postprocs = [] if has_none else _postprocs_of(postprocs)
        self.mutators = _mutators_of(mutator_probs)

    def explained(self, task):
        # a block that asks for a registered function gets no other rule
        if self.sch_rules is not None and self._custom is not None:
            rule = core_rule(_Native(self._custom))
            self._by_block = dict.fromkeys(_custom_blocks(task.module), rule)
        return super().explained(task)


def create_space(kind="post-order-apply", *args, **named):
    """The space of a name, "post-order-apply" or "union", of a function, or what is one already."""
    if isinstance(kind, tune.SpaceGenerator):
        return kind
    if callable(kind):
        return ScheduleFn(kind, *args, **named)
    kinds = {"post-order-apply": PostOrderApply, "union": SpaceGeneratorUnion}
    if not isinstance(kind, str) or kind not in kinds:
        raise UserError(f'space is {kind!r}, expected "post-order-apply", a function or a SpaceGenerator')
    return kinds[kind](*args, **named)


PySpaceGenerator.create = staticmethod(create_space)
