"""Refusals of well_formed and compile: variables that are defined twice, results that are not of their declared type."""

import pytest

import tilewright
from tilewright import relax
from tilewright.ir import IRModule

F32 = "float32"


def var(name, *shape):
    return relax.Var(name, relax.TensorType(shape, F32))


def function(params, bindings, result, ret_type=None):
    block = relax.PlainBlock([relax.VarBinding(each, value) for each, value in bindings])
    return relax.Function(
        params, relax.SeqExpr([block], result), ret_type or result.type, attrs={"global_symbol": "main"}
    )


def error_of(module):
    assert not relax.analysis.well_formed(module)
    with pytest.raises(tilewright.UserError) as error:
        tilewright.compile(module)
    return str(error.value)


def test_a_variable_that_is_bound_twice():
    x, y = var("x", 3), var("y", 3)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, x)), (y, relax.op.multiply(y, x))], y)})
    assert error_of(module) == (
        "error: variable y is defined twice: by a binding of function main and by a binding of function main\n"
        "help: define another variable, and use that from there on"
    )


def test_a_parameter_that_is_bound_again():
    x = var("x", 3)
    module = IRModule({"main": function([x], [(x, relax.op.add(x, x))], x)})
    assert error_of(module) == (
        "error: variable x is defined twice: by a parameter of function main and by a binding of function main\n"
        "help: define another variable, and use that from there on"
    )


def test_one_variable_of_two_functions():
    x, y, z = var("x", 3), var("y", 3), var("z", 3)
    first = function([x], [(y, relax.op.add(x, x))], y)
    module = IRModule({"main": first, "other": function([x], [(z, relax.op.add(x, x))], z)})
    assert not relax.analysis.well_formed(module)
    assert relax.analysis.well_formed(IRModule({"main": first}))


def test_a_result_of_another_type():
    x, y = var("x", 3), var("y", 3)
    wrong = relax.TensorType((4,), F32)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, x))], y, wrong)})
    assert error_of(module) == (
        'error: function main returns R.Tensor((3,), "float32"), but R.Tensor((4,), "float32") is written'
    )


def test_a_result_of_a_type_that_says_less():
    x, y = var("x", 3), var("y", 3)
    less = relax.TensorType(ndim=1, dtype=F32)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, x))], y, less)})
    assert relax.analysis.well_formed(module)


def test_a_variable_that_is_bound_after_its_use():
    x, y, z = var("x", 3), var("y", 3), var("z", 3)
    module = IRModule({"main": function([x], [(y, relax.op.exp(z)), (z, relax.op.exp(x))], y)})
    assert error_of(module) == "error: the variable z is used before it is defined"


def test_a_variable_that_is_bound_by_itself():
    x, y = var("x", 3), var("y", 3)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, y))], y)})
    assert error_of(module) == "error: the variable y is used before it is defined"


def test_a_variable_of_a_branch_that_is_used_behind_it():
    x, c, y, z = var("x", 3), relax.Var("c", relax.TensorType((), "bool")), var("y", 3), var("z", 3)
    taken = relax.SeqExpr([relax.PlainBlock([relax.VarBinding(y, relax.op.exp(x))])], y)
    choice = relax.If(c, taken, relax.SeqExpr([], x))
    module = IRModule({"main": function([x, c], [(z, choice)], y)})
    assert error_of(module) == behind("y")
    assert relax.analysis.well_formed(IRModule({"main": function([x, c], [(z, choice)], z)}))


def test_one_function_of_two_names():
    x, y = var("x", 3), var("y", 3)
    one = function([x], [(y, relax.op.add(x, x))], y)
    assert error_of(IRModule({"main": one, "other": one})) == (
        "error: variable x is defined twice: by a parameter of function main and by a parameter of function other\n"
        "help: define another variable, and use that from there on"
    )


def test_a_function_that_calls_itself_is_used_before_its_binding_ends():
    text = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        @R.function
        def f(y: R.Tensor((3,), "float32"), n: R.Tensor((), "int32")) -> R.Tensor((3,), "float32"):
            if R.greater(n, R.const(0, "int32")):
                z = f(R.add(y, y), R.subtract(n, R.const(1, "int32")))
            else:
                z = y
            return z
        r = f(x, R.const(2, "int32"))
        return r
