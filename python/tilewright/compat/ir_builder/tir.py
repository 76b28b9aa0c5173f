"""tvm.script.ir_builder.tir: loop programs.  What is not here is that of tilewright.script.tir: operators, dtypes."""

from tilewright import _core, tir
from tilewright.errors import UserError
from tilewright.ir._nodes import classes
from tilewright.script import tir as script_tir

from .. import nodes
from .base import Frame, IRBuilder, StmtFrame
from .ir import ModuleFrame

_PrimExpr, _Type = classes["PrimExpr"], classes["Type"]


def _expr(value, like=None):
    return value if isinstance(value, _PrimExpr) else tir.const_like(value, like)


def _axes(shape) -> list:
    return list(shape) if isinstance(shape, (list, tuple)) else [shape]


def _attrs(values: dict | None) -> dict:
    """Attributes as a script gives them: whole numbers are int64."""
    return {
        key: tir.const(value, "int64") if isinstance(value, int) and not isinstance(value, bool) else value
        for key, value in (values or {}).items()
    }


# ---- functions


class PrimFuncFrame(Frame):
    """A function while its parameters and statements come."""

    SHOWN = "T.prim_func()"

    def __init__(self, is_private: bool):
        super().__init__()
        self.is_private = is_private
        self.name = None
        self.params: list = []
        self.buffers: list = []
        self.attrs: dict = {}
        self.ret_type = None
        self.root_buffers: list = []

    def finish(self, builder: IRBuilder) -> None:
        attrs = dict(self.attrs)
        if self.name is not None and not self.is_private:
            attrs.setdefault("global_symbol", self.name)
        func = tir.PrimFunc(
            params=self.params,
            buffers=self.buffers,
            body=_with_root(self.body(), self.root_buffers),
            ret_type=self.ret_type,
            attrs=attrs,
        )
        if not (builder.frames and isinstance(builder.frames[-1], ModuleFrame)):
            builder.set_result(func)
            return
        if self.name is None:
            raise UserError("a function of a module needs a name\nhelp: T.func_name(...)")
        builder.frames[-1].functions[self.name] = func


def _has_block(stmt) -> bool:
    found = []
    tir.post_order_visit(
        stmt, lambda node: found.append(node) if isinstance(node, tir.BlockRealize) else None
    )
    return bool(found)


def _with_root(body, buffers: list):
    """A program of blocks is itself a block, the root."""
    if isinstance(body, tir.BlockRealize) and not body.block.iter_vars and not buffers:
        return body
    if not buffers and not _has_block(body):
        return body
    root = tir.Block(name_hint="root", alloc_buffers=buffers, body=body)
    return tir.BlockRealize(iter_values=[], predicate=tir.const(True), block=root)


def prim_func(is_private: bool = False, **_) -> PrimFuncFrame:
    """A function: `with T.prim_func():`"""
    return PrimFuncFrame(is_private)


def func_name(name: str) -> None:
    """The function's name."""
    IRBuilder.current().find(PrimFuncFrame, "T.func_name").name = name


def func_attr(attrs: dict) -> None:
    """Attributes of the function."""
    IRBuilder.current().find(PrimFuncFrame, "T.func_attr").attrs.update(_attrs(attrs))


def func_ret(ret_type):
    """The type of the function's result."""
    ret_type = ret_type if isinstance(ret_type, _Type) else classes["ir.PrimType"](ret_type)
    IRBuilder.current().find(PrimFuncFrame, "T.func_ret").ret_type = ret_type
    return ret_type


def arg(name: str, value):
    """The next parameter: a variable (T.int32(), T.handle()) or a T.Buffer."""
    frame = IRBuilder.current().find(PrimFuncFrame, "T.arg")
    if isinstance(value, tir.Buffer):
        frame.params.append(tir.Var(name, "handle"))
        frame.buffers.append(value)
    elif isinstance(value, tir.Var):
        frame.params.append(value)
        frame.buffers.append(None)
    else:
        raise UserError(
            f"T.arg: parameter {name} is a Python {type(value).__name__}, expected a variable or a buffer"
        )
    return IRBuilder.name(name, value)


