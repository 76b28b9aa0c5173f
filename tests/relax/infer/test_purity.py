"""Where calls with side effects may stand; what is refused is in tests/errors/purity.txt."""

import numpy as np

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax.analysis import well_formed
from tilewright.script import ir as I
from tilewright.script import parse
from tilewright.script import relax as R

TYPE = relax.TensorType((2, 3), "float32")
PRINTS = """
@R.function{}
def main(x: R.Tensor((2, 3), "float32")):
    {}
    R.print(x, format="{{}}")
    return x
"""


def test_impure_functions_may_have_effects():
    for decorator, line in [
        ("(pure=False)", "pass"),
        ("", "R.is_impure()"),
        ("", 'R.func_attr({"relax.force_pure": True})'),
        ("(check_well_formed=False)", "pass"),
    ]:
        program = parse(PRINTS.format(decorator, line).strip() + "\n")
        assert well_formed(program) == (decorator != "(check_well_formed=False)")


def test_a_pure_function_may_call_what_is_said_to_be_pure():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32"), g: R.Callable((R.Object,), R.Object, True)):
            cls = Module
            with R.dataflow():
                a = R.call_pure_packed("f", x, sinfo_args=R.Tensor((2, 3), "float32"))
                b = cls.twice(a)
                R.output(b)
            c = g(b)
            return (b, c)

        @R.function
        def twice(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            y = R.add(x, x)
            return y

    assert well_formed(Module)


def test_an_impure_function_may_stand_inside_of_a_pure_one():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        @R.function(pure=False)
        def shown(y: R.Tensor((2, 3), "float32")):
            R.print(y, format="{}")
            return y

        z = R.add(x, x)
        return z

    assert well_formed(main)


def test_memory_written_by_the_function_itself_is_no_effect():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.call_dps_packed("f", (x,), R.Tensor((2, 3), "float32"))
        return y

    lowered = relax.transform.call_tir_rewrite()(tilewright.IRModule({"main": main}))
    assert lowered["main"].attrs["relax.force_pure"]
    assert_structural_equal(parse(lowered["main"].script()), lowered["main"])


def test_builders_ask_at_the_end_of_a_function():
    bb = relax.BlockBuilder()
    x = relax.Var("x", TYPE)
    with bb.function("main", [x], pure=False):
        bb.emit(relax.op.print(x, format="{}"))
        bb.emit_func_output(x)
    assert not bb.get()["main"].is_pure


def test_functions_that_change_their_arguments():
    @tilewright.register_func("tests.purity.add_in_place", override=True)
    def add_in_place(x, y):
        x.copy_from(x.numpy() + y.numpy())
        return x

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, x)
        z = R.call_inplace_packed(
            "tests.purity.add_in_place", y, x, inplace_indices=[0], sinfo_args=R.Tensor((2, 3), "float32")
        )
        return z

    assert_structural_equal(parse(main.script()), main)
    machine = tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"main": main})))
    assert (machine["main"](np.ones((2, 3), "float32")).numpy() == 3).all()

    bb = relax.BlockBuilder()
    x = relax.Var("x", TYPE)
    with bb.function("main", [x]):
        y = bb.emit(relax.op.add(x, x), "y")
        call = relax.op.call_inplace_packed(
            "tests.purity.add_in_place", y, x, inplace_indices=0, sinfo_args=TYPE
        )
        bb.emit_func_output(bb.emit(call, "z"))
    assert_structural_equal(bb.get()["main"], main)


def test_no_value():
    @tilewright.register_func("tests.purity.is_none", override=True)
    def is_none(x):
        return int(x is None)

    @R.function
    def main():
        nothing = R.null_value()
        found = R.call_pure_packed("tests.purity.is_none", nothing, sinfo_args=R.Prim("int64"))
        return found

    assert_structural_equal(parse(main.script()), main)
    assert tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"main": main})))["main"]() == 1
