"""Schedules: a module and the checked steps that transform it."""

from functools import wraps
from inspect import isfunction

from .. import _core
from .._guard import guard, guard_class
from ..errors import ArgumentError, UserError
from ..ir import BaseFunc
from ..ir.module import IRModule, unwrapped
from ..ir.printing import shortened
from ..tir import index_map
from .finding import Finding
from .sampled import with_handles
from .state import State
from .verified import Verified

BlockRV = _core.BlockHandle
LoopRV = _core.LoopHandle
ExprRV = _core.ExprHandle
_ERROR_LEVELS = ["detail", "fast", "none"]
Trace = _core.Trace


def _checked_seed(name: str, seed: int) -> int:
    if isinstance(seed, int) and not 0 <= seed < 2**64:
        raise ArgumentError(f"{name}: the seed is {seed}, expected a number from 0 to 2**64 - 1")
    return seed


class Schedule:
    """A program and the steps that transform it; every step is proved legal or refused with the reason.

    mod                 a module, or a function, which becomes the module's "main"
    seed                of what sample_* primitives draw; default 0
    debug_mask          verify the program after every step if not 0 or "none"; default 0
    error_render_level  "detail": the reason, the place, notes and help (default); "fast": the reason; "none": which step
    verify_each_step    run the program before and after every step on the interpreter, and compare; default False
    >>> sch = tilewright.Schedule(MyModule)
    >>> i, j, k = sch.get_loops(sch.get_block("C"))
    """

    def __init__(
        self,
        mod,
        *,
        seed: int | None = None,
        debug_mask=0,
        error_render_level: str = "detail",
        verify_each_step: bool = False,
    ):
        if not isinstance(mod, IRModule):
            if not isinstance(mod, BaseFunc):
                raise ArgumentError(
                    f"Schedule: mod is a Python {type(mod).__name__}, expected a module or a function\n"
                    "help: parse one with tilewright.script, or make one with te.create_prim_func"
                )
            mod = IRModule.from_expr(mod)
        if error_render_level not in _ERROR_LEVELS:
            raise UserError(
                f'Schedule: error_render_level "{error_render_level}" is none of detail, fast, none'
            )
        self._core = _core.Schedule(
            unwrapped(mod),
            _checked_seed("Schedule", 0 if seed is None else seed),
            debug_mask not in (0, "none", None),
            verify_each_step,
            _ERROR_LEVELS.index(error_render_level),
        )

    @classmethod
    def _of(cls, core) -> "Schedule":
        self = cls.__new__(cls)
        self._core = core
        return self

    @property
    def mod(self) -> IRModule:
        """The program as it is now."""
        return IRModule._of(self._core.module())

    @property
    def trace(self) -> Trace:
        """The steps so far: printable as Python, savable as JSON, replayable with trace.apply_to_schedule(sch)."""
        return self._core.trace()

    @property
    def state(self) -> State:
        """The tree of loops and blocks with the handles on them, dependences and properties of blocks.

        >>> print(tilewright.Schedule(MyModule).state)
        """
        return State(self)

    def get(self, handle):
        """The For or Block of a handle, or the value of a sampled number or an expression of such numbers, as it is now."""
        return self._core.get(with_handles(self._core, handle))

    def copy(self) -> "Schedule":
        """An independent schedule that understands the same handles and draws its own samples."""
        return Schedule._of(self._core.copy())

    def fork(self, seed: int) -> "Schedule":
        """A copy whose samples are drawn from `seed`."""
        return Schedule._of(self._core.fork(_checked_seed("fork", seed)))

    def seed(self, seed: int) -> None:
        """Draws samples from `seed` from now on."""
        self._core.set_seed(_checked_seed("seed", seed))

    def fork_seed(self) -> int:
        """A new seed, drawn from this schedule's random numbers."""
        return self._core.fork_seed()

    def work_on(self, func_name: str) -> None:
        """Looks for blocks in function `func_name` only, until the next work_on.

        Raises UserError if the module has no such function with blocks.
        >>> sch = tilewright.Schedule(MyModule)
        >>> sch.work_on("mm_relu")
        """
        self._core.work_on(func_name)

    @property
    def func_working_on(self) -> str | None:
        """The name that work_on was given; None: all functions."""
        return self._core.working_on() or None

    def verify(self, samples: int = 3, seed: int = 0, max_steps: int = 100_000_000) -> Verified:
        """Runs the program as it was given and as it is now on random arguments; returns what was compared.

        Elements are whole numbers from -3 to 3, so that sums are exact in any order; floats may differ by 1e-4 of their size.

        samples    how many sets of arguments, >= 1; symbolic dimensions are 3, 5, 7, 11 or 13; default 3
        seed       of the random numbers; default 0
        max_steps  iterations of loops that each function may take, of both programs and all samples together; samples beyond
                   it are left out, and the result says so; default 10**8, some ten seconds
        Raises     UserError at the first element that differs, and where not even one sample fits max_steps; Unsupported
                   if a parameter has changed
        >>> sch = tilewright.Schedule(MyModule)
        >>> sch.parallel(sch.get_loops(sch.get_block("C"))[0])
        >>> print(sch.verify(samples=1))
        """
        if samples < 1 or max_steps < 1:
            raise UserError(
                f"verify: samples = {samples}, max_steps = {max_steps}, expected at least 1 and 1"
            )
        return Verified(*self._core.verify(samples, _checked_seed("verify", seed), max_steps))

    def explain(self, target="llvm") -> str:
        """The time of one function on this machine, its limit, and what to try next.

        It is compiled, called with made-up numbers and compared with the machine's peaks, which are measured once. Of a GPU,
        which need not be there: what its description allows, the launches, and what lint finds.

        target   text or Target, for this machine or a GPU; default "llvm"
        Raises   UserError if there are several functions and none was chosen by work_on, or a size is not known
        Source   the roofline model: Williams, Waterman and Patterson, CACM 52(4), 2009
        >>> sch = tilewright.schedule.by_rules(mm)
        >>> print(sch.explain())
        """
        from ..target import Target

        return _core.explain(self._core, self._one_function("explain"), Target(target))

    def lint(self, target="cuda", registers=None) -> list[Finding]:
        """What keeps the kernels of one function from running fast on a GPU, seen without one.

        It looks at the lowered kernels: how many sectors of memory a warp moves for what it needs (coalescing), how many words of
        one bank of shared memory it needs at once (banks), how many threads a multiprocessor has room for (occupancy).

        target     text or Target, a GPU: its figures decide; default "cuda"
        registers  of a thread, a number; or "ptxas", which asks NVIDIA's assembler, about a second a kernel, where nvcc is found,
                   and also finds registers that are spilled; default None: estimated from the arrays of a thread
        Returns    a list of Finding, the most serious of each kind first; str() of one is its text with the line and what to try
        Raises     UserError if the target is no GPU (for "ptxas": not of kind cuda), registers is another text, no loop runs on
                   threads, there are several functions and none was chosen by work_on, or a block does not fit on the GPU
        Source     NVIDIA, CUDA C++ Best Practices Guide, "Memory Optimizations" and "Execution Configuration Optimizations"
        >>> sch = tilewright.schedule.by_rules(mm, "cuda")
        >>> for finding in sch.lint("cuda"):
        ...     print(finding)
        """
        from ..target import Target

        name = self._one_function("lint")
        if isinstance(registers, str) and registers != "ptxas":
            raise UserError(f'lint: registers = "{registers}", expected a number, "ptxas" or None')
        asks_ptxas = registers == "ptxas"
        number = None if asks_ptxas else registers
        return [Finding(*each) for each in _core.lint(self._core, name, Target(target), number, asks_ptxas)]

    def _one_function(self, wanted_by: str) -> str:
        names = (
            [self.func_working_on]
            if self.func_working_on
            else [var.name_hint for var in self.mod.get_global_vars()]
        )
        if len(names) != 1:
            raise UserError(
                f"{wanted_by}: the module has {len(names)} functions\nhelp: choose one by sch.work_on(name)"
            )
        return names[0]

    def __repr__(self) -> str:
        names = ", ".join(var.name_hint for var in self.mod.get_global_vars())
        return f"Schedule of {names}\n{self.trace!r}"

    def show(self, **options) -> None:
        """Prints the program and the trace."""
        self.mod.show(**options)
        print(self.trace)


