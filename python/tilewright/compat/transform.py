"""tvm.ir.transform and tvm.tir.transform: passes under TVM's names.  Those of loop programs run steps of our lowering."""

import functools
import inspect
import re

import tilewright as tw
from tilewright import _core, arith, relax, tir, transform
from tilewright.errors import Unsupported, UserError


class ModulePass:
    """A function from module to module with a name; the context may switch it off."""

    def __init__(self, run, info: transform.PassInfo):
        self.run, self.info = run, info
        self.__doc__ = run.__doc__

    def __call__(self, mod):
        context = transform.PassContext.current()
        if self.info.name in getattr(context, "all_disabled", context.disabled_pass):
            return mod
        return transform.run_watched(self.info, mod, lambda mod: self.run(mod, context))

    def __repr__(self) -> str:
        return f"{self.info.name}"


#: options of passes of graphs that have another name here
_OPTIONS = {"relax.FuseOps.max_depth": "fuse_ops.max_size"}


def _own_names(names) -> list:
    """The passes of graphs among `names` under our names: fold_constant for FoldConstant."""
    own = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removeprefix("relax.")).lower() for name in names or ()]
    return [name for name in own if hasattr(relax.transform, name)]


def _lower_passes(added) -> list:
    """The pairs of config={"tir.add_lower_pass": [(phase, pass), ...]}, which tvm.lower and tvm.build of loop programs run."""
    for entry in added:
        if len(entry) != 2 or entry[0] not in range(4):
            raise UserError(
                f"PassContext: {entry} of tir.add_lower_pass is no pair of a phase and a pass\n"
                "help: phase 0 is before blocks become loops, 1 to 3 are behind"
            )
    return list(added)


class PassContext(transform.PassContext):
    """tilewright's context; names of passes of loop programs may be disabled as well, and levels above 3 are 3."""

    def __init__(self, opt_level=2, required_pass=(), disabled_pass=(), instruments=(), config=None):
        known = _own_names(disabled_pass)
        options = {_OPTIONS.get(key, key): value for key, value in (config or {}).items()}
        # options of TVM's own lowering, which steps here do not have
        theirs = ("tir.", "s_tir.", "relax.", "relay.", "testing.")
        options = {key: value for key, value in options.items() if not key.startswith(theirs)}
        super().__init__(min(opt_level, 3), _own_names(required_pass), known, options, instruments)
        self.lower_passes = _lower_passes((config or {}).get("tir.add_lower_pass", ()))
        # as written: passes of loop programs and the user's own are found by their names
        self.all_disabled = list(disabled_pass or ())


def _decorated(run, opt_level, name, required, traceable, wrap):
    """The pass of `run`, or the decorator that makes it; a class gives a pass for each of its objects."""

    def make(body):
        info = transform.PassInfo(opt_level, name or body.__name__, required, traceable)
        if inspect.isclass(body):
            return functools.wraps(body, updated=())(
                lambda *args, **named: _of_object(body(*args, **named), info, wrap)
            )
        return ModulePass(wrap(body), info)

    return make if run is None else make(run)


def _of_object(instance, info: transform.PassInfo, wrap) -> ModulePass:
    method = next(
        (
            getattr(instance, name)
            for name in ("transform_module", "transform_function", "transform_dataflowblock")
            if hasattr(instance, name)
        ),
        None,
    )
    if method is None:
        raise UserError(f"pass {info.name}: the class has neither transform_module nor transform_function")
    return ModulePass(wrap(method), info)


def module_pass(pass_func=None, opt_level: int = 0, name=None, required=None, traceable: bool = False):
    """A pass of a function (mod, ctx) -> mod, or of a class with transform_module(mod, ctx)."""
    return _decorated(pass_func, opt_level, name, required, traceable, lambda body: body)


def _on_functions(kind, body):
    """The function from module to module that calls `body` for functions of class `kind`."""

    def run(mod, ctx):
        changed = {
            var.name_hint: body(func, mod, ctx) if isinstance(func, kind) else func
            for var, func in mod.functions.items()
        }
        if all(changed[var.name_hint].same_as(func) for var, func in mod.functions.items()):
            return mod
        return tw.IRModule(changed, mod.attrs, mod.global_infos)

    return run


