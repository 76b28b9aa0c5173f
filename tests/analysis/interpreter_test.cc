#include "tilewright/analysis/interpreter.h"

#include <cmath>
#include <ctime>
#include <limits>

#include "script_testing.h"
#include "tilewright/runtime/function.h"

namespace tilewright::analysis {
namespace {
using runtime::Tensor;
using runtime::Value;

template <class T>
Tensor tensor(std::vector<int64_t> shape, const std::vector<T>& values, DataType dtype) {
  return Tensor::copy_of(values.data(), values.size() * sizeof(T), shape, dtype);
}
Tensor floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return tensor(std::move(shape), values, kFloat32);
}
Tensor ints(const std::vector<int32_t>& values) {
  return tensor({static_cast<int64_t>(values.size())}, values, kInt32);
}

std::vector<float> content(const Tensor& tensor) {
  const float* data = tensor.data_as<float>();
  return {data, data + tensor.num_elements()};
}

std::string fault(std::string_view program, std::vector<Value> args, const InterpretOptions& options = {}) {
  try {
    interpret(script::parse_func_unchecked(program), args, options);
    return "no error";
  } catch (const Error& error) {
    return error.render();
  }
}

std::string dedented(std::string_view text) {
  std::string result = script::dedent(text);
  while (result.ends_with("\n")) result.pop_back();
  return result;
}

constexpr std::string_view kMatmul = R"(
    @T.prim_func
    def main(a: T.handle, b: T.handle, c: T.handle):
        n = T.int32()
        m = T.int32()
        k = T.int32()
        A = T.match_buffer(a, (n, k))
        B = T.match_buffer(b, (k, m))
        C = T.match_buffer(c, (n, m))
        for i, j, l in T.grid(n, m, k):
            with T.block("C"):
                vi, vj, vl = T.axis.remap("SSR", [i, j, l])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vl] * B[vl, vj]
)";

TEST(Interpret, MatmulOfSymbolicShape) {
  const Tensor A = floats({2, 3}, {1, 2, 3, 4, 5, 6}), B = floats({3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor C = Tensor::empty(std::vector<int64_t>{2, 2}, kFloat32);
  InterpretOptions options;
  options.outputs = {2};
  const std::vector<Value> args{A, B, C};
  interpret(script::parse_func(kMatmul), args, options);
  EXPECT_EQ(content(C), (std::vector<float>{4, 5, 10, 11}));
}

TEST(Interpret, IsQuickEnoughForTests) {
  const Tensor A = Tensor::zeros(std::vector<int64_t>{64, 64}, kFloat32),
               C = Tensor::empty(std::vector<int64_t>{64, 64}, kFloat32);
  const std::vector<Value> args{A, A, C};
  const std::clock_t start = std::clock();  // of this process: others may keep the machine busy
  interpret(script::parse_func(kMatmul), args);
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
}

TEST(Interpret, ArgumentsMustFit) {
  const Tensor A = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(fault(kMatmul, {A, A, A}),
            "error: argument B: dimension 0 is 2, expected k = 3\n  f.py:2:1\n   2 | def main(a: T.handle, "
            "b: T.handle, c: T.handle):\n     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^");
  EXPECT_EQ(fault(kMatmul, {A, A, ints({1})}), "error: argument 2 (C) holds int32, expected float32");
  EXPECT_EQ(fault(kMatmul, {A, A, floats({1}, {1})}),
            "error: argument 2 (C) is 1-dimensional, expected 2-dimensional");
  EXPECT_EQ(fault(kMatmul, {A, A, A.slice(1, 0, 2)}),
            "error: argument 2 (C) has gaps between its elements, but the function takes compact "
            "memory\nhelp: pass tensor.compact()");
}

TEST(Interpret, EveryOperationRoundsToItsType) {
  // 1 + 2^-24 is 1 in float32; in float16 2049 is 2048, in bfloat16 257 is 256
  const Tensor out = floats({4}, {0, 0, 0, 0});
  const std::vector<Value> args{out};
  interpret(script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        A[0] = (T.float32(1) + T.float32(5.9604644775390625e-08)) - T.float32(1)
        A[1] = T.Cast("float32", T.float16(2048) + T.float16(1))
        A[2] = T.Cast("float32", T.Cast("bfloat16", T.float32(257)))
        A[3] = T.Cast("float32", T.int8(127) + T.int8(1)) + T.Cast("float32", T.uint8(3) - T.uint8(4))
  )"),
            args);
  EXPECT_EQ(content(out), (std::vector<float>{0, 2048, 256, -128 + 255}));
}

TEST(Interpret, IntegerDivisionFollowsItsRounding) {
  const Tensor out = ints({0, 0, 0, 0});
  const std::vector<Value> args{out, -7, 2};
  interpret(script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "int32"), x: T.int32, y: T.int32):
        A[0] = x // y
        A[1] = x % y
        A[2] = T.truncdiv(x, y)
        A[3] = T.truncmod(x, y)
  )"),
            args);
  const int32_t* found = out.data_as<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(found, found + 4), (std::vector<int32_t>{-4, 1, -3, -1}));
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "int32"), x: T.int32):
        for i in range(4):
            A[i] = 5 // (x - i)
  )",
                  {out, 2}),
            dedented(R"(
    error: 5 // (x - i): 5 is divided by zero at i = 2
      f.py:4:16
       4 |         A[i] = 5 // (x - i)
         |                ^^^^^^^^^^^^
  )"));
}

