"""Functions of graphs that libraries of others compute: what patterns matched goes to the generator that Codegen names.

FuseOpsByPattern(patterns, annotate_codegen=True), or FuseOpsByPattern(patterns) and MergeCompositeFunctions(), mark the
functions; RunCodegen() gives each to its generator and calls what that made.  cblas.py is a whole example.
"""

from .._guard import guard_class, guard_module
from ..errors import UserError
from ..ir import structural_hash
from ..ir._nodes import classes
from ..ir.module import IRModule
from ..runtime import register_func
from .analysis import free_vars, post_order_visit
from .block_builder import BlockBuilder
from .expr_functor import PyExprMutator

_Call, _Constant, _DataflowVar, _ExternFunc, _Function, _Tuple, _Var, _VarBinding = (
    classes[f"relax.{name}"]
    for name in ("Call", "Constant", "DataflowVar", "ExternFunc", "Function", "Tuple", "Var", "VarBinding")
)
_GlobalVar, _TupleType = classes["ir.GlobalVar"], classes["ir.TupleType"]

_generators: dict = {}


def register_codegen(name: str, generator=None):
    """Says who makes the code of functions with the attribute Codegen `name`.

    name       what stands before the dot in names of patterns: "cblas" of "cblas.matmul"
    generator  (function, module, options) -> a Python function of the arguments and the tensors to write; left out when used as a
               decorator
    Returns    the generator, or a decorator
    A generator registered before under this name is replaced.
    >>> @relax.transform.register_codegen("mine")
    ... def generate(func, mod, options): return lambda x, out: print(func)
    """

    def register(made):
        _generators[name] = made
        return made

    return register if generator is None else register(generator)


def called_function(call, mod):
    """(name, function) of a call of a graph function of `mod`, else (None, None)."""
    if isinstance(call, _Call) and isinstance(call.op, _GlobalVar) and call.op.name_hint in mod:
        func = mod[call.op.name_hint]
        if isinstance(func, _Function):
            return call.op.name_hint, func
    return None, None


def _compiler_of(call, mod) -> str | None:
    _, func = called_function(call, mod)
    composite = (func.attrs or {}).get("Composite") if func is not None else None
    return str(composite).partition(".")[0] if composite else None


def _groups_of(block, mod, merges: bool) -> list:
    """Lists of bindings for one compiler each; what a group computes before its last binding is used only inside."""
    bindings = [binding for binding in block.bindings if isinstance(binding, _VarBinding)]
    users: dict = {}
    for binding in block.bindings:
        for var in free_vars(binding.value):
            users.setdefault(var, []).append(binding.var)
    group_of: dict = {}
    groups: list = []
    for binding in reversed(bindings):
        compiler = _compiler_of(binding.value, mod)
        if compiler is None:
            continue
        around = {id(group_of.get(user)) for user in users.get(binding.var, [])}
        group = group_of.get(users[binding.var][0]) if len(around) == 1 else None
        can_join = merges and isinstance(binding.var, _DataflowVar) and group is not None
        if not can_join or group[0] != compiler:
            group = (compiler, [])
            groups.append(group)
        group[1].insert(0, binding)
        group_of[binding.var] = group
    return groups


class _Merger(PyExprMutator):
    def __init__(self, mod, merges: bool):
        super().__init__(mod)
        self.mod, self.merges = mod, merges
        self.by_last: dict = {}
        self.inner: set = set()

    def visit_dataflow_block_(self, block):
        groups = _groups_of(block, self.mod, self.merges)
        self.by_last = {bindings[-1].var: (compiler, bindings) for compiler, bindings in groups}
        self.inner = {binding.var for _, bindings in groups for binding in bindings[:-1]}
        super().visit_dataflow_block_(block)

    def visit_var_binding_(self, binding):
        if binding.var in self.inner:
            return
        if binding.var in self.by_last:
            binding = binding.replace(value=self._call_of(*self.by_last[binding.var]))
        super().visit_var_binding_(binding)

    def _call_of(self, compiler: str, bindings: list):
        """A call of a new function with the calls of the group."""
        defined = {binding.var for binding in bindings}
        args: dict = {}
        for binding in bindings:
            for arg in binding.value.args:
                if isinstance(arg, _Var | _DataflowVar | _Constant) and arg not in defined:
                    args.setdefault(arg, arg)
        params = {arg: _Var(getattr(arg, "name_hint", f"const_{n}"), arg.type) for n, arg in enumerate(args)}
        builder = BlockBuilder(self.builder_.get())
        name = f"{bindings[-1].value.op.name_hint}_{compiler}"
        while name in builder.get():
            name += "_"
        with builder.function(name, list(params.values()), attrs={"Codegen": compiler}, private=True):
            with builder.dataflow():
                values = dict(params)
                for binding in bindings:
                    call = binding.value.op(*[values.get(arg, arg) for arg in binding.value.args])
                    is_last = binding is bindings[-1]
                    values[binding.var] = builder.emit_output(call) if is_last else builder.emit(call)
            builder.emit_func_output(values[bindings[-1].var])
        return self.builder_.add_func(builder.get()[name], name)(*args)


