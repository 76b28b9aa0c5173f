"""The pass that puts what patterns match into functions of their own."""

from ...errors import UserError
from ...ir._nodes import classes
from ...ir.module import IRModule
from ...transform import PassContext
from ..analysis import free_vars, post_order_visit
from ..block_builder import BlockBuilder
from ..expr_functor import PyExprMutator
from ..external import merged
from .nodes import Match, Pattern, WildcardPattern

_Call, _Constant, _DataflowVar, _Function = (
    classes[f"relax.{name}"] for name in ("Call", "Constant", "DataflowVar", "Function")
)
_GlobalVar, _Var, _VarBinding = classes["ir.GlobalVar"], classes["relax.Var"], classes["relax.VarBinding"]


class PatternCheckContext:
    """The argument of a check of FuseOpsByPattern.

    matched_expr      the call that the whole pattern matched
    annotated_expr    {name of the annotation: what its pattern matched}
    matched_bindings  {variable: value} of what would be fused
    value_to_bound_var  {value: variable} of the same
    """

    def __init__(self, matched_expr, annotated_expr: dict, matched_bindings: dict):
        self.matched_expr, self.annotated_expr, self.matched_bindings = (
            matched_expr,
            annotated_expr,
            matched_bindings,
        )
        self.value_to_bound_var = {value: var for var, value in matched_bindings.items()}


class _Rule:
    """One row of FuseOpsByPattern's list: (name, pattern[, annotations[, check]])."""

    def __init__(self, row):
        if not isinstance(row, (tuple, list)) or not 2 <= len(row) <= 4 or not isinstance(row[1], Pattern):
            raise UserError(
                "FuseOpsByPattern: a row is no (name, pattern, annotations, check)"
                "\nhelp: name is a string, pattern what is_op and the like give; the other two may be left out"
            )
        self.name, self.pattern, self.annotations, self.check = (*row, *(None, None)[: 4 - len(row)])


class _Group:
    """Bindings of a block that one rule matched; the last one's variable is the result."""

    def __init__(self, rule: _Rule, bindings: list):
        self.rule, self.bindings = rule, bindings
        self.vars = [binding.var for binding in bindings]  # alive, so that their ids stay theirs

    @property
    def root(self):
        return self.bindings[-1]


def _groups_of(block, rules: list) -> list:
    """Groups that do not overlap; later bindings and earlier rules first."""
    bindings = [binding for binding in block.bindings if isinstance(binding, _VarBinding)]
    values = {binding.var: binding.value for binding in bindings}
    users: dict = {}
    for binding in bindings:
        for var in free_vars(binding.value):
            users.setdefault(var, []).append(binding.var)
    taken: set = set()
    groups = []
    for binding in reversed(bindings):
        for rule in rules:
            group = _match(rule, binding, bindings, values, users)
            if group is not None and not any(id(each.var) in taken for each in group.bindings):
                taken.update(id(each.var) for each in group.bindings)
                groups.append(group)
                break
    return groups


def _match(rule: _Rule, root, bindings: list, values: dict, users: dict) -> _Group | None:
    match = Match(values.get)
    if not isinstance(root.value, _Call) or not match.attempt(rule.pattern, root.value):
        return None
    inside = {id(root.var)}
    for pattern, expr in match.found.items():
        if isinstance(expr, _Var) and expr in values and not isinstance(pattern, WildcardPattern):
            inside.add(id(expr))
    group = [binding for binding in bindings if id(binding.var) in inside]
    for binding in group[:-1]:
        seen_outside = not isinstance(binding.var, _DataflowVar)
        if seen_outside or any(id(user) not in inside for user in users.get(binding.var, [])):
            return None
    if rule.check is not None:
        annotated = {
            name: match.found[part] for name, part in (rule.annotations or {}).items() if part in match.found
        }
        context = PatternCheckContext(root.value, annotated, {each.var: each.value for each in group})
        if not rule.check(context):
            return None
    return _Group(rule, group)