"""
    assert relax.analysis.well_formed(tilewright.script.parse(text))


# ---- well_formed and compile agree


def dataflow(name):
    return relax.DataflowVar(name, relax.TensorType((3,), F32))


def seq(bindings, result):
    return relax.SeqExpr([plain(bindings)], result)


def plain(bindings, kind=relax.PlainBlock):
    return kind([each if isinstance(each, relax.MatchCast) else relax.VarBinding(*each) for each in bindings])


def main(params, blocks, result, ret_type=None):
    blocks = [each if hasattr(each, "bindings") else plain(each) for each in blocks]
    ret_type = ret_type or relax.TensorType(ndim=1, dtype=F32)
    return relax.Function(params, relax.SeqExpr(blocks, result), ret_type)


exp, add = relax.op.exp, relax.op.add
OPEN = relax.TensorType(ndim=1, dtype=F32)


class Parts:
    """Variables and sizes for one module."""

    def __init__(self):
        self.x, self.y, self.z, self.q, self.r = (var(name, 3) for name in "xyzqr")
        self.c, self.f = relax.Var("c", relax.TensorType((), "bool")), relax.Var("f")
        self.n, self.k = tilewright.tir.Var("n", "int64"), tilewright.tir.Var("k", "int64")
        self.open, self.d = relax.Var("x", OPEN), dataflow("d")

    def inner(self, value=None):
        """A local function of q."""
        return main([self.q], [[(self.z, value or exp(self.q))]], self.z)

    def cast(self, var="y", extent=None):
        """y = R.match_cast(x, R.Tensor((n,)))"""
        pattern = relax.TensorType((self.n if extent is None else extent,), F32)
        return relax.MatchCast(self.open, pattern, relax.Var(var, pattern))

    def zeros(self, size):
        return relax.op.zeros(relax.ShapeExpr([size]), F32)


def without(name, where="main"):
    return f"error: function {where} uses the variable {name}, which it does not define"


def behind(name):
    return (
        f"error: the variable {name} is used outside of the branch or function that defines it\n"
        "help: make it the result there"
    )


def early(name):
    return f"error: the variable {name} is used before it is defined"


def twice(name, first, second):
    return (
        f"error: variable {name} is defined twice: by {first} and by {second}\n"
        "help: define another variable, and use that from there on"
    )


def size(name):
    return (
        f"error: the dimension {name} is used before a parameter or match_cast defines it\n"
        "help: give it as a dimension of a parameter, or bind it with R.match_cast"
    )


A, B = "a parameter of function main", "a binding of function main"
OTHER = "\nhelp: it is a {} of function main: pass it as an argument"


def two(p, *functions):
    first = main([p.x], [[(p.y, exp(p.x))]], p.y).with_attr("global_symbol", "main")
    return {"main": first, **dict(zip("ab", functions, strict=False))}


def local(p, *before, value=None, behind=()):
    return main([p.x], [[*before, (p.f, p.inner(value)), *behind]], p.x)


MALFORMED = {
    "a variable of nobody": (lambda p: main([p.x], [[(p.y, exp(p.z))]], p.y), without("z")),
    "a result of nobody": (lambda p: main([p.x], [[(p.y, exp(p.x))]], p.z), without("z")),
    "a condition of nobody": (
        lambda p: main([p.x], [[(p.r, relax.If(p.c, relax.SeqExpr([], p.x), relax.SeqExpr([], p.x)))]], p.r),
        without("c"),
    ),
    "a parameter of a local function behind it": (
        lambda p: local(p, behind=[(p.r, exp(p.q))]),
        behind("q"),
    ),
    "a parameter of a local function before it": (lambda p: local(p, (p.r, exp(p.q))), early("q")),
    "a binding of a local function behind it": (lambda p: local(p, behind=[(p.r, exp(p.z))]), behind("z")),
    "a local function that uses what is bound behind it": (
        lambda p: local(p, value=add(p.q, p.y), behind=[(p.y, exp(p.x))]),
        early("y"),
    ),
    "a local function before it is bound": (
        lambda p: local(p, (p.r, relax.Call(p.f, [p.x]))),
        early("f"),
    ),
    "a parameter of a local function that is one outside": (
        lambda p: main([p.x], [[(p.f, main([p.x], [[(p.z, exp(p.x))]], p.z))]], p.x),
        twice("x", A, A),
    ),
    "a binding of a branch behind it": (
        lambda p: main(
            [p.x, p.c],
            [[(p.r, relax.If(p.c, seq([(p.y, exp(p.x))], p.y), relax.SeqExpr([], p.x))), (p.q, exp(p.y))]],
            p.q,
        ),
        behind("y"),
    ),
    "a binding of the other branch": (
        lambda p: main(
            [p.x, p.c],
            [[(p.r, relax.If(p.c, seq([(p.y, exp(p.x))], p.y), seq([(p.z, exp(p.y))], p.z)))]],
            p.r,
        ),
        behind("y"),
    ),
    "a branch that uses its own result": (
        lambda p: main(
            [p.x, p.c],
            [[(p.r, relax.If(p.c, seq([(p.y, exp(p.r))], p.y), relax.SeqExpr([], p.x)))]],
            p.r,
        ),
        early("r"),
    ),
    "one variable of both branches": (
        lambda p: main(
            [p.x, p.c],
            [[(p.r, relax.If(p.c, seq([(p.y, exp(p.x))], p.y), seq([(p.y, exp(p.x))], p.y)))]],
            p.r,
        ),
        twice("y", B, B),
    ),
    "a parameter that a branch binds": (
        lambda p: main(
            [p.x, p.c],
            [[(p.r, relax.If(p.c, seq([(p.x, exp(p.x))], p.x), relax.SeqExpr([], p.x)))]],
            p.r,
        ),
        twice("x", A, B),
    ),
    "a parameter twice": (lambda p: main([p.x, p.x], [[(p.r, exp(p.x))]], p.r), twice("x", A, A)),
    "a binding of another function": (
        lambda p: two(p, main([p.q], [[(p.r, exp(p.y))]], p.r)),
        without("y", "a") + OTHER.format("binding"),
    ),
    "a parameter of another function": (
        lambda p: two(p, main([p.q], [[(p.r, exp(p.x))]], p.r)),
        without("x", "a") + OTHER.format("parameter"),
    ),
    "a public function that uses another's variable": (
        lambda p: two(p, main([p.q], [[(p.r, exp(p.y))]], p.r).with_attr("global_symbol", "a")),
        without("y", "a") + OTHER.format("binding"),
    ),
    "a function that nobody calls": (
        lambda p: two(p, main([p.q], [[(p.r, exp(p.z))]], p.r)),
        without("z", "a"),
    ),
    "a call of a function that is not there": (
        lambda p: main([p.x], [[(p.r, relax.Call(tilewright.ir.GlobalVar("g"), [p.x]))]], p.r),
        "error: g is called, but the module has no function of that name\n"
        "help: compile the module that has it instead of one of its functions",
    ),
    "a size that nothing says": (lambda p: main([p.x], [[(p.r, p.zeros(p.n))]], p.r), size("n")),
    "a size before its match_cast": (
        lambda p: main([p.open], [[(p.r, p.zeros(p.n)), p.cast()]], p.r),
        size("n"),
    ),
    "a size that only a formula has": (
        lambda p: main([p.open], [[p.cast(extent=p.n * 2)]], p.open),
        size("n"),
    ),
    "a formula of a parameter": (
        lambda p: main([p.x, relax.Var("w", relax.TensorType((p.n + 1,), F32))], [[(p.r, exp(p.x))]], p.r),
        size("n"),
    ),
    "a size of a branch behind it": (
        lambda p: main(
            [p.open, p.c],
            [
                [
                    (
                        p.f,
                        relax.If(p.c, relax.SeqExpr([plain([p.cast()])], p.open), relax.SeqExpr([], p.open)),
                    ),
                    (p.r, p.zeros(p.n)),
                ]
            ],
            p.r,
        ),
        size("n"),
    ),
    "a size of the other branch": (
        lambda p: main(
            [p.open, p.c],
            [
                [
                    (
                        p.f,
                        relax.If(
                            p.c,
                            relax.SeqExpr([plain([p.cast()])], p.open),
                            seq([(relax.Var("w", OPEN), p.zeros(p.n))], p.open),
                        ),
                    )
                ]
            ],
            p.open,
        ),
        size("n"),
    ),
    "a size of a local function behind it": (
        lambda p: main(
            [p.x],
            [
                [
                    (p.f, main([relax.Var("w", relax.TensorType((p.k,), F32))], [[]], p.x)),
                    (p.r, p.zeros(p.k)),
                ]
            ],
            p.r,
        ),
        size("k"),
    ),
    "a size in a local function that nothing says": (lambda p: local(p, value=p.zeros(p.k)), size("k")),
    "a size of another function": (
        lambda p: {
            "main": main([relax.Var("w", relax.TensorType((p.n,), F32))], [[(p.r, p.zeros(p.n))]], p.r),
            "a": main([p.x], [[(p.y, p.zeros(p.n))]], p.y),
        },
        size("n"),
    ),
    "a size of a shape": (
        lambda p: main([p.x], [[]], relax.ShapeExpr([p.n]), relax.ShapeType(ndim=1)),
        size("n"),
    ),
    "a size as a number": (
        lambda p: main([p.x], [[(relax.Var("s"), relax.PrimValue(p.n + 1))]], p.x),
        size("n"),
    ),
}

WELL_FORMED = {
    "variables of one name": lambda p: main([p.x], [[(v := var("x", 3), exp(p.x))]], v),
    "a local function that uses what is bound before it": lambda p: local(
        p, (p.y, exp(p.x)), value=add(p.q, p.y), behind=[(p.r, relax.Call(p.f, [p.x]))]
    ),
    "a local function in a dataflow block that uses its variables": lambda p: main(
        [p.x],
        [
            plain(
                [(p.d, exp(p.x)), (p.f, p.inner(add(p.q, p.d))), (p.r, relax.Call(p.f, [p.x]))],
                relax.DataflowBlock,
            )
        ],
        p.r,
    ),
    "a variable of a dataflow block behind it": lambda p: main(
        [p.x], [plain([(p.d, exp(p.x)), (p.y, exp(p.d))], relax.DataflowBlock), [(p.r, exp(p.y))]], p.r
    ),
    "a DataflowVar behind its block, as older versions write it": lambda p: main(
        [p.x], [plain([(p.d, exp(p.x))], relax.DataflowBlock), [(p.r, exp(p.d))]], p.d
    ),
    "statements as a value": lambda p: main(
        [p.x], [[(p.y, seq([(p.z, exp(p.x))], p.z)), (p.r, add(p.y, p.z))]], p.r
    ),
    "a size behind its match_cast": lambda p: main([p.open], [[p.cast(), (p.r, p.zeros(p.n))]], p.r),
    "a size behind its match_cast in a dataflow block": lambda p: main(
        [p.open], [plain([p.cast()], relax.DataflowBlock), [(p.r, p.zeros(p.n))]], p.r
    ),
    "a size that both branches say": lambda p: main(
        [p.open, p.c],
        [
            [
                (
                    p.f,
                    relax.If(
                        p.c,
                        relax.SeqExpr([plain([p.cast()])], p.open),
                        relax.SeqExpr([plain([p.cast("z")])], p.open),
                    ),
                )
            ]
        ],
        p.open,
    ),
    "a size of a shape that is a parameter": lambda p: main(
        [relax.Var("s", relax.ShapeType([p.n], 1, True))], [[(p.r, p.zeros(p.n))]], p.r
    ),
    "a formula of a parameter before its size": lambda p: main(
        [relax.Var("w", relax.TensorType((p.n + 1,), F32)), relax.Var("v", relax.TensorType((p.n,), F32))],
        [[(p.r, p.zeros(p.n))]],
        p.r,
    ),
    "a size of the outer function in a local one": lambda p: main(
        [relax.Var("w", relax.TensorType((p.n,), F32)), p.x],
        [[(p.f, p.inner(p.zeros(p.n))), (p.r, relax.Call(p.f, [p.x]))]],
        p.r,
    ),
    "one size of two functions": lambda p: {
        "main": main([v := relax.Var("w", relax.TensorType((p.n,), F32))], [[(p.r, exp(v))]], p.r),
        "a": main([v := relax.Var("w", relax.TensorType((p.n,), F32))], [[(p.y, exp(v))]], p.y),
    },
}


def module_of(made):
    return IRModule(made if isinstance(made, dict) else {"main": made})


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name):
    make, text = MALFORMED[name]
    assert error_of(module_of(make(Parts()))) == text


@pytest.mark.hand_made
@pytest.mark.parametrize("name", WELL_FORMED)
def test_well_formed(name):
    module = module_of(WELL_FORMED[name](Parts()))
    assert relax.analysis.well_formed(module)
    tilewright.compile(module)
