"""Nodes made by hand from values that they cannot have: a clear error, where programs once crashed."""

import pytest

import tilewright
from tilewright import relax, te, tir
from tilewright.ir._nodes import classes
from tilewright.script import parse

X = relax.Var("x", relax.TensorType((3,), "float32"))
VarBinding, PlainBlock = classes["relax.VarBinding"], classes["relax.PlainBlock"]
ShapeOf = tilewright._core.relax_shape


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: VarBinding(var=None), "relax.VarBinding: a binding needs a variable and a value"),
        (lambda: VarBinding(var=X, value=None), "relax.VarBinding: a binding needs a variable and a value"),
        (lambda: PlainBlock([None]), "argument bindings (in order) holds None at 0"),
        (
            lambda: ShapeOf([3, None]),
            "an extent is a Python NoneType, expected an integer or an integer expression",
        ),
        (lambda: ShapeOf(["n"]), "a dimension has dtype void, expected an integer"),
        (
            lambda: relax.TensorType([None]),
            "an extent is a Python NoneType, expected an integer or an integer expression",
        ),
        (
            lambda: relax.TensorType(relax.const(1.0)),
            'the shape of a tensor is R.const(1.0, "float32"), expected a shape or a list of extents',
        ),
        (
            lambda: relax.TensorType(X),
            "the shape of a tensor is x, expected a shape or a list of extents",
        ),
        (
            lambda: tilewright.IRModule({}).with_attr("k", {1: 2}),
            "k: attribute names must be strings, but one is a Python int",
        ),
    ],
)
def test_refused(make, text):
    with pytest.raises(tilewright.UserError) as error:
        make()
    assert str(error.value).removeprefix("error: ").partition("\nhelp: ")[0] == text


def test_a_function_whose_callee_stayed_behind():
    module = parse(
        """
@I.ir_module
class Module:
    @R.function
    def helper(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = Module.helper(x)
        return y
"""
    )
    with pytest.raises(tilewright.UserError) as error:
        tilewright.compile(tilewright.IRModule({"main": module["main"]}))
    assert str(error.value) == (
        "error: helper is called, but the module has no function of that name\n"
        "  <script>:10:13\n"
        "  10 |         y = Module.helper(x)\n"
        "     |             ^^^^^^^^^^^^^^^^\n"
        "help: compile the module that has it instead of one of its functions"
    )


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_statement_that_is_missing(target):
    branch = tir.IfThenElse(True, None, None)
    func = tir.PrimFunc([], [], tir.SeqStmt([branch, branch]))
    for use in (lambda: tilewright.build(func, target=target), lambda: tir.interpret(func)):
        with pytest.raises(tilewright.UserError) as error:
            use()
        assert str(error.value).removeprefix("error: ").removeprefix("main: ") == (
            "a statement is missing\nhelp: give each loop, branch and block a body"
        )
    assert repr(func).count("if T.bool(True):") == 2


GROUPS = sorted(name for name in classes if "." not in name)


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("given", [(), (1,), ([],), ("a", None)])
def test_a_group_of_nodes_is_no_node(name, given):
    with pytest.raises(
        TypeError, match=f"^{name} is a group of nodes, not one of them\nhelp: make one of [a-z]+[.][A-Z]"
    ):
        classes[name](*given)


def test_a_group_names_its_kinds():
    with pytest.raises(TypeError) as error:
        classes["BindingBlock"]([])
    assert str(error.value) == (
        "BindingBlock is a group of nodes, not one of them\nhelp: make one of relax.PlainBlock, relax.DataflowBlock"
    )


@pytest.mark.parametrize("kind", sorted(name for name in classes if "." in name))
@pytest.mark.parametrize("given", [(), (None,), (1,), ("a",), ([],), ({},)])
def test_a_node_that_is_made_can_be_looked_at(kind, given):
    try:
        node = classes[kind](*given)
    except (TypeError, ValueError, tilewright.UserError):
        return
    for name in node.field_names:
        getattr(node, name)
    for look in (repr, str, hash):
        try:
            look(node)
        except (TypeError, tilewright.UserError):  # hash
            pass


PROGRAM = """
@I.ir_module
class M:
    @T.prim_func
    def f(a: T.handle, J: T.Buffer((8,), "int32"), x: T.float32):
        n = T.int64()
        A = T.match_buffer(a, (n, 8), "float32")
        y: T.float32 = x + T.float32(1)
        C = T.alloc_buffer((8,), "float32")
        for i, j in T.grid(n, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    A[vi, vj] = T.float32(0)
                V = T.match_buffer(A[vi, vj], (), "float32")
                A[vi, vj] = T.if_then_else(vj < 4, T.Select(vj > 1, T.exp(x), y), T.Cast("float32", J[vj]))
        D = T.decl_buffer((4,), "float32", data=C.data)
        D[0:4] = T.Broadcast(T.float32(1), 4)
    @R.function
    def main(x: R.Tensor((8,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((8,), "float32"):
        with R.dataflow():
            y = R.add(x, R.const(1, "float32"))
            t = (x, y)
            z = t[0]
            R.output(z)
        if c:
            w = R.exp(z)
        else:
            w = z
        v = R.match_cast(w, R.Tensor((8,), "float32"))
        return v
"""


def nodes_of(part, found):
    if isinstance(part, list | tuple):
        for each in part:
            nodes_of(each, found)
    elif hasattr(part, "field_names") and not any(each.same_as(part) for each in found):
        found.append(part)
        for name in part.field_names:
            nodes_of(getattr(part, name), found)
    return found


def test_a_node_that_loses_a_part_is_refused_or_can_be_looked_at():
    A, k = te.placeholder((4, 4), "float32", name="A"), te.reduce_axis((0, 4), name="k")
    total = te.compute((4,), lambda i: te.sum(A[i, k], axis=[k]), name="B")
    roots = [*parse(PROGRAM).functions.values(), *total.op.body, *total.op.axis]
    tried = set()
    for node in nodes_of(roots, []):
        for name in node.field_names:
            if (type(node), name) in tried:
                continue
            tried.add((type(node), name))
            for left in (None, [None]):
                try:
                    made = node.replace(**{name: left})
                except (TypeError, ValueError, tilewright.UserError):
                    continue
                for look in (repr, str):
                    try:
                        look(made)
                    except (TypeError, tilewright.UserError):
                        pass
    assert len(tried) > 120


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: classes["relax.Constant"](), "relax.Constant: the data is missing"),
        (lambda: classes["tir.Call"](), "tir.Call: the op is missing"),
        (lambda: classes["tir.LetStmt"](var=tir.Var("x", "int32")), "tir.LetStmt: the value is missing"),
        (lambda: classes["tir.IterVar"](None), "tir.IterVar: the var is missing"),
        (
            lambda: classes["tir.BufferRegion"](tir.decl_buffer((3,)), [None]),
            "argument region (one range per dimension) holds None at 0",
        ),
    ],
)
def test_a_part_that_is_missing(make, text):
    with pytest.raises(tilewright.UserError) as error:
        make()
    assert str(error.value).removeprefix("error: ").partition("\nhelp: ")[0] == text
