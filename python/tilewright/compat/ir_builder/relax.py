"""tvm.script.ir_builder.relax: graphs.  What is not here is that of tilewright.script.relax: types, operators."""

from tilewright import relax
from tilewright.errors import UserError
from tilewright.script import relax as script_relax

from .base import Frame, IRBuilder
from .ir import ModuleFrame

_NAME = "main"  # of a function while it is open


class Bindings(Frame):
    """A frame in which bindings are emitted; `last` is the variable of the last one."""

    SHOWN = "R.function()"
    last = None


class FunctionFrame(Bindings):
    """A function while its parameters and bindings come."""

    def __init__(self, is_pure: bool, is_private: bool):
        super().__init__()
        self.is_pure, self.is_private = is_pure, is_private
        self.name = None
        self.params: list = []
        self.attrs: dict = {}
        self.ret_type = None
        self.result = None
        self.graph = relax.BlockBuilder()

    def __enter__(self):
        self.graph._core.begin_function(_NAME, None, {}, self.is_pure, True)
        return super().__enter__()

    def finish(self, builder: IRBuilder) -> None:
        if self.result is None:
            raise UserError("the function returns nothing\nhelp: R.func_ret_value(value)")
        self.graph.emit_func_output(self.result, self.params)
        self.graph._core.end_function()
        attrs = dict(self.attrs)
        if self.name is not None and not self.is_private:
            attrs.setdefault("global_symbol", self.name)
        func = self.graph.get()[_NAME].replace(attrs=attrs)
        if self.ret_type is not None:
            func = func.replace(ret_type=self.ret_type)
        if not (builder.frames and isinstance(builder.frames[-1], ModuleFrame)):
            builder.set_result(func)
            return
        if self.name is None:
            raise UserError("a function of a module needs a name\nhelp: R.func_name(...)")
        builder.frames[-1].functions[self.name] = func


def _function(what: str) -> FunctionFrame:
    return IRBuilder.current().find(FunctionFrame, what)


def function(is_pure: bool = True, is_private: bool = False) -> FunctionFrame:
    """A function: `with R.function():`"""
    return FunctionFrame(is_pure, is_private)


def func_name(name: str) -> None:
    """The function's name."""
    _function("R.func_name").name = name


def func_attr(attrs: dict) -> None:
    """Attributes of the function."""
    _function("R.func_attr").attrs.update(attrs)


def func_ret_struct_info(ret_sinfo) -> None:
    """The type of the function's result."""
    _function("R.func_ret_struct_info").ret_type = ret_sinfo


def func_ret_value(value) -> None:
    """The function's result."""
    _function("R.func_ret_value").result = value


def arg(name: str, struct_info):
    """The next parameter."""
    param = relax.Var(name, struct_info)
    _function("R.arg").params.append(param)
    return param


# ---- bindings


def _emitted(var):
    IRBuilder.current().find(Bindings, "R.emit").last = var
    return var


def emit(value, annotate_struct_info=None):
    """A new variable bound to `value`; with a type, of that type."""
    graph = _function("R.emit").graph
    if annotate_struct_info is None:
        return _emitted(graph.emit(value))
    value = graph.normalize(value)
    kind = relax.DataflowVar if graph.current_block_is_dataflow() else relax.Var
    return emit_var_binding(relax.VarBinding(kind(graph.get_unique_name("lv"), annotate_struct_info), value))


def emit_te(func, *args, **kwargs):
    """A new variable bound to a call of the loop program that `func` describes."""
    return _emitted(_function("R.emit_te").graph.emit_te(func, *args, **kwargs))


def emit_match_cast(value, struct_info):
    """A new variable bound to `value`, which is checked to have the type when it runs."""
    return _emitted(_function("R.emit_match_cast").graph.match_cast(value, struct_info))


def emit_var_binding(binding):
    """The variable of a binding that is added as it is."""
    return _emitted(_function("R.emit_var_binding").graph.emit_normalized(binding))


class _Outputs(relax.PyExprMutator):
    """Emits a dataflow block again, with plain variables for some of its own."""

    def __init__(self, graph, outputs: dict):
        super().__init__()
        self.builder_, self.outputs = graph, outputs

    def visit_dataflow_var_def_(self, var):
        return self.outputs.get(var, var)


class DataflowFrame(Bindings):
    """A dataflow block; `output_vars` are its outputs as they are seen outside."""

    SHOWN = "R.dataflow()"

    def __init__(self):
        super().__init__()
        self.outputs: list = []
        self.output_vars: list = []
        self.graph = None

    def __enter__(self):
        self.graph = _function("R.dataflow").graph
        self.graph._begin_dataflow_block()
        return super().__enter__()

    def finish(self, builder: IRBuilder) -> None:
        block = self.graph._end_block()
        plain = {var: relax.Var(var.name_hint, var.type) for var in self.outputs}
        for old, new in plain.items():
            if old in builder.names:
                builder.names[new] = builder.names[old]
        _Outputs(self.graph, plain).visit_binding_block(block)
        self.output_vars = list(plain.values())


def dataflow() -> DataflowFrame:
    """A dataflow block: `with R.dataflow() as df:`"""
    return DataflowFrame()


def output(*vars) -> None:
    """The variables of the dataflow block that are seen outside; afterwards they are in df.output_vars."""
    IRBuilder.current().find(DataflowFrame, "R.output").outputs = list(vars)


class BranchFrame(Bindings):
    """One branch of R.If; its value is the last variable that is bound in it."""

    def __init__(self, place: str):
        super().__init__()
        self.place = place

    def __enter__(self):
        _function(f"R.{self.place}").graph._core.begin_scope([])
        return super().__enter__()

    def finish(self, builder: IRBuilder) -> None:
        if self.last is None:
            raise UserError(f"R.{self.place} has no binding, whose value the branch would be")
        branch = _function(f"R.{self.place}").graph._core.end_scope(self.last)
        owner = builder.find(IfFrame, f"R.{self.place}")
        owner.branches[self.place], owner.name = branch, builder.names.get(self.last, owner.name)


class IfFrame(Frame):
    """A choice between R.Then and R.Else; `var` is its value."""

    SHOWN = "R.If(condition)"

    def __init__(self, condition):
        super().__init__()
        self.condition, self.name, self.var = condition, "", None
        self.branches: dict = {}

    def finish(self, builder: IRBuilder) -> None:
        if len(self.branches) != 2:
            raise UserError("R.If needs R.Then and R.Else")
        graph = _function("R.If").graph
        choice = relax.If(self.condition, self.branches["Then"], self.branches["Else"])
        self.var = _emitted(graph.emit(choice, self.name))


def If(condition) -> IfFrame:
    """A choice: `with R.If(condition) as choice:`"""
    return IfFrame(condition)


def Then() -> BranchFrame:
    """The branch of R.If for true."""
    return BranchFrame("Then")


def Else() -> BranchFrame:
    """The branch of R.If for false."""
    return BranchFrame("Else")


_OWN = (
    "If", "Then", "Else", "arg", "dataflow", "emit", "emit_match_cast", "emit_te", "emit_var_binding", "func_attr",
    "func_name", "func_ret_struct_info", "func_ret_value", "function", "output",
)  # fmt: skip
NAMES = {name: globals()[name] for name in _OWN} | {"__getattr__": script_relax.__getattr__}
