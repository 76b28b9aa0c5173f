"""ext = R.ExternFunc("name") in a module: a name of the module for a function of the registry."""

import numpy as np
import pytest
from extern_testing import TENSOR, Module

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.script import ir as I
from tilewright.script import parse
from tilewright.script import relax as R


@tilewright.register_func("tests.extern.doubled", override=True)
def doubled(x):
    return tilewright.tensor(x.numpy() * 2)


@tilewright.register_func("tests.extern.copied", override=True)
def copied(x, out):
    out.copy_from(x)


X = np.linspace(-1, 1, 5, dtype="float32")


def test_it_parses_prints_and_runs():
    text = Module.script()
    assert '    ext = R.ExternFunc("tests.extern.doubled")\n' in text
    assert "cls.ext(x, sinfo_args=" in text.replace("Module.", "cls.")
    assert_structural_equal(parse(text), Module)
    assert [str(var.name_hint) for var in Module.get_global_vars()] == ["ext", "typed", "copy", "main"]
    main = tilewright.VirtualMachine(tilewright.compile(Module))["main"]
    np.testing.assert_allclose(main(X).numpy(), np.exp(X * 4), rtol=1e-6)


def test_it_may_have_effects_unless_its_type_says_otherwise():
    with pytest.raises(tilewright.UserError) as error:
        parse(Module.script().replace("pure=False", "pure=True"))
    assert 'R.call_packed of "tests.extern.doubled" may have side effects' in str(error.value)

    @I.ir_module
    class Typed:
        f = R.ExternFunc("f", R.Callable((TENSOR,), TENSOR, True))

        @R.function
        def main(x: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
            y = Typed.f(x)
            return y

    assert Typed["main"].is_pure


def test_nodes_make_one():
    ext = relax.extern("tests.extern.doubled")
    module = tilewright.IRModule({"ext": ext})
    assert module["ext"].global_symbol == "tests.extern.doubled"
    assert_structural_equal(parse(module.script()), module)