TEST(Interpret, VectorsSelectsAndMathOperators) {
  const Tensor A = floats({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<Value> args{A};
  interpret(script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        A[0:4] = A[4:8] * T.Broadcast(T.float32(2), 4)
        A[1:8:2] = T.Shuffle([A[0:4]], [3, 2, 1, 0])
        A[0] = T.Select(A[0] > T.float32(1), T.sqrt(A[0]), T.float32(-1)) + T.if_then_else(A[2] < T.float32(0), A[100], T.float32(0))
        A.vstore([T.Ramp(4, 2, 2)], T.Broadcast(T.float32(9), 2), predicate=T.Shuffle([T.bool(True), T.bool(False)], [0, 1]))
  )"),
            args);
  EXPECT_EQ(content(A), (std::vector<float>{std::sqrt(8.0f), 14, 12, 12, 9, 10, 6, 8}));
}

TEST(Interpret, WhileBreakLetAndReturn) {
  const Tensor A = ints({0});
  const std::vector<Value> args{A, 5};
  const Value result = interpret(script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((1,), "int32"), n: T.int32):
        for i in range(100):
            if i == 3:
                continue
            if i > n:
                break
            twice: T.int32 = i * 2
            A[0] = A[0] + twice
        while A[0] < 100:
            A[0] = A[0] + 7
        T.ret(A[0] + 1)
  )"),
                                 args);
  EXPECT_EQ(result.as_int(), 102);
}