def Buffer(
    shape,
    dtype="float32",
    data=None,
    strides=None,
    elem_offset=None,
    scope="global",
    align=0,
    offset_factor=0,
    buffer_type="",
    axis_separators=None,
    buffer_name="buffer",
):
    """A new buffer."""
    return nodes.make_buffer(
        _axes(shape),
        dtype,
        buffer_name,
        data,
        strides,
        elem_offset,
        scope,
        align,
        offset_factor,
        buffer_type,
        axis_separators,
    )


def match_buffer(param, shape, dtype="float32", *layout, **options):
    """The buffer of a handle parameter; of a region, a view of it in the block around.  Arguments as of T.Buffer."""
    buffer = Buffer(shape, dtype, *layout, **options)
    builder = IRBuilder.current()
    if isinstance(param, tir.Var):
        frame = builder.find(PrimFuncFrame, "T.match_buffer of a parameter")
        for n, known in enumerate(frame.params):
            if known.same_as(param):
                frame.buffers[n] = buffer
                return buffer
        raise UserError(f"T.match_buffer: {param} is no parameter")
    frame = builder.find(BlockFrame, "T.match_buffer of a region")
    frame.match_buffers.append(tir.MatchBufferRegion(buffer=buffer, source=_region(param)))
    return buffer


# ---- blocks


class BlockFrame(Frame):
    """A block while its axes, regions and statements come."""

    SHOWN = "T.block(...)"

    def __init__(self, name: str, no_realize: bool):
        super().__init__()
        self.name, self.no_realize = name, no_realize
        self.axes: list = []
        self.values: list = []
        self.reads = self.writes = self.init = self.predicate = None
        self.annotations: dict = {}
        self.buffers: list = []
        self.match_buffers: list = []

    def finish(self, builder: IRBuilder) -> None:
        block = tir.Block(
            name_hint=self.name,
            iter_vars=self.axes,
            reads=self.reads or [],
            writes=self.writes or [],
            alloc_buffers=self.buffers,
            match_buffers=self.match_buffers,
            annotations=self.annotations,
            init=self.init,
            body=self.body(),
        )
        if self.reads is None or self.writes is None:
            reads, writes = _core.access_regions(block)
            block = block.replace(
                reads=reads if self.reads is None else self.reads,
                writes=writes if self.writes is None else self.writes,
            )
        if self.no_realize:
            builder.add(block)
            return
        predicate = tir.const(True) if self.predicate is None else self.predicate
        builder.add(tir.BlockRealize(iter_values=self.values, predicate=predicate, block=block))


def _block(what: str) -> BlockFrame:
    return IRBuilder.current().find(BlockFrame, what)


def block(name: str = "", no_realize: bool = False, **_) -> BlockFrame:
    """A block: `with T.block("C"):`"""
    return BlockFrame(name, no_realize)


class _InitFrame(Frame):
    def finish(self, builder: IRBuilder) -> None:
        frame = builder.frames[-1] if builder.frames else None
        if not isinstance(frame, BlockFrame):
            raise UserError("T.init is allowed only inside T.block(...)")
        if frame.init is not None:
            raise UserError(f'block "{frame.name}" has T.init twice')
        frame.init = self.body()


def init() -> Frame:
    """The statements that run when all reduce axes are at their start: `with T.init():`"""
    return _InitFrame()


def where(predicate) -> None:
    """For which values the block runs."""
    _block("T.where").predicate = _expr(predicate)


def _region(value):
    if isinstance(value, tir.BufferRegion):
        return value
    if isinstance(value, tir.BufferLoad):
        return tir.BufferRegion(value.buffer, [classes["ir.Range"](index, 1) for index in value.indices])
    if isinstance(value, tir.Buffer):
        return tir.BufferRegion(
            value, [classes["ir.Range"](tir.const_like(0, extent), extent) for extent in value.shape]
        )
    raise UserError(f"a region is a buffer with its indices, found a Python {type(value).__name__}")


