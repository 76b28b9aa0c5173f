"""te.create_schedule: stages, their axes, and what is decided for them."""

from tilewright import _core, te, tir
from tilewright._guard import guard_class
from tilewright.errors import Unsupported, UserError
from tilewright.ir._nodes import classes

from .tensor_intrin import TensorIntrin

_OPERATIONS = (classes["te.Placeholder"], classes["te.Compute"], classes["te.Extern"], classes["te.Scan"])
_KINDS = {"root": 1, "inline": 2, "at": 4}


def create_schedule(ops) -> "Schedule":
    """A schedule with a stage for each operation that computes `ops`, which are operations or tensors, one or a list.

    >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
    >>> xo, xi = s[C].split(C.op.axis[0], factor=32)
    """
    return Schedule([_operation(op) for op in _listed(ops)])


def thread_axis(dom=None, tag: str = "", name: str = "", span=None):
    """An axis of blocks or threads for bind: "blockIdx.x", "threadIdx.y", "vthread".

    dom   (begin, end) or a Range, or the tag itself: the loop that is bound says the extent
    tag   which axis of the kernel
    name  of its variable; default the tag
    >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
    >>> s[C].bind(C.op.axis[0], tilewright.compat.te_schedule.thread_axis("blockIdx.x"))
    """
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        raise UserError('te.thread_axis: the tag is missing\nhelp: as te.thread_axis((0, 64), "threadIdx.x")')
    if isinstance(dom, int):
        dom = (0, dom)
    if isinstance(dom, list | tuple):
        dom = te.reduce_axis(tuple(dom)).dom
    var = tir.Var(name or tag, "int32")
    fields = {"var": var, "dom": dom, "iter_type": "thread", "thread_tag": tag}
    return _core.make_node("tir.IterVar", fields)


def _listed(value) -> list:
    return list(value) if isinstance(value, list | tuple) else [value]


def _operation(value):
    if isinstance(value, te.Tensor):
        return value.op
    if isinstance(value, Stage):
        return value.op
    if isinstance(value, _OPERATIONS):
        return value
    raise UserError(
        f"te.create_schedule: a Python {type(value).__name__} is neither an operation nor a tensor"
    )


class Schedule:
    """Stages of tensor expressions and what was decided for their loops.

    `s[C]` is the stage of a tensor or operation. Nothing is done before tvm.lower or tvm.build: they replay the decisions as
    primitives on blocks, each of which proves that it is legal.
    """

    def __init__(self, ops):
        self._core = _core.StageSchedule(ops)
        self._outputs = list(ops)

    def __getitem__(self, key) -> "Stage":
        return Stage(self, self._core.stage(_operation(key)))

    @property
    def outputs(self) -> list:
        """The operations that were given, as they are now."""
        return [self._core.stage(op).op for op in self._outputs]

    @property
    def stages(self) -> list:
        """All stages, producers first."""
        return [Stage(self, stage) for stage in self._core.stages]

    @property
    def stage_map(self) -> dict:
        """{operation: its stage}"""
        return {stage.op: stage for stage in self.stages}

    def normalize(self) -> "Schedule":
        """This schedule: its axes always begin at 0."""
        return self

    def cache_read(self, tensor, scope: str, readers):
        """A copy of `tensor` in memory of `scope`, which `readers` (operations or tensors) read instead.

        >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
        >>> AA = s.cache_read(A, "shared", [C])
        """
        return self._core.cache_read(tensor, scope, [_operation(reader) for reader in _listed(readers)])

    def cache_write(self, tensor, scope: str):
        """What computes the values of `tensor` in memory of `scope`; its own stage then copies them.

        Returns  a tensor, or a list of them if `tensor` is a list of all results of an operation
        >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
        >>> CL = s.cache_write(C, "local")
        """
        found = self._core.cache_write(_listed(tensor), scope)
        return found if isinstance(tensor, list | tuple) else found[0]

    def rfactor(self, tensor, axis, factor_axis: int = 0):
        """Parts of the reduction that computes `tensor`, one for each iteration of `axis`, in a dimension of their own.

        factor_axis  the place of that dimension; default 0
        Returns      a tensor, or a list of them if the reduction has several results
        >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
        >>> ko, ki = s[C].split(C.op.reduce_axis[0], factor=16)
        >>> CF = s.rfactor(C, ki)
        """
        found = self._core.rfactor(tensor, axis, factor_axis)
        return found[0] if len(found) == 1 else found

    def create_group(self, outputs, inputs, include_inputs: bool = False) -> "StageGroup":
        """The stages on the ways from `inputs` to `outputs`, tensors or lists of them, which are placed together.

        include_inputs  the stages of the inputs are among them; default False
        As in s.create_group(outputs=C, inputs=A).compute_at(s[D], D.op.axis[0]).
        """
        borders = [self[each].op for each in _listed(inputs)]
        members: dict = {}  # operation: True if it depends on the inputs

        def depends(op) -> bool:
            if op not in members:
                below = [depends(tensor.op) for tensor in op.input_tensors] if op not in borders else [True]
                members[op] = True in below
            return members[op]

        ends = [self[each] for each in _listed(outputs)]
        for stage in ends:
            if not depends(stage.op):
                raise UserError(
                    f"create_group: {stage.op.name} depends on none of {', '.join(op.name for op in borders)}"
                )
        chosen = [
            op for op, is_member in members.items() if is_member and (include_inputs or op not in borders)
        ]
        return StageGroup([stage for stage in self.stages if stage.op in chosen])