def merged(mod: IRModule, merges: bool) -> IRModule:
    """`mod` with its composite functions called by functions with the attribute Codegen."""
    for name, func in mod.functions.items():
        if not isinstance(func, _Function) or {"Composite", "Codegen"} & set(func.attrs or {}):
            continue
        merger = _Merger(mod, merges)
        changed = merger.visit_expr(func)
        if not changed.same_as(func):
            merger.builder_.update_func(name, changed)
            mod = merger.builder_.get()
    return mod


class MergeCompositeFunctions:
    """Moves calls of composite functions that belong together into one function with the attribute Codegen.

    lv = fused_matmul(x, w); gv = fused_relu(lv)     both Composite "mine...."
    ->  gv = fused_relu_mine(x, w), a function with Codegen "mine" that calls both
    Groups have one result; what they compute before it is used only inside.
    """

    def __init__(self) -> None:
        """Without options."""

    def __call__(self, mod: IRModule) -> IRModule:
        """The transformed module; `mod` itself if it has no composite functions."""
        return merged(mod, True)


class RunCodegen:
    """Functions with the attribute Codegen are computed by what the generator of that name makes.

    target_options   {name of a generator: dict that it gets}; default none
    entry_functions  names of functions to keep, with all that they reach; default: public ones and main
    Raises           UserError if nobody registered the generator (register_codegen)
    What a generator makes is registered in this process (register_func) and called by R.call_dps_packed.
    """

    def __init__(self, target_options: dict | None = None, entry_functions=None):
        self.options, self.entries = dict(target_options or {}), list(entry_functions or [])

    def __call__(self, mod: IRModule) -> IRModule:
        """The transformed module; `mod` itself if no function has the attribute."""
        symbols = {
            var.name_hint: self._generated(var.name_hint, func, mod)
            for var, func in mod.functions.items()
            if isinstance(func, _Function) and "Codegen" in (func.attrs or {})
        }
        if not symbols:
            return mod
        for name, func in mod.functions.items():
            if isinstance(func, _Function) and name.name_hint not in symbols:
                caller = _Caller(mod, symbols)
                changed = caller.visit_expr(func)
                if not changed.same_as(func):
                    caller.builder_.update_func(name, changed)
                    mod = caller.builder_.get()
        from . import transform

        return transform.dead_code_elimination(entry_functions=self.entries)(mod)

    def _generated(self, name: str, func, mod) -> str:
        compiler = str(func.attrs["Codegen"])
        generator = _generators.get(compiler)
        if generator is None:
            known = ", ".join(sorted(_generators)) or "none"
            raise UserError(
                f'RunCodegen: nobody makes code for Codegen "{compiler}", which function {name} asks for'
                f"\nhelp: relax.transform.register_codegen; registered are: {known}"
            )
        made = generator(func, mod, self.options.get(compiler, {}))
        # other modules of the process have functions of the same name
        inside = [mod[var] for var in _functions_called(func)]
        digest = "_".join(str(structural_hash(each)) for each in (func, *inside))
        symbol = f"{name}_{abs(hash_of(digest)):x}"
        register_func(symbol, made, override=True)
        return symbol


def hash_of(text: str) -> int:
    """A number made of `text`, the same in every process (FNV-1a, 64 bits)."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


def _functions_called(func) -> list:
    found: list = []
    post_order_visit(func, lambda expr: found.append(expr) if isinstance(expr, _GlobalVar) else None)
    return found


class _Caller(PyExprMutator):
    def __init__(self, mod, symbols: dict):
        super().__init__(mod)
        self.symbols = symbols

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        symbol = self.symbols.get(call.op.name_hint) if isinstance(call.op, _GlobalVar) else None
        if symbol is None:
            return call
        types = call.type.elements if isinstance(call.type, _TupleType) else [call.type]
        from . import op

        outer = op.call_dps_packed(_ExternFunc(symbol), _Tuple(list(call.args)))
        return outer.replace(type_args=list(types))


guard_module("tilewright.relax.transform", globals(), ["register_codegen"])
for _class in (MergeCompositeFunctions, RunCodegen):
    guard_class(f"tilewright.relax.transform.{_class.__name__}", _class)
