"""Graphs whose values are on a device and on the CPU: their numbers are those of the CPU alone."""

import re

import numpy as np
import pytest
from devices.targets import TARGETS

import tilewright as tw
from tilewright.script import parse

#: the first part on the CPU, products on the device, the rest on the CPU again; constants on both
SPLIT = """
@I.ir_module
class Split:
    I.module_global_infos({{"vdevice": [I.vdevice("llvm", 0), I.vdevice("{kind}", 0)]}})

    @R.function
    def main(
        x: R.Tensor(("n", 7), "{dtype}", "llvm:0"), w: R.Tensor((7, 127), "{dtype}"), v: R.Tensor((127, 5), "{dtype}")
    ):
        with R.dataflow():
            lv = R.add(x, R.const({one}, "{dtype}"))
            lv1 = R.to_vdevice(lv, "{kind}:0")
            lv2 = R.nn.relu(R.matmul(lv1, w))
            lv3 = R.multiply(R.matmul(lv2, v), R.const({one}, "{dtype}"))
            lv4 = R.to_vdevice(lv3, "llvm:0")
            lv5 = R.add(lv4, R.const({one}, "{dtype}"))
            gv = R.sort(lv5)
            gv1 = R.nn.softmax(lv3)
            R.output(gv, gv1)
        return (gv, gv1)
"""
#: where variants of targets are many: kernels of the emulation take seconds to compile
ON_OPENCL = TARGETS[:1]
TOLERANCES = {"float32": 1e-5, "float16": 5e-3}


def split(kind: str, dtype: str = "float32"):
    return parse(SPLIT.format(kind=kind, dtype=dtype, one="[1.5]"))


def numbers(*shape, dtype="float32", seed=0):
    return (np.random.default_rng(seed).integers(-4, 5, shape) / 8).astype(dtype)