class StageGroup:
    """Stages that are placed together; those that are computed at a place of their own stay there."""

    def __init__(self, stages: list):
        self._stages = stages

    def compute_at(self, parent: "Stage", scope) -> None:
        """All are computed inside of the loop of axis `scope` of stage `parent`, one after the other."""
        for stage in self._stages:
            if stage.attach_type == 1:
                stage.compute_at(parent, scope)

    def compute_root(self) -> None:
        """All are computed in loops of their own."""
        for stage in self._stages:
            stage.compute_root()


class Stage:
    """One operation of a schedule: its loops, and where it is computed."""

    def __init__(self, schedule: Schedule, core):
        self._schedule, self._core = schedule, core

    def __repr__(self) -> str:
        return f"stage({self.op.name}, {self.op})"

    def __eq__(self, other) -> bool:
        return isinstance(other, Stage) and self.op == other.op

    def __hash__(self) -> int:
        return hash(self.op)

    @property
    def op(self):
        """What it computes now."""
        return self._core.op

    @property
    def origin_op(self):
        """What it computed before caches and rfactor."""
        return self._core.origin_op

    @property
    def leaf_iter_vars(self) -> list:
        """The axes whose loops there are, outermost first."""
        return self._core.leaves

    @property
    def all_iter_vars(self) -> list:
        """All axes that there ever were."""
        return self._core.axes

    @property
    def attach_type(self) -> int:
        """1: in loops of its own; 2: computed where it is read; 4: inside of another stage's loop."""
        return _KINDS[self._core.attachment]

    @property
    def attached(self) -> tuple | None:
        """(stage, axis) of the loop that it is computed inside of; None if there is none."""
        if self._core.attached is None:
            return None
        op, axis = self._core.attached
        return self._schedule[op], axis

    @property
    def scope(self) -> str:
        """Of the memory of its results."""
        return self._core.scope

    @property
    def is_output(self) -> bool:
        """True for the operations that create_schedule was given."""
        return self._core.is_output

    def split(self, parent, factor=None, nparts=None):
        """(outer, inner): one of the two is given, the length of the inner loop or the number of outer iterations.

        >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
        >>> xo, xi = s[C].split(C.op.axis[0], factor=32)
        """
        return self._core.split(parent, factor, nparts)

    def fuse(self, *axes):
        """One loop instead of several that follow each other.

        >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
        >>> xy = s[C].fuse(C.op.axis[0], C.op.axis[1])
        """
        axes = _listed(axes[0]) if len(axes) == 1 and isinstance(axes[0], list | tuple) else list(axes)
        return self._core.fuse(axes)

    def reorder(self, *axes) -> None:
        """Gives the loops of `axes` this order, outermost first."""
        axes = _listed(axes[0]) if len(axes) == 1 and isinstance(axes[0], list | tuple) else list(axes)
        self._core.reorder(axes)

    def tile(self, x_parent, y_parent, x_factor, y_factor):
        """(x outer, y outer, x inner, y inner): both axes are split, and the loops of a tile are inside.

        >>> s = tilewright.compat.te_schedule.create_schedule(C.op)
        >>> xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], 16, 8)
        """
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    def parallel(self, var) -> None:
        """The loop's iterations run on threads of the CPU."""
        self._core.set_kind(var, "parallel")

    def vectorize(self, var) -> None:
        """The loop becomes operations on vectors."""
        self._core.set_kind(var, "vectorize")

    def unroll(self, var) -> None:
        """The loop's body stands once for each iteration."""
        self._core.set_kind(var, "unroll")

    def bind(self, ivar, thread_ivar) -> None:
        """The loop's iterations are those of blocks or threads of a GPU."""
        self._core.bind(ivar, thread_ivar)

    def pragma(self, var, pragma_type: str, pragma_value=None) -> None:
        """Annotates the loop, e.g. ("auto_unroll_max_step", 16)."""
        value = 1 if pragma_value is None else pragma_value
        self._core.annotate(var, f"pragma_{pragma_type}", value)

    def tensorize(self, var, tensor_intrin) -> None:
        """An intrinsic computes what the loop of `var` and all inside of it compute.

        tensor_intrin  of te.decl_tensor_intrin, or the name of one that is registered (tir.TensorIntrin.register)
        """
        if isinstance(tensor_intrin, str):
            self._core.tensorize(var, tensor_intrin, "", "", tensor_intrin)
        elif isinstance(tensor_intrin, TensorIntrin):
            self._core.tensorize(var, tensor_intrin.name, *tensor_intrin.parts.values())
        else:
            raise UserError(
                f"tensorize: a Python {type(tensor_intrin).__name__} is no intrinsic of te.decl_tensor_intrin"
            )

    def compute_at(self, parent: "Stage", scope) -> None:
        """Computed inside of the loop of axis `scope` of stage `parent`: what one iteration needs."""
        self._schedule._core.compute_at(self.op, _operation(parent), scope)

    def compute_inline(self) -> None:
        """Computed where it is read."""
        self._schedule._core.compute_inline(self.op)

    def compute_root(self) -> None:
        """Computed in loops of its own, which is how a stage begins."""
        self._schedule._core.compute_root(self.op)

    def set_scope(self, scope: str) -> None:
        """The memory of the results: "global", "shared", "local"."""
        self._core.scope = scope

    def storage_align(self, axis, factor: int, offset: int) -> None:
        """The stride of a dimension is factor * n + offset elements; `axis` is an axis of the operation, or its number."""
        if not isinstance(axis, int):
            axes = list(self.op.axis)
            if axis not in axes:
                names = ", ".join(each.var.name_hint for each in axes)
                raise UserError(
                    f"storage_align: {axis.var.name_hint} is no axis of {self.op.name}\nhelp: its axes are {names}"
                )
            axis = axes.index(axis)
        self._core.storage_align(axis, factor, offset)

    def double_buffer(self) -> None:
        """One half of the memory is filled while the other is read."""
        self._core.double_buffer()

    def set_store_predicate(self, predicate) -> None:
        """Accepted: of threads that add up together, the first stores the result."""

    def env_threads(self, threads) -> None:
        """Of a scan: threads (te.thread_axis) that are launched once for all steps, which its stages bind their axes to.

        Raises  Unsupported if this is no scan, UserError if one of `threads` is no thread axis
        """
        if not isinstance(self.op, classes["te.Scan"]):
            raise Unsupported(
                f"env_threads: {self.op.name} is no scan, and has the threads that its loops are bound to\n"
                "help: split an axis and bind its parts"
            )
        tags = [thread.thread_tag for thread in _listed(threads)]
        if not all(tags):
            raise UserError('env_threads: an axis is none of threads\nhelp: as te.thread_axis("threadIdx.x")')
        self._core.env_threads(tags)

    def prefetch(self, tensor, var, offset) -> None:
        """Asks for the cache lines of `tensor` that iteration `var + offset` reads; on a GPU nothing is done.

        tensor  what the loop of `var` reads: nothing happens if it reads none of it
        var     an axis of this stage
        offset  iterations ahead: 0 or more
        Raises  UserError if var is no axis of the stage
        """
        self._core.prefetch(tensor, var, offset)

    def rolling_buffer(self) -> None:
        """Refused by this language; schedules of blocks have it."""
        raise Unsupported(
            "rolling_buffer: stages have none\nhelp: sch.rolling_buffer(block, 0) of a tir.Schedule does it"
        )


for _class in (Schedule, StageGroup, Stage):
    guard_class(_class.__name__, _class)
