"""Objects for other machines run there: AArch64 and RISC-V under qemu-user, in a program without any library."""

import shutil
import subprocess
from pathlib import Path

import pytest

import tilewright as tw
from tilewright.script import tir as T

ROOT = Path(__file__).resolve().parents[2]

#: triple, CPU and features, emulator, and how a program ends without a C library
MACHINES = {
    "aarch64": (
        "aarch64-linux-gnu -mcpu=cortex-a72",
        "qemu-aarch64",
        'register long code __asm__("x0") = status; register long call __asm__("x8") = 93;'
        '__asm__ volatile("svc 0" : : "r"(code), "r"(call));',
    ),
    "riscv64": (
        "riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c",
        "qemu-riscv64",
        'register long code __asm__("a0") = status; register long call __asm__("a7") = 93;'
        '__asm__ volatile("ecall" : : "r"(code), "r"(call));',
    ),
}

PROGRAM = """
#include "tilewright/runtime/kernel_abi.h"
int32_t __tvm_ffi_mm_relu(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result);

/* what machine code may ask for in any program */
void* memset(void* to, int value, size_t count) {
  for (volatile char* byte = to; count--; ++byte) *byte = (char)value;
  return to;
}
void* memcpy(void* to, const void* from, size_t count) {
  for (size_t n = 0; n < count; ++n) ((volatile char*)to)[n] = ((const char*)from)[n];
  return to;
}
void* aligned_alloc(size_t alignment, size_t bytes) { (void)alignment; (void)bytes; return 0; }
void free(void* pointer) { (void)pointer; }
static long long rows, columns;
int vsnprintf(char* text, size_t size, const char* format, __builtin_va_list values) {
  (void)text; (void)size; (void)format;
  rows = __builtin_va_arg(values, long long);
  columns = __builtin_va_arg(values, long long);
  return 0;
}

static void leave(long status) { EXIT for (;;) {} }

static float a[5 * 7], b[7 * 127], c[5 * 127];

static TilewrightAny tensor(DLTensor* t, float* data, int64_t* shape) {
  const DLTensor plain = {data, {1, 0}, 2, {2, 32, 1}, shape, 0, 0};
  *t = plain;
  TilewrightAny any = {kTilewrightDLTensor, 0, {0}};
  any.v_ptr = t;
  return any;
}

void _start(void) {
  int64_t a_shape[] = {5, 7}, b_shape[] = {7, 127}, c_shape[] = {5, 127};
  for (int n = 0; n < 5 * 7; ++n) a[n] = (float)(n % 5 - 2);
  for (int n = 0; n < 7 * 127; ++n) b[n] = (float)(n % 7 - 3);
  DLTensor t[3];
  TilewrightAny args[3], none = {0, 0, {0}};
  args[0] = tensor(&t[0], a, a_shape);
  args[1] = tensor(&t[1], b, b_shape);
  args[2] = tensor(&t[2], c, c_shape);
  if (__tvm_ffi_mm_relu(0, args, 3, &none) != 0) leave(1);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 127; ++j) {
      float sum = 0;
      for (int k = 0; k < 7; ++k) sum += a[i * 7 + k] * b[k * 127 + j];
      if (c[i * 127 + j] != (sum > 0 ? sum : 0)) leave(2);
    }
  /* a wrong shape is refused there too */
  c_shape[1] = 126;
  if (__tvm_ffi_mm_relu(0, args, 3, &none) != -1) leave(3);
  if (rows != 5 || columns != 126) leave(4);
  leave(0);
}
"""


@T.prim_func
def mm_relu(
    A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 127), "float32"), C: T.Buffer((5, 127), "float32")
):
    Y = T.alloc_buffer((5, 127), "float32")
    for i, j, k in T.grid(5, 127, 7):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(5, 127):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


def run(*words):
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("schedule", [False, True], ids=["as written", "by rules"])
@pytest.mark.parametrize("machine", MACHINES)
def test_an_object_runs_on_another_machine(machine, schedule, tmp_path):
    target, emulator, leave = MACHINES[machine]
    if not shutil.which(emulator):
        pytest.skip(f"there is no {emulator} (Debian: qemu-user)")
    tw.build(mm_relu, f"llvm -mtriple={target}", schedule=schedule).export_library(tmp_path / "kernel.o")
    (tmp_path / "main.c").write_text(PROGRAM.replace("EXIT", leave))
    run(
        "clang-19",
        f"--target={machine}-linux-gnu",
        *(["-march=rv64gc", "-mabi=lp64d"] if machine == "riscv64" else []),
        "-O1",
        "-ffreestanding",
        "-fno-pic",
        "-c",
        f"-I{ROOT}",
        tmp_path / "main.c",
        "-o",
        tmp_path / "main.o",
    )
    run("ld.lld-19", "-static", "-o", tmp_path / "main", tmp_path / "main.o", tmp_path / "kernel.o")
    run(emulator, tmp_path / "main")


#: headers of the C library that the source includes; clang has the others
HEADERS = {
    "math.h": "#define isnan(x) __builtin_isnan(x)\n",
    "stdio.h": "#include <stddef.h>\n#include <stdarg.h>\n"
    "int snprintf(char*, size_t, const char*, ...);\nint vsnprintf(char*, size_t, const char*, va_list);\n",
    "stdlib.h": "#include <stddef.h>\nvoid* malloc(size_t);\nvoid free(void*);\n",
    "string.h": "#include <stddef.h>\nvoid* memcpy(void*, const void*, size_t);\n",
}
LEAVE = """__attribute__((import_module("env"), import_name("leave"))) void leave_with(long status);
static void leave("""
NODE = """
const fs = require("fs");
let status = 99;
const env = { leave(given) { status = given; throw new Error("left"); } };
const instance = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])), { env });
try { instance.exports._start(); } catch (error) { if (error.message !== "left") throw error; }
process.exit(status);
"""


def test_c_source_runs_as_wasm32_under_node(tmp_path):
    """Machines of 32 bits are reached through C, whose compiler lays out the structs (decision 12)."""
    for program in ("node", "clang-19", "wasm-ld-19"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program} (Debian: nodejs, clang-19, lld-19)")
    tw.build(mm_relu, "c", schedule=False).export_library(tmp_path / "kernel.c")
    for name, content in HEADERS.items():
        (tmp_path / name).write_text(content)
    program = PROGRAM.replace("static void leave(", LEAVE).replace("EXIT", "leave_with(status);")
    (tmp_path / "main.c").write_text(program)
    (tmp_path / "run.js").write_text(NODE)
    for source in ("kernel", "main"):
        run(
            *("clang-19", "--target=wasm32", "-O1", "-ffreestanding", "-nostdlibinc", "-c", f"-I{ROOT}"),
            *("-isystem", tmp_path, tmp_path / f"{source}.c", "-o", tmp_path / f"{source}.o"),
        )
    run(
        "wasm-ld-19",
        "--allow-undefined",
        "-o",
        tmp_path / "main.wasm",
        tmp_path / "main.o",
        tmp_path / "kernel.o",
    )
    run("node", tmp_path / "run.js", tmp_path / "main.wasm")