def by_rules(mod, target="llvm") -> Schedule:
    """The schedule that tilewright.build chooses without tuning: read its trace, or go on from it.

    mod      a module or a function; functions that somebody has scheduled stay as they are
    target   text or Target, whose vectors, registers, caches and cores decide; default "llvm", this machine
    Returns  a Schedule; its `rejections` lists (block, rule, reason) for rules that were tried in vain
    Source   register tiles and packing: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008
    >>> print(tilewright.schedule.by_rules(mm).trace)
    """
    from ..target import Target

    sch = Schedule(mod)
    sch.rejections = _core.schedule_by_rules(sch._core, Target(target))
    return sch


def _flat(ranges):
    """`ranges` with its pairs one after the other: i: ((i, i + 2), i) becomes i: (i, i + 2, i, i + 1)."""

    @wraps(ranges)
    def ends(*axes):
        given = ranges(*axes)
        given = given if isinstance(given, list | tuple) else [given]
        if not any(isinstance(each, list | tuple) for each in given):
            return given
        pairs = [each if isinstance(each, list | tuple) else (each, each + 1) for each in given]
        return [end for pair in pairs for end in pair]

    return ends


def _method(name: str, doc: str, returns: str, args: list):
    maps = {
        n: arg
        for n, (arg, _, type_name, *_) in enumerate(args)
        if type_name.startswith("IndexMap") or arg == "pad_value"
    }

    def call(self, *positional, **named):
        positional = list(positional)
        for n, arg in maps.items():  # a Python function may stand for an index map
            to_map = (lambda function: index_map(_flat(function))) if arg == "gen_new_ranges" else index_map
            if n < len(positional) and isfunction(positional[n]):
                positional[n] = to_map(positional[n])
            elif isfunction(named.get(arg)):
                named[arg] = to_map(named[arg])
        positional = [with_handles(self._core, each) for each in positional]
        named = {key: with_handles(self._core, each) for key, each in named.items()}
        return self._core.run(name, positional, named)

    call.__name__ = name
    call.__qualname__ = f"Schedule.{name}"
    lines = [
        f"    {arg}  {text}" + ("" if required else f"; default {default!r}")
        for arg, text, _, default, required, _ in args
    ]
    call.__doc__ = "\n".join([doc.strip(), "", *lines, f"    Returns  {returns}"])
    return call