def arguments(rows: int, dtype="float32"):
    return numbers(rows, 7, dtype=dtype), numbers(7, 127, dtype=dtype, seed=1), numbers(127, 5, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("target", TARGETS)
def test_numbers_are_those_of_one_device(target, dtype):
    """Open extents, odd and empty inputs; arguments may be anywhere."""
    machine = tw.VirtualMachine(tw.compile(split(target, dtype)), [tw.cpu(), tw.device(target)])
    cpu = tw.VirtualMachine(tw.compile(split("llvm", dtype)))
    for rows in (5, 1, 127, 0):
        args = arguments(rows, dtype)
        results = machine["main"](*args)
        assert [str(each.device) for each in results] == ["cpu:0", f"{target}:0"]
        for found, expected in zip(results, cpu["main"](*args), strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=TOLERANCES[dtype])
        again = machine["main"](*[tw.tensor(each, target) for each in args])
        for found, expected in zip(again, results, strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("target", TARGETS)
def test_each_kernel_is_for_the_device_of_its_values(target):
    ex = tw.compile(split(target))
    (device,) = ex.kernels.imports
    assert device.kind == target
    text = device.get_source()
    assert "fused_matmul_relu" in text and "softmax" in text and "void add" not in text
    of_all = ex.kernels.get_source(target)
    assert "fused_matmul_relu" in of_all and "softmax" in of_all and "void add" not in of_all
    calls = [line for line in ex.as_text().splitlines() if " call_kernel(" in line]
    places = {line.split("(")[1].split(",")[0]: line.endswith(f" on {target}:0") for line in calls}
    assert (places["add"], places["fused_matmul_relu"], places["softmax"]) == (False, True, True)


@pytest.mark.parametrize("target", TARGETS)
def test_a_constant_is_once_on_each_device_that_reads_it(target):
    ex = tw.compile(split(target))
    loads = [line.split(" = ")[1] for line in ex.as_text().splitlines() if " = constant(" in line]
    assert len(loads) == len(set(loads))
    assert sum(load.endswith(f"on {target}:0") for load in loads) == 1


@pytest.mark.parametrize("target", ON_OPENCL)
def test_memory_is_planned_on_each_device(target):
    """Tensors of fixed size lie in an arena of their device, those that are copied too."""
    text = SPLIT.replace('("n", 7)', "(5, 7)").format(kind=target, dtype="float32", one="[1.5]")
    ex = tw.compile(parse(text))
    code = ex.as_text()
    arenas = [line.split(": ", 1)[1] for line in code.splitlines() if " arena(" in line]
    # on the CPU 35 floats, and after them 25; on the device 5 x 127 floats beside 35, and then beside 25
    assert arenas == ["arena(192)", f"arena({2560 + 192}) on {target}:0"]
    args = arguments(5)
    cpu = tw.VirtualMachine(tw.compile(split("llvm")))
    machine = tw.VirtualMachine(ex)
    for _ in range(2):
        for found, expected in zip(machine["main"](*args), cpu["main"](*args), strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("target", ON_OPENCL)
def test_an_exported_model_carries_the_kernels_of_all_devices(target, tmp_path):
    ex = tw.compile(split(target))
    ex.export_library(tmp_path / "model.so")
    loaded = tw.VirtualMachine(tw.load_module(tmp_path / "model.so"), [tw.cpu(), tw.device(target)])
    args = arguments(5)
    for found, expected in zip(loaded["main"](*args), tw.VirtualMachine(ex)["main"](*args), strict=True):
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("target", ON_OPENCL)
def test_one_program_for_two_devices(target, level):
    """exp is called on both: each has a kernel of its own.  Branches and functions of the module stay on one device."""
    module = parse(f"""
@I.ir_module
class Module:
    I.module_global_infos({{"vdevice": [I.vdevice("{target}", 0), I.vdevice("llvm", 0)]}})

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((5, 7), "float32", "vdevice:0")):
        y = R.exp(x)
        if c:
            z = R.exp(y)
        else:
            z = R.const([[2.0]])
        a = R.to_vdevice(x, "llvm:0")
        b = R.exp(a)
        d = Module.twice(y)
        return (y, z, b, d, R.const(3.0))

    @R.function(private=True)
    def twice(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        y = R.add(x, x)
        return y
""")
    with tw.transform.PassContext(opt_level=level):
        machine = tw.VirtualMachine(tw.compile(module))
    x = numbers(5, 7)
    e = np.exp(x)
    for chosen in (True, False):
        y, z, b, d, three = machine["main"](np.array(chosen), x)
        assert [str(each.device) for each in (y, z, b, d)] == [
            f"{target}:0",
            f"{target}:0",
            "cpu:0",
            f"{target}:0",
        ]
        expected = np.exp(e) if chosen else np.full((1, 1), 2)
        for found, wanted in [(y, e), (z, expected), (b, e), (d, 2 * e), (three, 3)]:
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_loops_carry_values_of_a_device(target):
    module = parse(f"""
@I.ir_module
class Module:
    I.module_global_infos({{"vdevice": [I.vdevice("llvm", 0), I.vdevice("{target}", 0)]}})

    @R.function(private=True)
    def body(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), s: R.Tensor((5,), "float32"), x: R.Tensor((5,), "float32")):
        with R.dataflow():
            f = R.astype(i, dtype="float32")
            next = R.add(s, R.multiply(x, f))
            total = R.sum(next, axis=[0])
            R.output(next, total)
        return (c, next, total)

    @R.function
    def main(x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")):
        cls = Module
        a = R.to_vdevice(x, "{target}:0")
        b = R.to_vdevice(y, "{target}:0")
        r = R.loop(cls.body, R.const(3, "int64"), None, (a,), (b,))
        c = r[0]
        sums = r[1]
        d = R.to_vdevice(c, "llvm:0")
        e = R.exp(sums)
        return (c, d, e)
""")
    machine = tw.VirtualMachine(tw.compile(module))
    x, y = numbers(5), numbers(5, seed=1)
    c, d, e = machine["main"](x, y)
    assert (str(c.device), str(d.device), str(e.device)) == (f"{target}:0", "cpu:0", f"{target}:0")
    np.testing.assert_allclose(c.numpy(), x + 3 * y)
    np.testing.assert_allclose(d.numpy(), x + 3 * y)
    np.testing.assert_allclose(e.numpy(), np.exp([x.sum(), (x + y).sum(), (x + 3 * y).sum()]), rtol=1e-5)


@pytest.mark.parametrize("target", ON_OPENCL)
def test_targets_for_each_device(target):
    """A list or a dict; what I.vdevice describes itself stays."""
    args = arguments(5)
    expected = tw.VirtualMachine(tw.compile(split("llvm")))["main"](*args)
    for targets in (["llvm -num-cores=2", target], {"cpu": "c", target: target}, {target: target}, [target]):
        machine = tw.VirtualMachine(tw.compile(split(target), target=targets))
        for found, wanted in zip(machine["main"](*args), expected, strict=True):
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), atol=1e-5)
    described = parse(
        SPLIT.replace('I.vdevice("{kind}", 0)', 'I.vdevice("{kind} -max_threads_per_block=32", 0)').format(
            kind=target, dtype="float32", one="[1.5]"
        )
    )
    for module, most in [(split(target), 64), (described, 32)]:
        ex = tw.compile(module, target=["llvm", f"{target} -max_threads_per_block=64"])
        threads = re.findall(
            r'T\.thread_binding\((\d+), thread="threadIdx\.x"', ex.kernels.get_source("lowered")
        )
        assert max(map(int, threads)) == most
        machine = tw.VirtualMachine(ex)
        for found, wanted in zip(machine["main"](*args), expected, strict=True):
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_machines_with_too_few_or_other_devices(target):
    ex = tw.compile(split(target))
    with pytest.raises(tw.UserError) as few:
        tw.VirtualMachine(ex, [tw.cpu()])
    assert str(few.value) == (
        f"error: VirtualMachine: this program runs on 2 devices (cpu:0, {target}:0), but got 1 device (cpu:0)\n"
        f"help: leave the devices out, or pass [tilewright.cpu(0), tilewright.{target}(0)]"
    )
    with pytest.raises(tw.Unsupported) as other:
        tw.VirtualMachine(ex, [tw.device(target), tw.cpu()])
    assert str(other.value) == (
        f"unsupported: VirtualMachine: device 0 of this program is code of the CPU, it cannot run on {target}:0\n"
        f"help: leave the devices out, or pass [tilewright.cpu(0), tilewright.{target}(0)]"
    )


def test_targets_that_do_not_fit():
    for targets, text in [
        ([], 'there is no target\nhelp: e.g. ["llvm", "opencl"]'),
        (
            {"cuda": "llvm"},
            'target has "cuda": llvm, whose kind is llvm\nhelp: write {"llvm": ...}, or a list of targets',
        ),
    ]:
        with pytest.raises(tw.UserError) as error:
            tw.compile(split("opencl"), target=targets)
        assert str(error.value) == text
    with pytest.raises(tw.Unsupported) as hosts:
        tw.compile(split("opencl"), target=["llvm", tw.Target("opencl", host="c")])
    lines = str(hosts.value).splitlines()
    assert lines[0].startswith("unsupported: a module with code of the host for ")
    assert lines[0].endswith(", or by several compilers")
    assert lines[1] == 'help: give all devices the same host, e.g. Target("opencl", host="llvm")'


def test_storage_of_a_device_that_there_is_not():
    module = parse("""
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("opencl", 0)]})

    @R.function
    def main(x: R.Tensor((5,), "float32", "llvm:0")):
        s = R.memory.alloc_storage(R.shape([20]), R.prim_value(2), R.str("global"), R.dtype("uint8"))
        y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([5]), R.dtype("float32"))
        return y
""")
    with pytest.raises(tw.Unsupported) as error:
        tw.compile(module)
    assert str(error.value).splitlines()[0] == (
        "unsupported: memory of device 2: the module has devices 0 to 1"
    )
