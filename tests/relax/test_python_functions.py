"""Python functions in a module, and modules whose functions are called from Python."""

import numpy as np
import pytest

import tilewright as tw
from tilewright.relax import BasePyModule
from tilewright.script import ir as I
from tilewright.script import relax as R
from tilewright.script import tir as T

X = np.arange(15, dtype="float32").reshape(5, 3)


@I.ir_module
class Module(BasePyModule):
    @I.pyfunc
    def pipeline(self, x):
        doubled = self.call_tir(self.double, [x], R.Tensor(("n", 3), "float32"))
        shifted = self.call_dps_packed(
            "test_pyfunc.add_one", [doubled], out_sinfo=R.Tensor((5, 3), "float32")
        )
        return self.call_py_func("negate", [shifted])

    @I.pyfunc
    def negate(x):
        return -x

    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 3), "float32")
        Y = T.match_buffer(y, (n, 3), "float32")
        for i, j in T.grid(n, 3):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n, 3), "float32"))
            gv = R.call_py_func("negate", (lv,), out_sinfo=R.Tensor((n, 3), "float32"))
            R.output(gv)
        return gv


@tw.register_func("test_pyfunc.add_one", override=True)
def add_one(x, out):
    np.from_dlpack(out)[:] = x.numpy() + 1


def test_python_functions_call_the_others():
    torch = pytest.importorskip("torch")
    module = Module(tw.cpu())
    result = module.pipeline(torch.from_numpy(X))
    assert isinstance(result, torch.Tensor)
    np.testing.assert_array_equal(result.numpy(), -(2 * X + 1))


def test_graph_functions_call_python_functions():
    torch = pytest.importorskip("torch")
    module = Module(tw.cpu(), "llvm")
    np.testing.assert_array_equal(module.main(torch.from_numpy(X)).numpy(), -2 * X)
    assert isinstance(module.main(X), tw.Tensor)


def test_what_a_module_knows():
    module = Module()
    assert (module.tir_func_names, module.relax_func_names) == (["double"], ["main"])
    assert list(module.pyfuncs) == list(Module.pyfuncs) == ["pipeline", "negate"]
    assert "class Module" in Module.script() and Module["double"] is not None
    text = module.script()
    assert "def double(" in text and "return self.call_py_func" in text
    module.add_python_function("twice", lambda x: x + x)
    np.testing.assert_array_equal(module.twice(X), 2 * X)


def test_results_of_several_kinds(capsys):
    module = BasePyModule(tw.IRModule({"double": Module["double"]}))
    (out,) = module.call_tir("double", X, [tw.relax.TensorType((5, 3), "float32")])
    np.testing.assert_array_equal(out.numpy(), 2 * X)
    out = module.call_tir("double", X, R.Tensor(shape=(5, 3), dtype="float32"))
    np.testing.assert_array_equal(out.numpy(), 2 * X)
    module.show()
    assert "def double(" in capsys.readouterr().out


def test_a_plain_module_keeps_its_python_functions():
    @I.ir_module
    class Plain:
        @I.pyfunc
        def helper(x):
            return x

        @R.function
        def main(x: R.Tensor((5,), "float32")):
            return x

    assert list(Plain.pyfuncs) == ["helper"] == list(Plain.clone().pyfuncs)
    assert list(Plain.with_attr("a", 1).pyfuncs) == ["helper"]
    both = Plain.with_attrs({"a": 1, "b": 2})
    assert both.get_attr("a") == 1 and both.without_attr("a").get_attr("a") is None
    legal = tw.relax.transform.legalize_ops()(tw.relax.transform.to_non_dataflow()(Plain))
    bound = tw.relax.transform.BindParams("main", {"x": np.ones(5, "float32")})(legal)
    assert list(bound.pyfuncs) == ["helper"]
    assert [var.name_hint for var in Plain.get_global_vars()] == ["main"]


def refusal(function) -> str:
    with pytest.raises((tw.UserError, AttributeError)) as error:
        function()
    return str(error.value)


def test_refusals():
    module = Module()
    assert refusal(lambda: module.call_tir("triple", [X], R.Tensor((5, 3), "float32"))) == (
        'call_tir: there is no loop program "triple"\nhelp: there are double'
    )
    assert refusal(lambda: module.call_py_func("other", [X])) == (
        'call_py_func: there is no Python function "other"\nhelp: there are pipeline, negate'
    )
    assert refusal(lambda: module.call_tir("double", [X], R.Tensor(("m", 3), "float32"))) == (
        "dimension m of a result is none of an argument's\nhelp: give the extent as a number"
    )
    assert refusal(lambda: module.call_tir("double", [X], "float32")) == (
        "a result is given as 'float32', expected e.g. R.Tensor((5, 7), \"float32\")"
    )
    assert refusal(lambda: module.nothing) == "the module has no function 'nothing'"
