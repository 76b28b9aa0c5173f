"""Programs for other machines without any library, made by clang and run by emulators and node."""

import dataclasses
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: system calls of Linux as C, by the registers of the machine
_CALL = """
static long system_call(long call, long a, long b, long c) {
  register long number __asm__("%s") = call;
  register long first __asm__("%s") = a, second __asm__("%s") = b, third __asm__("%s") = c;
  __asm__ volatile("%s" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
  return first;
}
static void leave(long status) { system_call(%d, status, 0, 0); for (;;) {} }
static void put(const void* bytes, long count) { system_call(%d, 1, (long)bytes, count); }
"""
#: what machine code may ask of any program
_LIBRARY = """
#include "tilewright/runtime/kernel_abi.h"
void* memset(void* to, int value, size_t count) {
  for (volatile char* byte = to; count--; ++byte) *byte = (char)value;
  return to;
}
void* memcpy(void* to, const void* from, size_t count) {
  for (size_t n = 0; n < count; ++n) ((volatile char*)to)[n] = ((const char*)from)[n];
  return to;
}
static char pool[1 << 24];
static size_t used;
void* aligned_alloc(size_t alignment, size_t bytes) {
  const size_t begin = ((used + (size_t)pool + alignment - 1) & ~(alignment - 1)) - (size_t)pool;
  if (begin > sizeof pool || bytes > sizeof pool - begin) return 0;
  used = begin + bytes;
  return pool + begin;
}
void* malloc(size_t bytes) { return aligned_alloc(64, bytes); }
void free(void* memory) { used = (size_t)((char*)memory - pool); }
static long long numbers[8];
int vsnprintf(char* text, size_t size, const char* format, __builtin_va_list values) {
  for (size_t n = 0, at = 0; format[n] && at < 8; ++n) {
    if (format[n] == '%' && format[n + 1] == 'l') numbers[at++] = __builtin_va_arg(values, long long);
  }
  if (size) text[0] = 0;
  return 0;
}
static void set_tensor(TilewrightAny* any, DLTensor* t, void* data, int64_t* shape, int ndim, DLDataType dtype) {
  const DLTensor plain = {data, {1, 0}, ndim, dtype, shape, 0, 0};
  *t = plain;
  const TilewrightAny clear = {kTilewrightDLTensor, 0, {0}};
  *any = clear;
  any->v_ptr = t;
}
"""
_START = """
#ifdef __i386__ /* it is jumped to, not called */
__attribute__((force_align_arg_pointer))
#endif
void _start(void) { start(); leave(0); }
"""
#: headers of the C library that C source of kernels includes; clang has the others
_HEADERS = {
    "math.h": "#define isnan(x) __builtin_isnan(x)\n",
    "stdio.h": "#include <stddef.h>\n#include <stdarg.h>\n"
    "int snprintf(char*, size_t, const char*, ...);\nint vsnprintf(char*, size_t, const char*, va_list);\n",
    "stdlib.h": "#include <stddef.h>\nvoid* malloc(size_t);\nvoid free(void*);\n",
    "string.h": "#include <stddef.h>\nvoid* memcpy(void*, const void*, size_t);\n",
}
_WASM = """
__attribute__((import_module("env"), import_name("leave"))) void leave(long status);
__attribute__((import_module("env"), import_name("put"))) void put(const void* bytes, long count);
"""
_NODE = """
const fs = require("fs");
let status = 99, memory;
const env = {
  leave(given) { status = given; throw new Error("left"); },
  put(at, count) { fs.writeSync(1, new Uint8Array(memory.buffer, at, count)); },
};
const instance = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])), { env });
memory = instance.exports.memory;
try { instance.exports._start(); } catch (error) { if (error.message !== "left") throw error; }
process.exit(status);
"""


@dataclasses.dataclass
class Machine:
    """How programs for a machine are made and run."""

    target: str  # options of target llvm
    clang: tuple  # options of clang
    emulator: str
    system: str  # leave and put, in C
    emulated: tuple = ()  # options of the emulator: the processor

    @property
    def is_wasm(self) -> bool:
        return self.emulator == "node"


_ARM = (
    ("--target=armv7-linux-gnueabihf",),
    "qemu-arm",
    _CALL % ("r7", "r0", "r1", "r2", "svc 0", 1, 4),
)