class _Fuser(PyExprMutator):
    def __init__(self, mod, rules: list, bind_constants: bool):
        super().__init__(mod)
        self.rules, self.bind_constants = rules, bind_constants
        self.by_root: dict = {}
        self.inner: set = set()

    def visit_dataflow_block_(self, block):
        groups = _groups_of(block, self.rules)
        self.by_root = {id(group.vars[-1]): group for group in groups}
        self.inner = {id(var) for group in groups for var in group.vars[:-1]}
        super().visit_dataflow_block_(block)

    def visit_var_binding_(self, binding):
        if id(binding.var) in self.inner:
            return
        group = self.by_root.get(id(binding.var))
        if group is not None:
            binding = binding.replace(value=self._call_of(group))
        super().visit_var_binding_(binding)

    def _call_of(self, group: _Group):
        """A call of a new function with the bindings of the group."""
        defined = {id(var) for var in group.vars}
        inputs: dict = {}
        for binding in group.bindings:
            for value in _inputs_of(binding.value, not self.bind_constants):
                if id(value) not in defined:
                    inputs.setdefault(id(value), value)
        args = list(inputs.values())
        params = [_Var(getattr(arg, "name_hint", f"const_{n}"), arg.type) for n, arg in enumerate(args)]
        body = _Copy(dict(zip(inputs, params, strict=True)))
        builder = body.builder_
        names = [
            binding.value.op.name.replace(".", "_")
            for binding in group.bindings
            if isinstance(binding.value, _Call)
        ]
        name = "_".join(["fused", *names])
        with builder.function(
            name, params, attrs={"Composite": group.rule.name, "Primitive": 1}, private=True
        ):
            with builder.dataflow():
                for binding in group.bindings[:-1]:
                    body.set_var_remap(binding.var, builder.emit(body.visit_expr(binding.value)))
                result = builder.emit_output(body.visit_expr(group.root.value))
            builder.emit_func_output(result)
        return self.builder_.add_func(builder.get()[name], name)(*args)


class _Copy(PyExprMutator):
    """Values with parameters in the place of inputs."""

    def __init__(self, params: dict):
        super().__init__()
        self.params = params

    def visit_var_(self, var):
        return self.params.get(id(var)) or self.get_var_remap(var)

    visit_dataflow_var_ = visit_var_

    def visit_constant_(self, constant):
        return self.params.get(id(constant), constant)


def _inputs_of(value, constants_too: bool) -> list:
    """Variables that `value` uses, and constants if they are to be parameters, in order."""
    kinds = (_Var, _Constant) if constants_too else (_Var,)
    found: list = []
    post_order_visit(value, lambda inner: found.append(inner) if isinstance(inner, kinds) else None)
    return found


class FuseOpsByPattern:
    """Puts what patterns match in dataflow blocks into functions of their own, with attributes Composite and Primitive.

    patterns        list of (name, pattern) or (name, pattern, {annotation: pattern}, check): name becomes the attribute Composite,
                    check(PatternCheckContext) -> bool says whether to fuse; earlier rows come first
    bind_constants  constants stay inside of the function instead of being its arguments; default True
    annotate_codegen  each such function is called by one with the attribute Codegen, what stands before the dot in `name`, for
                    RunCodegen; default False
    entry_functions  names of the functions to look at; default all
    What a match has inside must be used by nothing outside of it, and what wildcard() matches stays outside.
    Raises UserError for a row that is none.
    >>> from tilewright.relax.pattern import is_op, wildcard
    >>> fuse = relax.transform.FuseOpsByPattern([("my.relu", is_op("relax.nn.relu")(wildcard()))])
    >>> fused = fuse(mod)
    """

    def __init__(
        self, patterns, bind_constants: bool = True, annotate_codegen: bool = False, entry_functions=None
    ):
        self.entry_functions = None if entry_functions is None else list(entry_functions)
        self.rules = [_Rule(row) for row in patterns]
        self.bind_constants, self.annotate_codegen = bind_constants, annotate_codegen

    def __call__(self, mod: IRModule) -> IRModule:
        """The transformed module; `mod` itself if nothing matched."""
        if "fuse_ops_by_pattern" in PassContext.current().disabled_pass:
            return mod
        builder = BlockBuilder(mod)
        for name, func in mod.functions.items():
            if not isinstance(func, _Function) or "Primitive" in (func.attrs or {}):
                continue
            if self.entry_functions and name.name_hint not in self.entry_functions:
                continue
            fuser = _Fuser(builder.get(), self.rules, self.bind_constants)
            changed = fuser.visit_expr(func)
            if changed is not func:
                builder = fuser.builder_
                builder.update_func(name, changed)
        result = builder.get()
        if result.__tilewright_node__() is mod.__tilewright_node__():
            result = mod
        if not self.annotate_codegen:
            return result
        return merged(result, False)
