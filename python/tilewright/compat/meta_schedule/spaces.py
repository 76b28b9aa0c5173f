"""ms.space_generator, ms.postproc and ms.mutator: spaces, and what is done to their candidates."""

import json

from tilewright import schedule, tir, tune
from tilewright.errors import Unsupported, UserError

_KINDS = ("llvm", "cuda", "cuda-tensorcore", "hexagon")


def derived_object(cls):
    """A decorator of classes that are written in Python: here every class may be."""
    return cls


def require_default(what: str, **given) -> None:
    """Raises Unsupported for options {name: (value, default)} that have another value: they would have no effect."""
    for name, (value, default) in given.items():
        if value != default:
            raise Unsupported(
                f"{what}: {name} = {value!r} would have no effect\nhelp: leave it at {default!r}, or out"
            )


def no_target(what: str, target: str):
    """A class of TVM for targets that there are not; making one raises Unsupported."""

    def __init__(self, *args, **named):
        raise Unsupported(f"{what} is for {target}, and there is no such target")

    return type(what, (), {"__init__": __init__, "__doc__": f"For {target}: refused."})


def require_cpu(what: str, kind) -> None:
    """Raises Unsupported for lists of GPUs and DSPs, and UserError for names that there are not."""
    if kind not in _KINDS:
        raise UserError(f'{what}: there is no "{kind}"\nhelp: one of {", ".join(_KINDS)}')
    if kind != "llvm":
        raise Unsupported(f'{what}: "{kind}" is for a target that there is not\nhelp: use "llvm"')


# ---------------------------------------------------------------- postprocessors


class Postproc(tune.Postproc):
    """The base class of postprocessors."""

    def clone(self):
        """Itself: postprocessors are not copied."""
        return self

    @staticmethod
    def create(kind: str = "llvm") -> list[tune.Postproc]:
        """The postprocessors for a kind of target."""
        require_cpu("Postproc.create", kind)
        return [
            tune.DisallowDynamicLoop(),
            tune.RewriteParallelVectorizeUnroll(),
            tune.RewriteReductionBlock(),
            tune.RewriteTensorize(),
            RewriteLayout(),
        ]


class RewriteLayout(tune.Postproc):
    """Weights take the layout that kernels read fastest when a graph is compiled, so that nothing is left to do.

    Raises Unsupported for programs with the attribute layout_free_buffers.
    """

    def apply(self, sch) -> bool:
        for var, func in sch.mod.functions_items():
            if isinstance(func, tir.PrimFunc) and func.attrs.get("layout_free_buffers"):
                raise Unsupported(
                    f'RewriteLayout: "{var.name_hint}" has layout_free_buffers, which are not rewritten\n'
                    "help: leave the attribute out: compiling a graph gives constants the layout that is read fastest"
                )
        return True


class DisallowAsyncStridedMemCopy(tune.Postproc):
    """Leaves out candidates with asynchronous copies, which are for DSPs."""

    def apply(self, sch) -> bool:
        return "async_scope" not in str(sch.mod) and "software_pipeline_async_stages" not in str(sch.mod)


def RewriteTensorize(vectorize_init_loop: bool = False):
    """Intrinsics for blocks that ask for them."""
    require_default("RewriteTensorize", vectorize_init_loop=(vectorize_init_loop, False))
    return tune.RewriteTensorize()


POSTPROCS = {
    "Postproc": Postproc,
    "PyPostproc": Postproc,
    "DisallowDynamicLoop": tune.DisallowDynamicLoop,
    "DisallowAsyncStridedMemCopy": DisallowAsyncStridedMemCopy,
    "RewriteParallelVectorizeUnroll": tune.RewriteParallelVectorizeUnroll,
    "RewriteReductionBlock": tune.RewriteReductionBlock,
    "RewriteTensorize": RewriteTensorize,
    "RewriteLayout": RewriteLayout,
    "RewriteCooperativeFetch": no_target("RewriteCooperativeFetch", "GPUs"),
    "RewriteUnboundBlock": no_target("RewriteUnboundBlock", "GPUs"),
    "VerifyGPUCode": no_target("VerifyGPUCode", "GPUs"),
    "VerifyVTCMLimit": no_target("VerifyVTCMLimit", "Hexagon"),
}

# ---------------------------------------------------------------- mutators


class Mutator(tune.Mutator):
    """The base class of mutators; a subclass may also have apply(trace)."""

    def clone(self):
        """Itself: mutators are not copied."""
        return self

    @staticmethod
    def create(kind: str = "llvm") -> dict:
        """{mutator: weight} for a kind of target."""
        require_cpu("Mutator.create", kind)
        return {
            MutateTileSize(): 0.9,
            MutateComputeLocation(): 0.05,
            MutateUnroll(): 0.03,
            MutateParallel(16): 0.02,
        }