TEST(Interpret, BlocksOfSeveralLevelsViewsAndPredicates) {
  const Tensor A = floats({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
               B = Tensor::empty(std::vector<int64_t>{10}, kFloat32);
  InterpretOptions options;
  options.outputs = {1};
  const std::vector<Value> args{A, B};
  interpret(script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((10,), "float32"), B: T.Buffer((10,), "float32")):
        for i_0 in T.parallel(3):
            with T.block("tile"):
                vt = T.axis.spatial(3, i_0)
                T.reads(A[0:10])
                T.writes(B[0:10])
                L = T.alloc_buffer((4,))
                for j in T.vectorized(4):
                    with T.block("L"):
                        vj = T.axis.spatial(4, j)
                        T.where(vt * 4 + j < 10)
                        L[vj] = A[vt * 4 + vj] * T.float32(2)
                for j in range(4):
                    with T.block("B"):
                        vj = T.axis.spatial(10, vt * 4 + j)
                        T.where(vt * 4 + j < 10)
                        V = T.match_buffer(B[vj:vj + 1], (1,))
                        V[0] = L[vj - vt * 4]
  )"),
            args, options);
  EXPECT_EQ(content(B), (std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
}

TEST(Interpret, LoweredCodeWithThreadsPointersAndCalls) {
  const IRModule module = ir::ref_as<ir::IRModuleNode>(script::parse_text(R"(
    @I.ir_module
    class Module:
        @T.prim_func
        def twice(p: T.handle("float32"), n: T.int32):
            P = T.decl_buffer((n,), data=p)
            for i in range(n):
                P[i] = P[i] * T.float32(2)
            T.ret(0)
        @T.prim_func
        def main(A: T.Buffer((8,), "float32")):
            bx = T.launch_thread("blockIdx.x", 2)
            tx = T.launch_thread("threadIdx.x", 4)
            A[bx * 4 + tx] = A[bx * 4 + tx] + T.float32(1)
        @T.prim_func
        def both(A: T.Buffer((8,), "float32")):
            B = T.decl_buffer((2, 4), data=A.data)
            B[1, 0] = T.float32(100)
            Module.twice(A.data, 4, dtype="int32")
  )"));
  const Tensor A = floats({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<Value> args{A};
  interpret(module, "main", args);
  interpret(module, "both", args);
  EXPECT_EQ(content(A), (std::vector<float>{2, 4, 6, 8, 100, 6, 7, 8}));
}

TEST(Interpret, ForeignFunctions) {
  runtime::register_function(
      "test.interpret.add",
      runtime::Function::typed("test.interpret.add",
                               [](int64_t a, double b) { return static_cast<double>(a) + b; }),
      true);
  InterpretOptions options;
  options.externs["fill"] = [](runtime::Args args) {
    static_cast<float*>(args[0].as_pointer())[args[1].as_int()] = 7;
    return Value(int64_t{0});
  };
  const Tensor A = floats({2}, {0, 0});
  const std::vector<Value> args{A};
  const PrimFunc func = script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((2,), "float32")):
        A[0] = T.call_packed("test.interpret.add", 3, T.float32(0.5), dtype="float32")
        T.call_extern("int32", "fill", A.data, 1)
  )");
  interpret(func, args, options);
  EXPECT_EQ(content(A), (std::vector<float>{3.5, 7}));
  options.externs.clear();
  try {
    interpret(func, args, options);
    FAIL();
  } catch (const Unsupported& error) {
    EXPECT_EQ(error.text(), "the interpreter does not know the C function fill");
  }
}

TEST(InterpretFaults, ElementsThatWereNeverWritten) {
  const Tensor A = floats({4}, {0, 0, 0, 0});
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        B = T.decl_buffer((4,))
        for i in range(3):
            B[i] = T.float32(1)
        for i in range(4):
            A[i] = B[i]
  )",
                  {A}),
            dedented(R"(
    error: B[3] is read before anything is written to it at i = 3
      f.py:7:16
       7 |         A[i] = B[i]
         |                ^^^^
  )"));
  InterpretOptions options;
  options.outputs = {0};
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(3):
            A[i] = T.float32(1)
  )",
                  {A}, options),
            "error: A[3] is never written");
}

TEST(InterpretFaults, AccessesOutsideOfABuffer) {
  const Tensor A = floats({4}, {0, 0, 0, 0});
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i + 1]
  )",
                  {A}),
            dedented(R"(
    error: A[4] is outside of the buffer: dimension 0 has extent 4 at i = 3
      f.py:4:16
       4 |         A[i] = A[i + 1]
         |                ^^^^^^^^
  )"));
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.Select(i > 0, A[i - 1], T.float32(0))
  )",
                  {A}),
            dedented(R"(
    error: A[-1] is outside of the buffer: dimension 0 has extent 4 at i = 0
      f.py:4:32
       4 |         A[i] = T.Select(i > 0, A[i - 1], T.float32(0))
         |                                ^^^^^^^^
  )"));
}

