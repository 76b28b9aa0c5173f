"""CUDA C on a CPU (tilewright/emulation): kernels that people write, in three orders of threads; what is wrong in them shows."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

NVCC = Path(__file__).resolve().parents[2] / "tilewright/emulation/nvcc"
ORDERS = ("forward", "backward", "shuffled")

VECTOR_ADD = """
extern "C" __global__ void add(const float* A, const float* B, float* C, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) C[i] = A[i] + B[i];
}
"""

TRANSPOSE = """
extern "C" __global__ void __launch_bounds__(256) transpose(const float* A, float* B, int rows, int columns) {
  __shared__ float tile[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = A[y * columns + x];
  __syncthreads();
  const int from = blockIdx.y * 16 + threadIdx.x, to = blockIdx.x * 16 + threadIdx.y;
  if (from < rows && to < columns) B[to * rows + from] = tile[threadIdx.x][threadIdx.y];
}
"""

BLOCK_SUM = """
extern "C" __global__ void block_sum(const float* A, float* B, int n) {
  __shared__ float sums[8];
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float value = i < n ? A[i] : 0.0f;
  for (int delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffffu, value, delta);
  if (lane == 0) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < 8 ? sums[lane] : 0.0f;
    for (int delta = 4; delta > 0; delta /= 2) value += __shfl_xor_sync(0xffffffffu, value, delta);
    if (lane == 0) B[blockIdx.x] = value;
  }
}
"""

MATMUL = """
extern "C" __global__ void matmul(const float* A, const float* B, float* C) {
  extern __shared__ float memory[];
  float* a = memory;
  float* b = memory + 16 * 16;
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < 64; k += 16) {
    a[threadIdx.y * 16 + threadIdx.x] = A[row * 64 + k + threadIdx.x];
    b[threadIdx.y * 16 + threadIdx.x] = B[(k + threadIdx.y) * 64 + column];
    __syncthreads();
    for (int n = 0; n < 16; ++n) sum += a[threadIdx.y * 16 + n] * b[n * 16 + threadIdx.x];
    __syncthreads();
  }
  C[row * 64 + column] = sum;
}
"""


class Library:
    """The kernels of a text."""

    def __init__(self, text: str, folder: Path):
        source, library = folder / "kernels.cu", folder / "kernels.cubin"
        source.write_text(text)
        subprocess.run([NVCC, "-cubin", "-arch=sm_90a", "-o", library, source], check=True)
        self.symbols = ctypes.CDLL(str(library))

    def sizes(self, kernel: str, count: int) -> list[int]:
        """The bytes of its arguments, and 0."""
        return list((ctypes.c_int * count).in_dll(self.symbols, f"tilewright_emulated_sizes_{kernel}"))

    def launch(self, kernel: str, grid, block, *args, shared: int = 0) -> int:
        """The status of a launch; arrays are passed as pointers."""
        values = [
            ctypes.c_void_p(each.ctypes.data) if isinstance(each, np.ndarray) else each for each in args
        ]
        places = [ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in values]
        extents = [(ctypes.c_uint * 3)(*(list(each) + [1, 1])[:3]) for each in (grid, block)]
        function = getattr(self.symbols, f"tilewright_emulated_{kernel}")
        return function(*extents, ctypes.c_uint(shared), (ctypes.c_void_p * len(places))(*places))


@pytest.fixture(scope="module")
def examples(tmp_path_factory) -> Library:
    return Library(VECTOR_ADD + TRANSPOSE + BLOCK_SUM + MATMUL, tmp_path_factory.mktemp("kernels"))


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape, dtype="float32")


def runs_of(library: Library) -> dict:
    """{kernel: a function that tells whether a run of it is right}"""

    def transpose():
        a, b = numbers(37, 53), np.zeros((53, 37), "float32")
        status = library.launch("transpose", (4, 3), (16, 16), a, b, ctypes.c_int(37), ctypes.c_int(53))
        return status == 0 and np.array_equal(b, a.T)

    def block_sum():
        a, b = numbers(1000), np.zeros(4, "float32")
        status = library.launch("block_sum", (4,), (256,), a, b, ctypes.c_int(1000))
        expected = [a[n : n + 256].sum() for n in range(0, 1000, 256)]
        return status == 0 and np.allclose(b, expected, rtol=1e-5, atol=1e-5)

    def matmul():
        a, b, c = numbers(64, 64), numbers(64, 64)[::-1].copy(), np.zeros((64, 64), "float32")
        status = library.launch("matmul", (4, 4), (16, 16), a, b, c, shared=2048)
        return status == 0 and np.allclose(c, a @ b, rtol=1e-4, atol=1e-4)

    return {"transpose": transpose, "block_sum": block_sum, "matmul": matmul}


@pytest.mark.parametrize("order", ORDERS)
def test_vector_add(examples, order, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATION_ORDER", order)
    a, b, c = numbers(1027), numbers(1027)[::-1].copy(), np.zeros(1027, "float32")
    assert examples.sizes("add", 5) == [8, 8, 8, 4, 0]
    assert examples.launch("add", (9,), (128,), a, b, c, ctypes.c_int(1027)) == 0
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kernel", ["transpose", "block_sum", "matmul"])
def test_threads_meet_at_barriers(examples, kernel, order, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATION_ORDER", order)
    assert runs_of(examples)[kernel]()


@pytest.mark.parametrize(
    "kernel, text, barrier",
    [("transpose", TRANSPOSE, 0), ("block_sum", BLOCK_SUM, 0)] + [("matmul", MATMUL, n) for n in (0, 1)],
)
def test_a_missing_barrier_shows_in_one_of_the_orders(kernel, text, barrier, tmp_path, monkeypatch):
    parts = text.split("__syncthreads();")
    text = "__syncthreads();".join(
        [*parts[:barrier], parts[barrier] + parts[barrier + 1], *parts[barrier + 2 :]]
    )
    run = runs_of(Library(text, tmp_path))[kernel]
    results = []
    for order in ORDERS:
        monkeypatch.setenv("TILEWRIGHT_EMULATION_ORDER", order)
        results.append(run())
    assert not all(results)


FAULTS = """
extern "C" __global__ void divergent(float* A) {
  if (threadIdx.x < 3) __syncthreads();
  A[threadIdx.x] = 1;
}
extern "C" __global__ void two_barriers(float* A) {
  if (threadIdx.x < 3)
    __syncthreads();
  else
    __syncthreads();
}
extern "C" __global__ void beyond(float* A) {
  extern __shared__ __align__(16) unsigned char memory[];
  ((float*)memory)[threadIdx.x] = A[0];
}
extern "C" __global__ void outside_of_the_mask(float* A) {
  A[threadIdx.x] = __shfl_sync(0x7u, A[threadIdx.x], 0);
}
extern "C" __global__ void part_of_a_warp(float* A) {
  if (threadIdx.x < 4) A[threadIdx.x] = __shfl_sync(0xffffffffu, A[threadIdx.x], 0);
}
extern "C" __global__ void nothing_written(float* A) {
  __shared__ float memory[8];
  A[threadIdx.x] = memory[threadIdx.x];
}
extern "C" __global__ void no_wait(const float* A, float* B, int waits) {
  __shared__ __align__(16) float memory[8];
  tw_cp_async16(memory, A);
  tw_cp_commit();
  tw_cp_async16(memory + 4, A + 4);
  tw_cp_commit();
  if (waits == 1) tw_cp_wait<1>();
  if (waits == 2) tw_cp_wait<0>();
  for (int n = 0; n < 8; ++n) B[n] = memory[n];
}
"""


@pytest.fixture(scope="module")
def faults(tmp_path_factory) -> Library:
    return Library(FAULTS, tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize(
    "kernel, message",
    [
        ("divergent", "thread 0 waits at __syncthreads in line 3, thread 3 has ended"),
        ("two_barriers", "thread 0 waits at __syncthreads in line 8, thread 3 at __syncthreads in line 10"),
        ("beyond", "it writes beyond its 16 bytes of dynamic shared memory"),
        ("outside_of_the_mask", "thread 3 calls __shfl_sync in line 17, but its lane is not in the mask 0x7"),
        ("part_of_a_warp", "thread 0 waits at __shfl_sync in line 20, thread 4 has ended"),
    ],
)
def test_faults_are_reported(faults, kernel, message, capfd):
    assert faults.launch(kernel, (1,), (7,), np.zeros(8, "float32"), shared=16) == 1
    assert (
        capfd.readouterr().err
        == f"tilewright's CUDA emulation: kernel {kernel}, block (0, 0, 0) of 7 x 1 x 1 threads: {message}\n"
    )


def test_a_launch_that_no_device_can_run(faults, capfd):
    assert faults.launch("divergent", (1,), (1025,), np.zeros(8, "float32")) == 1
    expected = "tilewright's CUDA emulation: kernel divergent cannot run with 1025 threads and 0 bytes\n"
    assert capfd.readouterr().err == expected


def test_shared_memory_that_was_not_written_is_not_a_number(faults):
    a = np.zeros(8, "float32")
    assert faults.launch("nothing_written", (1,), (8,), a) == 0
    assert np.isnan(a).all()


def test_a_copy_ends_when_it_is_waited_for(faults):
    a = np.arange(8, dtype="float32")
    for waits, known in ((0, 0), (1, 4), (2, 8)):
        b = np.zeros(8, "float32")
        assert faults.launch("no_wait", (1,), (1,), a, b, ctypes.c_int(waits)) == 0
        np.testing.assert_array_equal(b[:known], a[:known])
        assert np.isnan(b[known:]).all()


def test_blocks_at_equal_distances(examples, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATION_BLOCKS", "3")
    a, b = numbers(1000), np.zeros(4, "float32")
    examples.launch("block_sum", (4,), (256,), a, b, ctypes.c_int(1000))
    assert (b != 0).tolist() == [True, True, False, True]


TENSOR_CORES = """
extern "C" __global__ void product(const half* A, const half* B, float* C) {
  __shared__ __align__(16) half a[16 * 16], b[16 * 8];
  for (int n = threadIdx.x; n < 256; n += 32) a[n] = A[n];
  for (int n = threadIdx.x; n < 128; n += 32) b[n] = B[n];
  __syncwarp();
  uint32_t left[4], right[2];
  float sums[4] = {0, 0, 0, 0};
  tw_ldmatrix_x4(left, &a[threadIdx.x % 16 * 16 + threadIdx.x / 16 * 8]);
  tw_ldmatrix_x2_trans(right, &b[threadIdx.x % 16 * 8]);
  tw_mma_m16n8k16_f16_f16_f32(sums, left, right);
  for (int n = 0; n < 4; ++n)
    C[(threadIdx.x / 4 + n / 2 * 8) * 8 + threadIdx.x % 4 * 2 + n % 2] = sums[n];
}
"""


def test_a_product_on_tensor_cores(tmp_path):
    a, b = numbers(16, 16).astype("float16"), numbers(16, 8).astype("float16")
    c = np.zeros((16, 8), "float32")
    assert Library(TENSOR_CORES, tmp_path).launch("product", (1,), (32,), a, b, c) == 0
    np.testing.assert_allclose(c, a.astype("float32") @ b.astype("float32"), rtol=1e-4, atol=1e-4)


LIBDEVICE = """
extern "C" __device__ float __nv_rsqrtf(float);
extern "C" __device__ double __nv_exp(double);
extern "C" __global__ void values(float* A, double* B) {
  A[threadIdx.x] = __nv_rsqrtf(A[threadIdx.x]);
  B[threadIdx.x] = __nv_exp(B[threadIdx.x]);
}
"""


def test_functions_of_libdevice(tmp_path):
    a, b = abs(numbers(7)), numbers(7).astype("float64")
    expected = 1 / np.sqrt(a), np.exp(b)
    assert Library(LIBDEVICE, tmp_path).launch("values", (1,), (7,), a, b) == 0
    np.testing.assert_allclose(a, expected[0], rtol=1e-6)
    np.testing.assert_allclose(b, expected[1], rtol=1e-14)


def test_the_stand_in_of_nvcc(tmp_path):
    said = subprocess.run([NVCC, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == "nvcc: tilewright's emulation of CUDA on a CPU\n"
    missing = subprocess.run(
        [NVCC, "-cubin", "-o", tmp_path / "a", "none.cu"], capture_output=True, text=True
    )
    assert (missing.returncode, missing.stderr) == (1, 'nvcc (emulation): cannot read input file "none.cu"\n')
    nothing = subprocess.run(
        ["/bin/sh", NVCC, "-o", tmp_path / "a", __file__],
        capture_output=True,
        text=True,
        env={"PATH": str(tools_without_compilers(tmp_path))},
    )
    expected = "nvcc (emulation): no C++ compiler: install clang++-19, or set CXX\n"
    assert (nothing.returncode, nothing.stderr) == (1, expected)


def tools_without_compilers(folder: Path) -> Path:
    """A folder with what the script calls before it looks for a compiler."""
    for name in ("readlink", "dirname"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return folder