def _regions(values) -> list:
    flat = []
    for value in values:
        flat.extend(value if isinstance(value, (list, tuple)) else [value])
    return [_region(value) for value in flat]


def reads(*regions) -> None:
    """Sets the regions that the block reads."""
    _block("T.reads").reads = _regions(regions)


def writes(*regions) -> None:
    """Sets the regions that the block writes."""
    _block("T.writes").writes = _regions(regions)


def block_attr(attrs: dict) -> None:
    """Annotations of the block."""
    _block("T.block_attr").annotations.update(_attrs(attrs))


def alloc_buffer(shape, dtype="float32", *layout, **options):
    """Memory that lives during the block around, or the function.  Arguments as of T.Buffer."""
    buffer = Buffer(shape, dtype, *layout, **options)
    builder = IRBuilder.current()
    for frame in reversed(builder.frames):
        if isinstance(frame, BlockFrame):
            frame.buffers.append(buffer)
            return buffer
    builder.find(PrimFuncFrame, "T.alloc_buffer").root_buffers.append(buffer)
    return buffer


class axis:
    """The axes of the block around."""

    @staticmethod
    def _new(kind: str, dom, binding, dtype):
        frame = _block(f"T.axis.{kind}")
        binding = _expr(binding)
        dtype = dtype or binding.dtype
        if not isinstance(dom, classes["ir.Range"]):
            begin, end = dom if isinstance(dom, (list, tuple)) else (0, dom)
            begin, end = (
                value if isinstance(value, _PrimExpr) else tir.const(value, dtype) for value in (begin, end)
            )
            dom = classes["ir.Range"](
                begin, end if isinstance(begin, tir.IntImm) and begin.value == 0 else end - begin
            )
        var = tir.Var("v", dtype)
        frame.axes.append(tir.IterVar(var=var, dom=dom, iter_type=kind))
        frame.values.append(binding)
        return var

    @staticmethod
    def spatial(dom, binding, dtype=None):
        """An axis whose values are independent."""
        return axis._new("spatial", dom, binding, dtype)

    @staticmethod
    def reduce(dom, binding, dtype=None):
        """An axis over which values are combined."""
        return axis._new("reduce", dom, binding, dtype)

    @staticmethod
    def scan(dom, binding, dtype=None):
        """An axis that runs in order."""
        return axis._new("scan", dom, binding, dtype)

    @staticmethod
    def opaque(dom, binding, dtype=None):
        """An axis of which nothing is promised."""
        return axis._new("opaque", dom, binding, dtype)

    @staticmethod
    def remap(kinds: str, bindings, dtype=None):
        """An axis for each loop variable of `bindings`, with its loop's range: S spatial, R reduce."""
        frames, made = IRBuilder.current().frames, []
        for kind, binding in zip(kinds, bindings, strict=True):
            loops = [
                dom for frame in frames for var, dom in getattr(frame, "loops", []) if var.same_as(binding)
            ]
            if not loops:
                raise UserError(
                    f"T.axis.remap takes loop variables, {binding} is none\nhelp: write T.axis.spatial(extent, value)"
                )
            made.append(axis._new({"S": "spatial", "R": "reduce"}[kind], loops[-1], binding, dtype))
        return made[0] if len(made) == 1 else made

    S, R = spatial, reduce


# ---- loops


class ForFrame(Frame):
    """One loop or several."""

    def __init__(self, vars_, loops: list, make):
        super().__init__(vars_[0] if isinstance(vars_, list) and len(vars_) == 1 else vars_)
        self.loops, self.make = loops, make  # [(variable, Range)]

    def finish(self, builder: IRBuilder) -> None:
        body = self.body()
        for var, dom in reversed(self.loops):
            body = self.make(var, dom, body)
        builder.add(body)


def _loop(kind: str, start, stop, annotations, thread: str = "") -> ForFrame:
    if stop is None:
        start, stop = 0, start
    stop = _expr(stop, start if isinstance(start, _PrimExpr) else None)
    start = _expr(start, stop)
    is_zero = isinstance(start, tir.IntImm) and start.value == 0
    dom = classes["ir.Range"](start, stop if is_zero else stop - start)

    def make(var, dom, body):
        return tir.For(
            min=dom.min,
            extent=dom.extent,
            loop_var=var,
            for_kind=kind,
            thread_tag=thread,
            annotations=_attrs(annotations),
            body=body,
        )

    var = tir.Var("v", stop.dtype)
    return ForFrame(var, [(var, dom)], make)