TEST(InterpretFaults, PromisesThatLie) {
  const Tensor A = floats({4}, {0, 0, 0, 0}), B = floats({4}, {0, 0, 0, 0});
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[3 - vi]
  )",
                  {A, B}),
            dedented(R"(
    error: block B reads A[3], but its T.reads says A[vi], here A[0] at i = 0, vi = 0
      f.py:8:21
       8 |             B[vi] = A[3 - vi]
         |                     ^^^^^^^^^
  )"));
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                T.reads()
                T.writes(B[vi])
                B[vi] = A[vi]
  )",
                  {A, B}),
            dedented(R"(
    error: block B reads A[0], but its T.reads does not name the buffer at i = 0, vi = 0
      f.py:8:21
       8 |             B[vi] = A[vi]
         |                     ^^^^^
  )"));
}

TEST(Interpret, ChosenCopiesPassOnThatNothingIsThere) {
  const Tensor A = floats({4}, {1, 2, 3, 4});
  constexpr std::string_view kText = R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        B = T.decl_buffer((4,))
        C = T.decl_buffer((5,))
        for i in range(2):
            B[i] = A[i]
        for i in range(5):
            C[i] = T.if_then_else(i < 4, B[i], T.float32(7))
        for i in range({}):
            A[i] = C[i] + C[4]
  )";
  EXPECT_EQ(fault(fmt::format(fmt::runtime(kText), 2), {A}), "no error");
  EXPECT_EQ(content(A), (std::vector<float>{8, 9, 3, 4}));
  EXPECT_EQ(fault(fmt::format(fmt::runtime(kText), 3), {A}), dedented(R"(
    error: C[2] is read before anything is written to it at i = 2
      f.py:10:16
      10 |         A[i] = C[i] + C[4]
         |                ^^^^
  )"));
}

TEST(Interpret, CopiesPassOnThatNothingIsThere) {
  const Tensor A = floats({4}, {1, 2, 3, 4});
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        B = T.decl_buffer((4,))
        C = T.decl_buffer((4,))
        for i in range(2):
            B[i] = A[i]
        for i in range(4):
            C[i] = B[i]
        for i in range(2):
            A[i] = C[i] + T.float32(1)
  )",
                  {A}),
            "no error");
  EXPECT_EQ(content(A), (std::vector<float>{2, 3, 3, 4}));
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        B = T.decl_buffer((4,))
        C = T.decl_buffer((4,))
        for i in range(2):
            B[i] = A[i]
        for i in range(4):
            C[i] = B[i]
        for i in range(4):
            A[i] = C[i] + T.float32(1)
  )",
                  {A}),
            dedented(R"(
    error: C[2] is read before anything is written to it at i = 2
      f.py:10:16
      10 |         A[i] = C[i] + T.float32(1)
         |                ^^^^
  )"));
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        B = T.decl_buffer((4,))
        for i in range(4):
            A[i] = B[i]
  )",
                  {A}),
            dedented(R"(
    error: B[0] is read before anything is written to it at i = 0
      f.py:5:16
       5 |         A[i] = B[i]
         |                ^^^^
  )"));
}