for _name, _doc, _returns, _args in _core.primitive_table():
    setattr(Schedule, _name, _method(_name, _doc, _returns, _args))


def _apply_to_schedule(self, sch: Schedule, remove_postproc: bool = False) -> None:
    """Runs the steps of this trace on `sch`, all or none; samples are drawn as the trace recorded them.

    sch              a schedule of the same program
    remove_postproc  leave out what follows enter_postproc
    Raises           UserError for a step that does not fit
    """
    (self.without_postproc() if remove_postproc else self).apply_to(sch._core)


def _simplified(self, remove_postproc: bool = False) -> Trace:
    """Without steps that only look and whose results nothing uses, and without what follows enter_postproc if asked."""
    return (self.without_postproc() if remove_postproc else self)._simplified()


Trace.apply_to_schedule = _apply_to_schedule
Trace.simplified = _simplified
Trace.text = Trace.__str__  # compat prints it in another form
Trace.__repr__ = lambda self: shortened(str(self).rstrip("\n") or "# no steps")
Trace.show = lambda self: print(self)


guard_class("tilewright.Schedule", Schedule)
guard_class("tilewright.schedule.State", State)
guard_class("tilewright.schedule.Trace", Trace)
by_rules = guard("tilewright.schedule.by_rules", by_rules)

__all__ = ["BlockRV", "ExprRV", "LoopRV", "Schedule", "State", "Trace", "Verified", "by_rules"]