def prim_func_pass(pass_func=None, opt_level: int = 0, name=None, required=None, traceable: bool = False):
    """A pass of a function (func, mod, ctx) -> func that runs on every loop program."""
    wrap = functools.partial(_on_functions, tir.PrimFunc)
    return _decorated(pass_func, opt_level, name, required, traceable, wrap)


def function_pass(pass_func=None, opt_level: int = 0, name=None, required=None, traceable: bool = False):
    """A pass of a function (func, mod, ctx) -> func, or of a class with transform_function, for every graph function."""
    wrap = functools.partial(_on_functions, relax.Function)
    return _decorated(pass_func, opt_level, name, required, traceable, wrap)


def dataflowblock_pass(pass_func=None, opt_level: int = 0, name=None, required=None, traceable: bool = False):
    """A pass of a function (block, mod, ctx) -> block, or of a class with transform_dataflowblock, for dataflow blocks."""

    def on_blocks(body):
        def change(func, mod, ctx):
            blocks = [
                body(block, mod, ctx) if isinstance(block, relax.DataflowBlock) else block
                for block in func.body.blocks
            ]
            if all(new.same_as(old) for new, old in zip(blocks, func.body.blocks, strict=True)):
                return func
            return func.replace(body=func.body.replace(blocks=blocks))

        changed = _on_functions(relax.Function, change)
        return lambda mod, ctx: relax.transform.normalize()(changed(mod, ctx))

    return _decorated(pass_func, opt_level, name, required, traceable, on_blocks)


#: the description of each step of lowering
_DOCS = dict(_core.lowering_steps("llvm") + _core.lowering_steps("c"))


def _steps(name: str, *steps: str):
    """The pass `name` that runs steps of docs/lowering.md."""
    docs = "; ".join(_DOCS[step] for step in steps)

    def run(func, mod, ctx):
        for step in steps:
            func = _core.lowering_step(step, func)
        return func

    run.__doc__ = f"{docs} (docs/lowering.md: {', '.join(steps)})."
    return prim_func_pass(run, opt_level=0, name=f"tir.{name}")


# TVM's name -> our steps.  Blocks become loops in one step here, which needs their views gone before.
_BLOCKS = ("lower_match_buffer", "lower_blocks")
_LOWERING = {
    "LowerInitBlock": ("init_empty_reductions", "lower_init"),
    "PlanAndUpdateBufferAllocationLocation": ("place_allocations",),
    "ConvertBlocksToOpaque": _BLOCKS,
    "LowerOpaqueBlock": _BLOCKS,
    "LowerMatchBuffer": ("lower_match_buffer",),
    "CompactBufferAllocation": ("compact_buffers",),
    "FlattenBuffer": ("flatten_buffers",),
    "InjectVirtualThread": ("interleave_virtual_threads",),
    "InjectDoubleBuffer": ("double_buffer",),
    "StorageRewrite": ("share_storage",),
    "UnrollLoop": ("unroll_loops",),
    "RemoveNoOp": ("remove_no_op",),
    "HoistExpression": ("hoist_expression",),
    "HoistIfThenElse": ("hoist_expression",),
    "LoopPartition": ("partition_loops",),
    "BF16ComputeLegalize": ("widen_floats",),
    "FP8ComputeLegalize": ("widen_floats",),
}


def _pass_maker(name: str, steps: tuple):
    def make(*options, **named):
        return _steps(name, *steps)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{'; '.join(_DOCS[step] for step in steps)} (docs/lowering.md: {', '.join(steps)})."
    return make


def VectorizeLoop(enable_vectorize: bool = True):
    """Vectorized loops become vector expressions."""
    return _steps("VectorizeLoop", *(["vectorize_loops"] if enable_vectorize else []))


def CommonSubexprElimTIR(enable_cse_tir: bool = True, identify_equiv_terms: bool = False):
    """Arithmetic that a statement does several times is done once; terms are the same when they are written the same."""
    if identify_equiv_terms:
        raise Unsupported(
            "CommonSubexprElimTIR: identify_equiv_terms=True is not possible, x + y and y + x stay two terms"
        )
    return _steps("CommonSubexprElimTIR", *(["common_subexpr_elim"] if enable_cse_tir else []))


