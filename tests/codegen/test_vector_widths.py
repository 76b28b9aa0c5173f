"""Code for SVE and RVV of several widths runs there, under qemu-user, and gives numpy's numbers."""

import re
import sys

import cross_testing
import numpy as np
import pytest
from cross_kernels import outputs
from cross_testing import ROOT, machine_of_rvv, machine_of_sve, output_of
from vector_kernels import all_kernels, matmul

import tilewright as tw
from tilewright import te
from tilewright.target import features

sys.path.insert(0, str(ROOT / "tools"))
from assembly_loops import hottest_loop  # noqa: E402

WIDTHS = (128, 256, 512)
MACHINES = {"sve": machine_of_sve, "rvv": machine_of_rvv}


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MACHINES)
def test_numbers_are_those_of_numpy(name, width, tmp_path):
    kernels = all_kernels()
    if name == "rvv":
        # qemu 7.2 fails an assertion where vfcvt.rtz is the first conversion of a piece of code
        del kernels["rounded"]
    for kernel_name, found in outputs(MACHINES[name](width), kernels, tmp_path).items():
        kernel = kernels[kernel_name]
        scale = np.abs(kernel.expected).max().astype("float64") if kernel.tolerance else 0
        np.testing.assert_allclose(
            found, kernel.expected, rtol=0, atol=kernel.tolerance * scale, err_msg=kernel_name
        )


@pytest.mark.parametrize("name", MACHINES)
def test_code_runs_where_registers_are_wider(name, tmp_path):
    kernels = {"odd": matmul(5, 127, 7)}
    found = outputs(MACHINES[name](256, there=512), kernels, tmp_path)
    np.testing.assert_allclose(found["odd"], kernels["odd"].expected, rtol=0, atol=1e-5)


REFUSED = """
int32_t __tvm_ffi_odd(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result);
static void start(void) {
  TilewrightAny none = {0, 0, {0}};
  /* not even arguments are looked at */
  if (__tvm_ffi_odd(0, 0, 3, &none) != -1) leave(2);
  if (numbers[0] != 512 || numbers[1] != %d || numbers[2] != %d) leave(3);
}
"""


ADVICE = {
    "sve": "compile it with -vector-width=%lld",
    "rvv": "compile it with -vector-width=%lld, and without features that promise more (zvl*b)",
}


@pytest.mark.parametrize("there", [128, 256])
@pytest.mark.parametrize(
    "name, options",
    [("sve", ""), ("rvv", ""), ("rvv", " -mattr=+m,+a,+f,+d,+c,+v,+zvl512b -vector-width=128")],
)
def test_code_is_refused_where_registers_are_narrower(name, options, there, tmp_path):
    machine = MACHINES[name](512, there)
    cross_testing.require(machine.emulator)
    func = matmul(5, 127, 7).func.with_attr("global_symbol", "odd")
    lib = tw.build(tw.IRModule({"odd": func}), f"llvm {machine.target}{options}")
    text = "this code is for vector registers of %lld bits or more, but those of this machine have %lld: "
    assert f'c"{text}{ADVICE[name]}\\00"' in lib.get_source("ll")
    lib.export_library(tmp_path / "kernel.o")
    output_of(machine, REFUSED % (there, there), tmp_path / "kernel.o")


def num_registers(asm: str, letter: str) -> int:
    return len(re.findall(rf"\b{letter}\d+\.", asm))


@pytest.mark.parametrize(
    "options, width, has_sve",
    [
        ("-mcpu=neoverse-v1", 32, True),
        ("-mcpu=a64fx", 64, True),
        ("-mcpu=neoverse-v2", 16, False),
        ("-mattr=+sve", 16, False),  # NEON does as much at 128 bits
        ("-mattr=+sve -vector-width=1024", 128, True),
        ("-mcpu=neoverse-v1 -vector-width=128", 16, False),
        ("-mcpu=cortex-a72 -vector-width=128", 16, False),
    ],
)
def test_vectors_of_sve_are_whole_registers(options, width, has_sve):
    target = f"llvm -mtriple=aarch64-linux-gnu {options}"
    assert features(target)["vector_bytes"].value == width
    asm = tw.build(matmul(64, 64, 64).func, target).get_source("asm")
    assert (num_registers(asm, "z") > 50) == has_sve
    assert (num_registers(asm, "v") > 50) == (not has_sve)


@pytest.mark.parametrize(
    "options, width",
    [
        ("+v", 16),
        ("+v,+zvl256b", 32),
        ("+v -vector-width=512", 64),
        ("+v,+zvl512b -vector-width=256", 32),
        ("+m", 16),
    ],
)
def test_vectors_of_rvv_are_whole_registers(options, width):
    target = f"llvm -mtriple=riscv64-linux-gnu -mattr=+f,+d,{options}"
    assert features(target)["vector_bytes"].value == width
    asm = tw.build(matmul(64, 64, 64).func, target).get_source("asm")
    assert ("vfmacc.vf" in asm) == ("+v" in options)
    if "+v" in options:
        assert re.search(rf"vset(i?vli)\t\w+, \w+, e32, m{'1' if '512b' not in options else 'f2'}", asm)
        assert not re.search(r"e32, m[248]", asm)


def test_bytes_are_added_in_groups_by_sve():
    target = "llvm -mtriple=aarch64-linux-gnu -mattr=+sve -vector-width=256"
    for dtype, instruction in (("int8", "sdot"), ("uint8", "udot")):
        asm = tw.build(matmul(64, 64, 64, dtype, "int32").func, target).get_source("asm")
        assert re.search(rf"{instruction}\tz\d+\.s, z\d+\.b, z\d+\.b", asm)
        assert "\tsmull" not in asm


@pytest.mark.parametrize(
    "target, share",
    [
        ("-mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", 0.7),
        ("-mtriple=aarch64-linux-gnu -mattr=+sve -vector-width=512", 0.7),
        ("-mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c,+v,+zvl256b", 0.35),
    ],
)
def test_columns_that_fill_no_register_are_one_with_a_mask(target, share):
    # else LLVM puts seven numbers together from four, two and one: 40 multiply-adds in 523 instructions
    asm = tw.build(matmul(64, 7, 64).func, f"llvm {target}").get_source("asm")
    multiply_adds, instructions, on_stack = hottest_loop(asm)
    assert multiply_adds / instructions >= share and on_stack == 0


@pytest.mark.parametrize(
    "target, instruction",
    [
        (
            "-mtriple=aarch64-linux-gnu -mcpu=neoverse-v1",
            r"ld1w\t\{ z\d+\.s \}, p\d+/z, \[x\d+, z\d+\.s, sxtw #2\]",
        ),
        ("-mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c,+v,+zvl256b", r"vlse32\.v"),
    ],
)
def test_numbers_that_lie_apart_are_loaded_by_one_instruction(target, instruction):
    x = te.placeholder((12288,), name="X")
    y = te.compute((4096,), lambda i: x[3 * i] + tw.tir.const(1, "float32"), name="Y")
    sch = tw.Schedule(te.create_prim_func([x, y]))
    loop = sch.get_loops(sch.get_block("Y"))[0]
    sch.vectorize(sch.split(loop, factors=[None, 8])[1])
    asm = tw.build(sch.mod, f"llvm {target}", schedule=False).get_source("asm")
    assert re.search(instruction, asm)
