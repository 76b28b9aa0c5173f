"""Memory that runs out while something is compiled is an error, and the process goes on."""

import os
import subprocess
import sys

import pytest

import tilewright

PROGRAM = '''
import resource, sys
import numpy as np
import tilewright

module = tilewright.script.parse("""
@R.function
def main(x: R.Tensor((64, 127), "float32"), w: R.Tensor((127, 256), "float32"), v: R.Tensor((256, 65), "float32")):
    return R.nn.softmax(R.matmul(R.nn.gelu(R.matmul(x, w)), v))
""")
x, w, v = (np.random.rand(*shape).astype("float32") for shape in [(64, 127), (127, 256), (256, 65)])

def run(executable):
    return tilewright.VirtualMachine(executable)["main"](x, w, v).numpy()

def limit_to(num_bytes):
    resource.setrlimit(resource.RLIMIT_AS, (num_bytes, resource.RLIM_INFINITY))

def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

{warm}
outcomes = []
for megabytes in np.arange({first}, {last}, {step}):
    limit_to(address_space() + int(megabytes * 2**20))
    try:
        tilewright.compile(module)
        outcomes.append("compiled")
    except MemoryError as error:
        outcomes.append(f"MemoryError: {{error}}")
    limit_to(resource.RLIM_INFINITY)
    result = run(tilewright.compile(module))
np.testing.assert_allclose(result.sum(axis=1), 1, rtol=1e-5)
print(*sorted(set(outcomes)), sep="\\n")
'''
WARM = {"first": "", "again": "run(tilewright.compile(module))"}


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("warm", WARM)
@pytest.mark.parametrize("first", [0.0, 0.125])
def test_compile_raises_and_compiles_afterwards(first, warm, threads):
    program = PROGRAM.format(warm=WARM[warm], first=first, last=24, step=0.75 if warm == "again" else 2.5)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
        env=os.environ | {"TILEWRIGHT_CACHE_MB": "0", "TILEWRIGHT_NUM_THREADS": str(threads)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "MemoryError: out of memory" in lines
    assert set(lines) <= {"MemoryError: out of memory", "compiled"}


def test_an_intrinsic_that_the_target_lacks_leaves_the_process_as_it_was():
    """LLVM's fatal errors leave by the same way."""
    func = tilewright.script.parse("""
@T.prim_func
def f(A: T.Buffer((16,), "float32")):
    A[0:8] = T.call_llvm_pure_intrin("float32x8", "llvm.x86.avx.max.ps.256", A[0:8], A[8:16])
""")
    x86 = "llvm -mtriple=x86_64-linux-gnu -mcpu="
    for _ in range(20):
        with pytest.raises(
            tilewright.Unsupported, match="LLVM cannot compile this code: Do not know how to split"
        ):
            tilewright.build(func, x86 + "x86-64")
    assert "vmaxps" in tilewright.build(func, x86 + "skylake").get_source("asm")