def serial(start, stop=None, *, annotations=None) -> ForFrame:
    """A loop: `with T.serial(8) as i:`"""
    return _loop("serial", start, stop, annotations)


def parallel(start, stop=None, *, annotations=None) -> ForFrame:
    """A loop whose iterations run on several threads."""
    return _loop("parallel", start, stop, annotations)


def vectorized(start, stop=None, *, annotations=None) -> ForFrame:
    """A loop whose iterations are lanes."""
    return _loop("vectorized", start, stop, annotations)


def unroll(start, stop=None, *, annotations=None) -> ForFrame:
    """A loop that becomes copies."""
    return _loop("unrolled", start, stop, annotations)


def thread_binding(start, stop=None, thread=None, *, annotations=None) -> ForFrame:
    """A loop over the threads of a device: `with T.thread_binding(8, thread="threadIdx.x") as i:`"""
    if thread is None and isinstance(stop, str):
        stop, thread = None, stop
    if thread is None:
        raise UserError('T.thread_binding needs the name of the threads\nhelp: thread="threadIdx.x"')
    return _loop("thread_binding", start, stop, annotations, thread)


def grid(*extents) -> ForFrame:
    """Loops in each other: `with T.grid(8, 8) as (i, j):`"""
    frames = [_loop("serial", extent, None, None) for extent in extents]
    loops = [loop for frame in frames for loop in frame.loops]
    return ForFrame([var for var, _ in loops], loops, frames[0].make)


def While(condition) -> Frame:
    """A while loop: `with T.While(condition):`"""
    return StmtFrame(lambda body: tir.While(condition, body))


# ---- other statements


def Assert(condition, message: str, error_kind=None) -> Frame:
    """An assertion and what comes after: `with T.Assert(condition, "message"):`"""

    def make(body):
        first = tir.AssertStmt(_expr(condition), message if isinstance(message, str) else message.value)
        return tir.SeqStmt([first, *(body.seq if isinstance(body, tir.SeqStmt) else [body])])

    return StmtFrame(make)


def LetStmt(value, type_annotation=None, *, var=None) -> Frame:
    """A variable and where it holds: `with T.LetStmt(value) as v:`"""
    value = _expr(value)
    var = tir.Var("v", type_annotation or value.dtype) if var is None else var
    return StmtFrame(lambda body: tir.LetStmt(value, var, body), var)


def attr(node, attr_key: str, value) -> Frame:
    """A property of what is inside: `with T.attr(node, "key", value):`"""
    value = tir.StringImm(value) if isinstance(value, str) else _expr(value)
    node = tir.StringImm(node) if isinstance(node, str) else node
    return StmtFrame(lambda body: tir.AttrStmt(node, attr_key, value, body))


def env_thread(thread_tag: str, dtype: str = "int32"):
    """The index of a thread, for T.launch_thread."""
    return tir.IterVar(var=tir.Var("v", dtype), dom=None, iter_type="thread", thread_tag=thread_tag)


def launch_thread(thread, extent) -> Frame:
    """Threads: `with T.launch_thread("blockIdx.x", 8) as i:`"""
    thread = env_thread(thread, getattr(extent, "dtype", "int32")) if isinstance(thread, str) else thread
    return StmtFrame(lambda body: tir.AttrStmt(thread, "thread_extent", _expr(extent), body), thread.var)


def allocate(extents, dtype, scope="global", condition=None, annotations=None) -> Frame:
    """Memory: `with T.allocate([8], "float32") as data:` gives its pointer."""
    if condition is not None and not (isinstance(condition, (bool, tir.IntImm)) and bool(condition)):
        raise UserError("unsupported: an allocation with a condition")
    buffer = Buffer(extents, dtype, scope=scope)
    return StmtFrame(lambda body: tir.AllocBuffer(buffer, _attrs(annotations), body), buffer.data)