def machine_of_sve(width: int, there: int | None = None) -> Machine:
    """AArch64 with code for registers of SVE of `width` bits, on a processor where they have `there`."""
    return Machine(
        f"-mtriple=aarch64-linux-gnu -mattr=+sve,+dotprod,+fullfp16 -vector-width={width}",
        ("--target=aarch64-linux-gnu",),
        "qemu-aarch64",
        _CALL % ("x8", "x0", "x1", "x2", "svc 0", 93, 64),
        ("-cpu", f"max,sve-max-vq={(there or width) // 128}"),
    )


def machine_of_rvv(width: int, there: int | None = None) -> Machine:
    """64-bit RISC-V with code for registers of V of `width` bits, on a processor where they have `there`.

    float16 is computed by single numbers: qemu 7.2 has no vectors of it (zvfh).
    """
    return Machine(
        f"-mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c,+zfh,+v -vector-width={width}",
        ("--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d"),
        "qemu-riscv64",
        _CALL % ("a7", "a0", "a1", "a2", "ecall", 93, 64),
        ("-cpu", f"rv64,v=true,vext_spec=v1.0,Zfh=true,vlen={there or width}"),
    )


MACHINES = {
    "aarch64": Machine(
        "-mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
        ("--target=aarch64-linux-gnu",),
        "qemu-aarch64",
        _CALL % ("x8", "x0", "x1", "x2", "svc 0", 93, 64),
    ),
    "riscv64": Machine(
        "-mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c",
        ("--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d"),
        "qemu-riscv64",
        _CALL % ("a7", "a0", "a1", "a2", "ecall", 93, 64),
    ),
    "aarch64 with SVE": machine_of_sve(512),
    "riscv64 with V": machine_of_rvv(256),
    "armv7": Machine("-mtriple=armv7-linux-gnueabihf -mattr=+neon", *_ARM),
    "armv7 without vectors": Machine("-mtriple=armv7-linux-gnueabihf", *_ARM),
    "i386": Machine(  # its structs align int64 to 4 bytes
        "-mtriple=i686-linux-gnu -mattr=+sse2",
        ("--target=i686-linux-gnu",),
        "qemu-i386",
        _CALL % ("eax", "ebx", "ecx", "edx", "int $0x80", 1, 4),
    ),
    "wasm32": Machine("-mtriple=wasm32-unknown-unknown", ("--target=wasm32",), "node", _WASM),
    "wasm32 with vectors": Machine(
        "-mtriple=wasm32-unknown-unknown -mattr=+simd128", ("--target=wasm32",), "node", _WASM
    ),
}


def require(*programs: str) -> None:
    """Skips the test where one of the programs is missing."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"there is no {program} (Debian: qemu-user, nodejs, clang-19, lld-19)")


def run(*words) -> bytes:
    """Returns the output of the program, which must end with status 0."""
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout[-500:]!r}{done.stderr.decode()}"
    return done.stdout


def compiled(machine: Machine, source: Path, *options: str) -> Path:
    """The object of a C file without a C library."""
    for name, content in _HEADERS.items():
        (source.parent / name).write_text(content)
    run(
        *("clang-19", *machine.clang, *options, "-ffreestanding", "-fno-pic", "-nostdlibinc", "-c"),
        *(f"-I{ROOT}", "-isystem", source.parent, source, "-o", source.with_suffix(".o")),
    )
    return source.with_suffix(".o")


def output_of(machine: Machine, program: str, kernels: Path) -> bytes:
    """Returns the output of `program`, C with a function start(), when it is linked with the object `kernels` and run."""
    require("clang-19", "wasm-ld-19" if machine.is_wasm else "ld.lld-19", machine.emulator)
    folder = kernels.parent
    main = folder / "main.c"
    main.write_text(_LIBRARY + machine.system + program + _START)
    made = folder / "main"
    linker = ("wasm-ld-19", "--allow-undefined") if machine.is_wasm else ("ld.lld-19", "-static")
    run(*linker, "-o", made, compiled(machine, main, "-O1"), kernels)
    if not machine.is_wasm:
        return run(machine.emulator, *machine.emulated, made)
    (folder / "run.js").write_text(_NODE)
    return run("node", folder / "run.js", made)