TEST(InterpretFaults, RacesOfParallelLoops) {
  const Tensor A = floats({4}, {0, 0, 0, 0});
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in T.parallel(4):
            A[0] = A[0] + T.float32(1)
  )",
                  {A}),
            dedented(R"(
    error: iterations i = 0 and i = 1 of a loop that may run them at the same time touch A[0]: i = 0 writes it, i = 1 reads it at i = 1
      f.py:4:16
       4 |         A[0] = A[0] + T.float32(1)
         |                ^^^^
  )"));
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        B = T.decl_buffer((4,))
        for i in range(4):
            B[i] = A[i]
        for i in T.vectorized(4):
            for k in range(2):
                A[i] = B[i] + B[3]
        for i, j in T.grid(2, 2):
            for k in T.parallel(4):
                B[k] = A[k]
        for i in T.parallel(2):
            for j in T.vectorized(2):
                A[i * 2] = B[i + j]
  )",
                  {A}),
            dedented(R"(
    error: iterations j = 0 and j = 1 of a loop that may run them at the same time touch A[0]: j = 0 writes it, j = 1 writes it at i = 0, j = 1
      f.py:14:13
      14 |             A[i * 2] = B[i + j]
         |             ^^^^^^^^^^^^^^^^^^^
  )"));
  InterpretOptions options;
  options.check_races = false;
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in T.parallel(4):
            A[0] = A[0] + T.float32(1)
  )",
                  {A}, options),
            "no error");
}

TEST(Interpret, IterationsOfParallelLoopsHaveTheirOwnBuffers) {
  // neighbouring iterations compute B[i + 1] both, each for itself
  const Tensor A = floats({5}, {1, 2, 3, 4, 5}), C = floats({4}, {0, 0, 0, 0});
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), C: T.Buffer((4,), "float32")):
        B = T.alloc_buffer((5,))
        for i in T.parallel(4):
            for j in range(2):
                with T.block("B"):
                    vi = T.axis.spatial(5, i + j)
                    B[vi] = A[vi] * T.float32(2)
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = B[vi] + B[vi + 1]
  )",
                  {A, C}),
            "no error");
  EXPECT_EQ(content(C), (std::vector<float>{6, 10, 14, 18}));
  // what another iteration has written is not there
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), C: T.Buffer((4,), "float32")):
        B = T.alloc_buffer((5,))
        for i in T.parallel(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = B[0]
  )",
                  {A, C}),
            dedented(R"(
    error: B[0] is read before anything is written to it at i = 1, vi = 1
      f.py:10:21
      10 |             C[vi] = B[0]
         |                     ^^^^
  )"));
}

TEST(InterpretFaults, AxesOutsideOfTheirDomain) {
  const Tensor A = floats({8}, {0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(3):
            with T.block("A"):
                vi = T.axis.spatial(4, i * 2)
                A[vi] = T.float32(0)
  )",
                  {A}),
            dedented(R"(
    error: axis vi of block A is 4, outside of its domain [0, 4) at i = 2
      f.py:5:36
       5 |             vi = T.axis.spatial(4, i * 2)
         |                                    ^^^^^
  )"));
}

TEST(InterpretFaults, EndlessLoopsAreGivenUp) {
  InterpretOptions options;
  options.max_steps = 1000;
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((1,), "float32")):
        while A[0] < T.float32(1):
            A[0] = T.float32(0)
  )",
                  {floats({1}, {0})}, options),
            dedented(R"(
    error: the program ran for more than 1000 loop iterations
      f.py:3:5
       3 |     while A[0] < T.float32(1):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: max_steps allows more
  )"));
}

TEST(InterpretFaults, ConversionsThatDoNotFit) {
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((1,), "int32"), x: T.float32):
        A[0] = T.Cast("int32", x)
  )",
                  {ints({0}), 1e20}),
            dedented(R"(
    error: T.Cast("int32", x): 1.0000000200408773e+20 does not fit in int32
      f.py:3:28
       3 |     A[0] = T.Cast("int32", x)
         |                            ^
  )"));
}

TEST(InterpretFaults, ComplexNumbers) {
  const DataType complex = DataType::make(DataType::kComplex, 64, 1);
  const PrimFunc func = PrimFuncNode::make(std::vector<Var>{}, std::vector<Buffer>{},
                                           EvaluateNode::make(CastNode::make(complex, imm(1))));
  try {
    interpret(func, runtime::Args());
    FAIL();
  } catch (const Unsupported& error) {
    EXPECT_EQ(error.render(), "unsupported: the interpreter does not support values of dtype complex64");
  }
}

}  // namespace
}  // namespace tilewright::analysis
