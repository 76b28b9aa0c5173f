"""realize_vdevice: types say where each tensor is, hints become moves."""

import numpy as np
import pytest
from graph_testing import random, run

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import parse
from tilewright.script import relax as R  # noqa: N812


def test_devices_follow_the_values():
    """Forwards to results, backwards to parameters; a hint on a value that is elsewhere is a move."""

    @I.ir_module
    class Before:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("opencl", 0)]})

        @R.function
        def main(
            x: R.Tensor((2, 3), "float32"),
            y: R.Tensor((2, 3), "float32", "llvm:0"),
            w: R.Tensor((3, 5), "float32"),
        ):
            with R.dataflow():
                lv = R.add(x, y)
                lv1 = R.hint_on_device(lv, R.device(4, 0))
                gv = R.matmul(lv1, w)
                R.output(gv)
            return gv

    @I.ir_module
    class After:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("opencl", 0)]})

        @R.function
        def main(
            x: R.Tensor((2, 3), "float32", "llvm:0"),
            y: R.Tensor((2, 3), "float32", "llvm:0"),
            w: R.Tensor((3, 5), "float32", "opencl:0"),
        ) -> R.Tensor((2, 5), "float32", "opencl:0"):
            with R.dataflow():
                lv: R.Tensor((2, 3), "float32", "llvm:0") = R.add(x, y)
                lv1: R.Tensor((2, 3), "float32", "opencl:0") = R.to_vdevice(lv, "opencl:0")
                gv: R.Tensor((2, 5), "float32", "opencl:0") = R.matmul(lv1, w)
                R.output(gv)
            return gv

    found = transform.realize_vdevice()(Before)
    assert_structural_equal(found, After)
    assert transform.realize_vdevice()(found) is found
    assert_structural_equal(parse(found.script()), found)


