"""Code for other machines runs there: under qemu-user and node, in programs without any library."""

import cross_testing
import numpy as np
import pytest
from cross_network import NetworkProgram
from cross_testing import MACHINES, ROOT, output_of

import tilewright as tw
from tilewright.script import tir as T

PROGRAM = """
int32_t __tvm_ffi_mm_relu(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result);

static float a[5 * 7], b[7 * 127], c[5 * 127];

static void start(void) {
  int64_t a_shape[] = {5, 7}, b_shape[] = {7, 127}, c_shape[] = {5, 127};
  for (int n = 0; n < 5 * 7; ++n) a[n] = (float)(n % 5 - 2);
  for (int n = 0; n < 7 * 127; ++n) b[n] = (float)(n % 7 - 3);
  const DLDataType dtype = {2, 32, 1};
  DLTensor t[3];
  TilewrightAny args[3], none = {0, 0, {0}};
  set_tensor(&args[0], &t[0], a, a_shape, 2, dtype);
  set_tensor(&args[1], &t[1], b, b_shape, 2, dtype);
  set_tensor(&args[2], &t[2], c, c_shape, 2, dtype);
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
  if (numbers[0] != 5 || numbers[1] != 126) leave(4);
  /* tensors that are objects of tvm-ffi, which begin with a header */
  struct { char header[TILEWRIGHT_OBJECT_HEADER_BYTES]; DLTensor tensor; } object;
  c_shape[1] = 127;
  object.tensor = t[2];
  args[2].type_index = kTilewrightTensor;
  args[2].v_ptr = &object;
  if (__tvm_ffi_mm_relu(0, args, 3, &none) != 0) leave(5);
  /* elements that begin behind the pointer, and strides */
  int64_t strides[] = {127, 1};
  t[2].data = (char*)c - 8;
  t[2].byte_offset = 8;
  t[2].strides = strides;
  args[2].type_index = kTilewrightDLTensor;
  args[2].v_ptr = &t[2];
  c[3] = -1;
  if (__tvm_ffi_mm_relu(0, args, 3, &none) != 0 || c[3] == -1) leave(6);
  strides[0] = 128;
  if (__tvm_ffi_mm_relu(0, args, 3, &none) != -1) leave(7);
  /* too few arguments */
  if (__tvm_ffi_mm_relu(0, args, 2, &none) != -1) leave(8);
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


@pytest.mark.parametrize("schedule", [False, True], ids=["as written", "by rules"])
@pytest.mark.parametrize("name", MACHINES)
def test_an_object_runs_on_another_machine(name, schedule, tmp_path):
    machine = MACHINES[name]
    cross_testing.require(machine.emulator)
    lib = tw.build(mm_relu, f"llvm {machine.target}", schedule=schedule)
    lib.export_library(tmp_path / "kernel.o")
    output_of(machine, PROGRAM, tmp_path / "kernel.o")


#: a number that comes in and one that goes out, memory that is taken while it runs, threads that there are not
MEAN = """
int32_t __tvm_ffi_mean(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result);
static int64_t a[127];
static void start(void) {
  int64_t a_shape[] = {127};
  for (int n = 0; n < 127; ++n) a[n] = n * 1000000007LL;
  const DLDataType dtype = {0, 64, 1};
  DLTensor t;
  TilewrightAny args[2] = {{0, 0, {0}}, {kTilewrightInt, 0, {0}}}, result = {0, 0, {0}};
  set_tensor(&args[0], &t, a, a_shape, 1, dtype);
  args[1].v_int64 = 3;
  if (__tvm_ffi_mean(0, args, 2, &result) != 0) leave(1);
  if (result.type_index != kTilewrightInt || result.v_int64 != 63 * 127 * 1000000007LL + 3) leave(2);
  args[1].v_int64 = 1LL << 40; /* more than 32 bits */
  if (__tvm_ffi_mean(0, args, 2, &result) != 0) leave(3);
  if (result.v_int64 != 63 * 127 * 1000000007LL + (1LL << 40)) leave(4);
}
"""


@T.prim_func
def mean(a: T.handle, more: T.int64) -> T.int64:
    n = T.int64()
    A = T.match_buffer(a, (n,), "int64")
    B = T.alloc_buffer((n,), "int64")
    S = T.alloc_buffer((1,), "int64")
    for i in T.parallel(n):
        B[i] = A[i] + T.int64(0)
    S[0] = more
    for i in range(n):
        S[0] = S[0] + B[i]
    T.evaluate(T.ret(S[0]))


@pytest.mark.parametrize("name", MACHINES)
def test_numbers_threads_and_memory_on_another_machine(name, tmp_path):
    machine = MACHINES[name]
    cross_testing.require(machine.emulator)
    tw.build(mean, f"llvm {machine.target}").export_library(tmp_path / "kernel.o")
    output_of(machine, MEAN, tmp_path / "kernel.o")


#: more memory than 32 bits can say
LARGE = """
int32_t __tvm_ffi_large(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result);
static int64_t a[5];
static void start(void) {
  int64_t shape[] = {5};
  const DLDataType dtype = {0, 64, 1};
  DLTensor t;
  TilewrightAny args[2] = {{0, 0, {0}}, {kTilewrightInt, 0, {0}}}, none = {0, 0, {0}};
  set_tensor(&args[0], &t, a, shape, 1, dtype);
  args[1].v_int64 = 7;
  if (__tvm_ffi_large(0, args, 2, &none) != 0) leave(1);
  if (a[0] != 1 || a[1] != 0 || a[2] != 4) leave(2);
  args[1].v_int64 = (1LL << 29) + 8; /* 2^32 + 64 bytes */
  if (__tvm_ffi_large(0, args, 2, &none) != -1) leave(3);
}
"""


@T.prim_func
def large(A: T.Buffer((5,), "int64"), n: T.int64):
    B = T.alloc_buffer((n,), "int64")
    for i in range(n):
        B[i] = i
    for i in range(n):
        A[i % T.int64(5)] = B[n - T.int64(1) - i]


@pytest.mark.parametrize("name", MACHINES)
def test_memory_that_there_is_not(name, tmp_path):
    machine = MACHINES[name]
    cross_testing.require(machine.emulator)
    tw.build(large, f"llvm {machine.target}", schedule=False).export_library(tmp_path / "kernel.o")
    output_of(machine, LARGE, tmp_path / "kernel.o")


@pytest.mark.parametrize(
    "name, instruction", [("armv7", "vmla.f32\tq"), ("wasm32 with vectors", "f32x4.mul")]
)
def test_vectors_are_instructions(name, instruction):
    lib = tw.build(mm_relu, f"llvm {MACHINES[name].target}")
    assert instruction in lib.get_source("asm")


NETWORK = str(ROOT / "examples/fashion_mnist/fashion_mnist.onnx")


@pytest.fixture(scope="module")
def probabilities():
    """Results of the network on this machine for the pictures of NetworkProgram."""
    pictures = np.random.default_rng(0).random((5, 1, 28, 28), "float32")
    return tw.relax.VirtualMachine(tw.compile(NETWORK), tw.cpu())["main"](pictures).numpy()


@pytest.mark.parametrize("name", MACHINES)
def test_the_network_of_the_demo_runs_on_another_machine(name, probabilities, tmp_path):
    machine = MACHINES[name]
    cross_testing.require(machine.emulator)
    executable = tw.compile(NETWORK, target=f"llvm {machine.target}")
    executable.export_library(str(tmp_path / "kernels.o"))
    program = NetworkProgram(executable.legalized["main"], 5, tmp_path).text()
    found = np.frombuffer(output_of(machine, program, tmp_path / "kernels.o"), "float32").reshape(5, 10)
    np.testing.assert_allclose(found, probabilities, rtol=1e-4, atol=1e-6)


def test_rv32_has_objects(tmp_path):
    for float_options, flag in (("+m,+a,+f,+d,+c", 5), ("+m,+f", 2), ("+m", 0)):
        lib = tw.build(mm_relu, f"llvm -mtriple=riscv32-unknown-elf -mattr={float_options}")
        lib.export_library(tmp_path / "kernel.a")
        lib.export_library(tmp_path / "kernel.o")
        header = (tmp_path / "kernel.o").read_bytes()[:64]
        assert header[:5] == b"\x7fELF\x01"  # of 32 bits
        assert int.from_bytes(header[18:20], "little") == 243  # RISC-V
        assert int.from_bytes(header[36:40], "little") & 7 == flag  # which registers pass floats


def test_c_source_runs_as_wasm32_under_node(tmp_path):
    machine = MACHINES["wasm32"]
    cross_testing.require("node", "clang-19", "wasm-ld-19")
    tw.build(mm_relu, "c", schedule=False).export_library(tmp_path / "kernel.c")
    kernels = cross_testing.compiled(machine, tmp_path / "kernel.c", "-O1")
    output_of(machine, PROGRAM, kernels)


def test_code_for_wasm_is_no_shared_library(tmp_path):
    lib = tw.build(mm_relu, "llvm -mtriple=wasm32-unknown-unknown")
    with pytest.raises(tw.Unsupported) as error:
        lib.export_library(tmp_path / "kernel.so")
    assert str(error.value) == (
        "unsupported: code for WebAssembly cannot become a .so: there are no such libraries\n"
        "help: export a .o or .a, and link it with wasm-ld"
    )


def test_no_linker_for_wasm(tmp_path, monkeypatch):
    lib = tw.build(mm_relu, "llvm -mtriple=wasm32-unknown-unknown")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tw.Unsupported) as error:
        lib.export_library(tmp_path / "kernel.o")
    assert str(error.value) == (
        "unsupported: no linker for WebAssembly was found: wasm-ld is not on the PATH\n"
        "help: install it (Debian: apt-get install lld-19), or export a .a"
    )
    lib.export_library(tmp_path / "kernel.a")