def decl_buffer(shape, dtype="float32", data=None, *layout, **options) -> Frame:
    """A view of memory: `with T.decl_buffer((8,), "float32", data=pointer) as A:`; without data new memory."""
    buffer = Buffer(shape, dtype, data, *layout, **options)
    if data is None:
        return StmtFrame(lambda body: tir.AllocBuffer(buffer, {}, body), buffer)
    return StmtFrame(lambda body: tir.DeclBuffer(buffer, body), buffer)


class IfFrame(Frame):
    """An if statement; its branches are T.Then() and T.Else()."""

    def __init__(self, condition):
        super().__init__()
        self.condition, self.then_case, self.else_case = _expr(condition), None, None

    def finish(self, builder: IRBuilder) -> None:
        if self.stmts:
            raise UserError("statements of T.If(...) stand in T.Then() or T.Else()")
        if self.then_case is None:
            raise UserError("T.If(...) has no T.Then()")
        builder.add(tir.IfThenElse(self.condition, self.then_case, self.else_case))


class _BranchFrame(Frame):
    def __init__(self, branch: str, shown: str):
        super().__init__()
        self.branch, self.shown = branch, shown

    def finish(self, builder: IRBuilder) -> None:
        frame = builder.frames[-1] if builder.frames else None
        if not isinstance(frame, IfFrame):
            raise UserError(f"{self.shown} is allowed only inside T.If(...)")
        if getattr(frame, self.branch) is not None:
            raise UserError(f"T.If(...) has {self.shown} twice")
        setattr(frame, self.branch, self.body())


def If(condition) -> Frame:
    """An if statement: `with T.If(condition):`"""
    return IfFrame(condition)


def Then() -> Frame:
    """The statements that run if the condition holds."""
    return _BranchFrame("then_case", "T.Then()")


def Else() -> Frame:
    """The statements that run if the condition does not hold."""
    return _BranchFrame("else_case", "T.Else()")


def buffer_store(buffer, value, indices, predicate=None) -> None:
    """buffer[indices] = value"""
    value = value if isinstance(value, _PrimExpr) else tir.const(value, buffer.dtype)
    indices = [index if isinstance(index, _PrimExpr) else tir.const(index) for index in _axes(indices)]
    IRBuilder.current().add(tir.BufferStore(buffer=buffer, value=value, indices=indices, predicate=predicate))


def evaluate(value) -> None:
    """Computes `value` for its effect."""
    IRBuilder.current().add(tir.Evaluate(tir.StringImm(value) if isinstance(value, str) else _expr(value)))


# ---- values


def var(dtype: str, name: str = "v"):
    """A new variable."""
    return tir.Var(name, dtype)


def ptr(dtype: str, storage_scope: str = "global", is_size_var: bool = False):
    """A new pointer to values of `dtype`."""
    return handle(dtype, storage_scope)


def handle(dtype: str | None = None, storage_scope: str = "global", is_size_var: bool = False):
    """A new pointer; to values of `dtype`, if given."""
    if dtype is None:
        return tir.Var("v", "handle")
    return tir.Var("v", classes["ir.PointerType"](classes["ir.PrimType"](dtype), storage_scope))


def _dtype(name: str):
    def make(value=None, is_size_var: bool = False):
        if value is None:
            return tir.Var("v", name)
        return value.astype(name) if isinstance(value, _PrimExpr) else tir.const(value, name)

    make.__name__ = name
    return make


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(script_tir, name)
    return _dtype(name) if isinstance(found, script_tir._Dtype) else found


NAMES = {
    **{
        name: value for name, value in list(globals().items()) if not name.startswith("_") and callable(value)
    },
    "sblock": block,
    "sblock_attr": block_attr,
    "sblock_alloc_buffer": alloc_buffer,
    "Let": LetStmt,
    "__getattr__": __getattr__,
}
for _name in ("Frame", "StmtFrame", "IRBuilder", "ModuleFrame", "UserError"):
    del NAMES[_name]
del _name