def test_a_hint_decides_where_nothing_else_does():
    """The value takes the device, and nothing is moved."""

    @I.ir_module
    class Before:
        I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

        @R.function
        def main(x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")):
            with R.dataflow():
                x1 = R.hint_on_device(x, R.device("cpu"))
                x2 = R.add(x1, y)
                lv = R.hint_on_device(y, R.device("cpu"))
                gv = R.multiply(x2, lv)
                R.output(gv)
            return gv

    after = transform.realize_vdevice()(Before)
    main = after["main"]
    assert [param.type.device for param in main.params] == ["llvm:0", "llvm:0"]
    assert main.ret_type.device == "llvm:0"
    assert "to_vdevice" not in after.script() and "hint" not in after.script()
    args = random(5), random(5)
    np.testing.assert_array_equal(run(after, *args), run(Before, *args))


@I.ir_module
class Parts:
    I.module_global_infos({"vdevice": [I.vdevice("opencl", 0), I.vdevice("llvm", 0)]})

    @R.function
    def twice(
        x: R.Tensor(("n",), "float32"),
    ) -> R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32")):
        y = R.multiply(x, R.const(np.float32(2)))
        return (x, y)

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32", "opencl:0")):
        n = T.int64()  # noqa: F821 - read by the parser
        pair = Parts.twice(x)
        y = pair[1]
        if c:
            z = R.exp(y)
        else:
            z = R.negative(y)
        a = R.match_cast(z, R.Tensor((n,), "float32"))
        b = R.to_vdevice(a, "llvm:0")
        d = R.zeros(R.shape([n]), "float32")
        e = R.add(b, d)
        return (a, e)


def test_calls_tuples_branches_and_match_cast():
    after = transform.realize_vdevice()(Parts)
    assert [each.device for each in after["twice"].ret_type.elements] == ["opencl:0", "opencl:0"]
    assert after["twice"].params[0].type.device == "opencl:0"
    assert [each.device for each in after["main"].ret_type.elements] == ["opencl:0", "llvm:0"]
    # the condition is read by the host: nothing says where it is
    assert after["main"].params[0].type.device == ""
    devices = {
        binding.var.name_hint: binding.var.type.device
        for block in after["main"].body.blocks
        for binding in block.bindings
        if hasattr(binding.var.type, "device")
    }
    assert devices == {
        "y": "opencl:0",
        "z": "opencl:0",
        "a": "opencl:0",
        "b": "llvm:0",
        "d": "llvm:0",
        "e": "llvm:0",
    }
    assert transform.realize_vdevice()(after) is after


def test_values_that_nothing_places():
    after = transform.realize_vdevice(default_device="llvm:0")(Parts)
    assert after["main"].params[0].type.device == "llvm:0"


def test_a_module_that_names_no_device_stays_as_it_is():
    @I.ir_module
    class Plain:
        @R.function
        def main(x: R.Tensor((5,), "float32")):
            y = R.exp(x)
            return y

    assert transform.realize_vdevice()(Plain) is Plain


def test_a_module_without_a_list_has_the_devices_that_it_names():
    """cpu means any device that is a CPU."""

    @R.function
    def main(x: R.Tensor((5,), "float32", "opencl:1")):
        y = R.to_vdevice(x, "cpu:0")
        return y

    after = transform.realize_vdevice()(tilewright.IRModule({"main": main}))
    assert after["main"].ret_type.device == "llvm:0"
    assert after["main"].params[0].type.device == "opencl:1"


def module(infos: str, body: str):
    return parse(f"""
@I.ir_module
class Module:
    I.module_global_infos({{"vdevice": [{infos}]}})
    @R.function
    def main(x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")):
{body}
""")


TWO = 'I.vdevice("llvm", 0), I.vdevice("opencl", 0)'


@pytest.mark.parametrize(
    ("infos", "body", "text"),
    [
        (
            TWO,
            '        a = R.to_vdevice(x, "llvm:0")\n        b = R.to_vdevice(y, "opencl:0")\n        c = R.exp(b)\n'
            "        d = R.add(a, y)\n        e = R.add(y, c)\n        return (d, e)",
            "realize_vdevice: add: y is on llvm:0, c on opencl:0\n"
            'help: bring both to one device with R.to_vdevice(..., "llvm:0")',
        ),
        (
            TWO,
            '        a = R.to_vdevice(x, "opencl:1")\n        return a',
            'realize_vdevice: the module has no device "opencl:1"\n'
            'help: it has llvm:0, opencl:0; others are added to I.module_global_infos({"vdevice": [...]})',
        ),
        (
            "",
            '        a = R.to_vdevice(x, "opencll:1")\n        return a',
            'realize_vdevice: there is no device "opencll:1"\n'
            'help: write a kind of target and a number, e.g. "opencl:0"; did you mean opencl?',
        ),
        (
            "1",
            '        a = R.to_vdevice(x, "llvm:0")\n        return a',
            'realize_vdevice: I.module_global_infos: an entry of "vdevice" has no target\n'
            'help: write I.vdevice("llvm", 0)',
        ),
        (
            'I.vdevice("llvm", -1)',
            '        a = R.to_vdevice(x, "llvm:0")\n        return a',
            "realize_vdevice: I.vdevice: vdevice_id is -1, expected at least 0",
        ),
    ],
)
def test_refusals(infos, body, text):
    with pytest.raises(tilewright.UserError) as error:
        transform.realize_vdevice()(module(infos, body))
    lines = str(error.value).splitlines()
    shown = [line for line in lines if line.startswith(("error: ", "help: "))]
    assert "\n".join(shown) == "error: " + text


def test_operators_refuse_values_of_two_devices():
    """Already when they are written."""
    with pytest.raises(tilewright.UserError) as error:
        parse("""
@R.function
def main(x: R.Tensor((5,), "float32", "llvm:0"), y: R.Tensor((5,), "float32", "cuda:0")):
    z = R.add(x, y)
    return z
""")
    lines = str(error.value).splitlines()
    assert lines[0] == "error: add: x is on llvm:0, y on cuda:0"
    assert lines[-1] == 'help: bring both to one device, e.g. R.to_vdevice(y, "llvm:0")'