def NarrowDataType(target_bits: int = 32):
    """Loops and indices of int64 become int32 where all values fit."""
    if target_bits != 32:
        raise UserError(f"NarrowDataType: indices become 32 bits wide, not {target_bits}")
    return _steps("NarrowDataType", "narrow_indices")


def Simplify():
    """Every expression of the loop programs simplified."""
    return prim_func_pass(
        lambda func, mod, ctx: arith.simplify_program(func), opt_level=0, name="tir.Simplify"
    )


def ForceNarrowIndexToInt32():
    """Loops and indices of int64 become int32 where all values fit."""
    return _steps("ForceNarrowIndexToInt32", "narrow_indices")


def Apply(ftransform):
    """ftransform(function) for each loop program."""
    return prim_func_pass(lambda func, mod, ctx: ftransform(func), opt_level=0, name="tir.Apply")


def Filter(fcond):
    """The loop programs for which fcond(function) is true; other functions stay."""

    def run(mod, ctx):
        kept = {
            var.name_hint: func
            for var, func in mod.functions_items()
            if not isinstance(func, tir.PrimFunc) or fcond(func)
        }
        return tw.IRModule(kept, mod.attrs, mod.global_infos)

    return module_pass(run, opt_level=0, name="tir.Filter")


def BindTarget(target):
    """The target as an attribute of each loop program."""
    target = tw.Target(target)
    return prim_func_pass(
        lambda func, mod, ctx: func.with_attr("target", target), opt_level=0, name="tir.BindTarget"
    )


def AnnotateEntryFunc():
    """Marks the only function of a module as its entry."""

    def run(mod, ctx):
        if len(mod) != 1:
            return mod
        ((var, func),) = mod.functions_items()
        return tw.IRModule(
            {var.name_hint: func.with_attr("tir.is_entry_func", True)}, mod.attrs, mod.global_infos
        )

    return module_pass(run, opt_level=0, name="tir.AnnotateEntryFunc")


def MakePackedAPI():
    """Each scheduled function as those of lower/lowered.h: the entry that checks arguments, the computation, parallel bodies."""

    def run(mod, ctx):
        made = {}
        for var, func in mod.functions.items():
            name = func.attrs.get("global_symbol", var.name_hint)
            lowered = _core.lowered_module(str(name), func) if isinstance(func, tir.PrimFunc) else None
            pieces = (
                {piece.name_hint: value for piece, value in _functions(lowered)}
                if lowered
                else {var.name_hint: func}
            )
            made.update(pieces)
        return tw.IRModule(made, mod.attrs, mod.global_infos)

    return module_pass(run, opt_level=0, name="tir.MakePackedAPI")


def _functions(lowered) -> list:
    return list(zip(lowered.global_vars, lowered.functions, strict=True))


def PrintIR(header: str = ""):
    """Prints the header and the module, which stays as it is."""

    def run(mod, ctx):
        print(f"PrintIR({header}):\n{mod.script()}")
        return mod

    return module_pass(run, opt_level=0, name="PrintIR")


TIR_NAMES = {
    "StmtSimplify": Simplify,
    "CommonSubexprElim": CommonSubexprElimTIR,
    **{name: _pass_maker(name, steps) for name, steps in _LOWERING.items()},
    **{
        made.__name__: made
        for made in (
            VectorizeLoop,
            CommonSubexprElimTIR,
            NarrowDataType,
            Simplify,
            BindTarget,
            AnnotateEntryFunc,
            ForceNarrowIndexToInt32,
            Apply,
            Filter,
            MakePackedAPI,
            prim_func_pass,
        )
    },
}
IR_NAMES = {
    "PrintIR": PrintIR,
    "Sequential": transform.Sequential,
    "PassContext": PassContext,
    "PassInfo": transform.PassInfo,
    "Pass": ModulePass,
    "ModulePass": ModulePass,
    "module_pass": module_pass,
}