class _OneArgument(tune.Mutator):
    """A mutator of TVM's form, whose apply may take the trace alone."""

    def __init__(self, mutator):
        self.mutator = mutator

    def apply(self, trace, seed: int):
        count = self.mutator.apply.__code__.co_argcount if hasattr(self.mutator.apply, "__code__") else 3
        return self.mutator.apply(trace) if count == 2 else self.mutator.apply(trace, seed)


class MutateTileSize(tune.MutateSamples):
    """Other factors of a tile."""

    def __init__(self):
        super().__init__("sample_perfect_tile", "sample_partitioned_tile")


class MutateComputeLocation(tune.MutateSamples):
    """Another loop at which a block is computed."""

    def __init__(self):
        super().__init__("sample_compute_location")


class MutateUnroll(tune.MutateSamples):
    """Another choice, e.g. of how many steps are written out."""

    def __init__(self):
        super().__init__("sample_categorical")


class MutateParallel(Mutator):
    """Half or twice the number of jobs that the annotation meta_schedule.parallel asks for.

    max_jobs_per_core  the most, >= 1
    """

    def __init__(self, max_jobs_per_core: int = 16):
        self.max_jobs_per_core = max_jobs_per_core

    def apply(self, trace, seed: int):
        steps = json.loads(trace.save_json())
        for step in steps["steps"]:
            args = step["args"]
            is_meant = step["primitive"] == "annotate" and args["ann_key"] == "meta_schedule.parallel"
            if is_meant and isinstance(args["ann_val"], int):
                jobs = args["ann_val"]
                args["ann_val"] = max(1, jobs // 2) if seed % 2 else jobs * 2
                if args["ann_val"] != jobs and args["ann_val"] <= self.max_jobs_per_core * tune_cores():
                    return schedule.Trace.load_json(json.dumps(steps))
        return None


def tune_cores() -> int:
    """The threads that parallel loops run on."""
    from tilewright import _core

    return _core.num_threads()


MUTATORS = {
    "Mutator": Mutator,
    "PyMutator": Mutator,
    "MutateTileSize": MutateTileSize,
    "MutateComputeLocation": MutateComputeLocation,
    "MutateUnroll": MutateUnroll,
    "MutateParallel": MutateParallel,
    "MutateThreadBinding": no_target("MutateThreadBinding", "GPUs"),
}

# ---------------------------------------------------------------- spaces


def _postprocs_of(given) -> list:
    if given in (None, "from-target"):
        return Postproc.create("llvm")
    return Postproc.create(given) if isinstance(given, str) else list(given)


def _mutators_of(given):
    if given in (None, "from-target"):
        return ()
    pairs = Mutator.create(given) if isinstance(given, str) else dict(given)
    is_native = (tune.MutateSamples, MutateParallel, _OneArgument)
    return {
        each if isinstance(each, is_native) else _OneArgument(each): float(weight)
        for each, weight in pairs.items()
    }


class _WithParts:
    """Of a space: its postprocessors and mutators, under TVM's names."""

    postprocs: list
    mutators: object = ()

    def _take(self, postprocs, mutator_probs) -> None:
        self.postprocs, self.mutators = _postprocs_of(postprocs), _mutators_of(mutator_probs)

    @property
    def mutator_probs(self) -> dict:
        """{mutator: weight}; those of the target if none were given."""
        return dict(self.mutators) if self.mutators else Mutator.create("llvm")

    def generate_design_space(self, mod) -> list:
        """Schedules of `mod`, a module with one loop program."""
        (task,) = tune.tasks_of(mod, exactly_one=True)
        found = []
        for design in self.designs(task):
            sch = design
            if not isinstance(design, schedule.Schedule):
                sch = schedule.Schedule(task.module)
                design.apply_to(sch._core)
            found.append(sch)
        return found

    def clone(self):
        """Itself: spaces are not copied."""
        return self


class ScheduleFn(_WithParts, tune.ScheduleFn):
    """The space of a function; its candidates pass `postprocs`, by default those of the target."""

    def __init__(self, sch_fn, sch_rules="from-target", postprocs="from-target", mutator_probs="from-target"):
        super().__init__(sch_fn)
        self._take(postprocs, mutator_probs)


class PySpaceGenerator(_WithParts, tune.SpaceGenerator):
    """The base class of spaces written in Python, which have generate_design_space(mod)."""

    name = "custom"
    postprocs = ()

    def designs(self, task) -> list:
        own = type(self).generate_design_space
        if own is _WithParts.generate_design_space:
            return super().designs(task)
        return list(self.generate_design_space(task.module))


class SpaceGeneratorUnion(_WithParts, tune.SpaceUnion):
    """The designs of several spaces."""

    def __init__(
        self,
        space_generators: list,
        sch_rules="from-target",
        postprocs="from-target",
        mutator_probs="from-target",
    ):
        super().__init__(*space_generators)
        self.space_generators = list(space_generators)
        self._take(postprocs, mutator_probs)
