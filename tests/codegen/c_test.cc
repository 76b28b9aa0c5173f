// C99 source: compiled without a warning, it computes what LLVM's code computes; the text of small kernels;
// refusals.
#include "tilewright/codegen/c/c.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "c_testing.h"
#include "programs.h"
#include "script_testing.h"

namespace tilewright::codegen {
namespace {
using namespace tir;
using runtime::Tensor;
using runtime::Value;

template <class T>
void fill(const Tensor& tensor, std::mt19937& random, const std::function<double(int)>& value) {
  for (int64_t n = 0; n < tensor.num_elements(); ++n)
    tensor.data_as<T>()[n] = static_cast<T>(value(static_cast<int>(random() % 1000)));
}

// Whole numbers from -4 to 4 and the extremes; reals from -3 to 3, and NaN once.
Tensor random_tensor(const Buffer& buffer, std::mt19937& random) {
  std::vector<int64_t> shape;
  for (const PrimExpr& extent : buffer->shape) shape.push_back(extent.as<IntImmNode>()->value);
  Tensor tensor = Tensor::empty(shape, buffer->dtype);
  const auto whole = [](int n) { return n % 9 - 4; };
  const auto real = [](int n) { return n % 97 == 96 ? NAN : n * 0.006 - 3; };
  const DataType dtype = buffer->dtype;
  if (dtype == kFloat32) fill<float>(tensor, random, real);
  if (dtype == DataType::float_(64)) fill<double>(tensor, random, real);
  if (dtype == kInt32) fill<int32_t>(tensor, random, whole);
  if (dtype == kInt64) fill<int64_t>(tensor, random, whole);
  if (dtype == DataType::int_(8)) fill<int8_t>(tensor, random, [&](int n) { return n % 256 - 128; });
  if (dtype == DataType::uint(8)) fill<uint8_t>(tensor, random, [&](int n) { return n % 256; });
  if (dtype == DataType::uint(16)) fill<uint16_t>(tensor, random, [](int n) { return n * 65; });
  if (dtype.is_bool()) fill<bool>(tensor, random, [](int n) { return n % 2; });
  return tensor;
}

std::vector<Value> random_args(const PrimFunc& func) {
  std::mt19937 random(7);
  std::vector<Value> args;
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (func->buffers[n])
      args.emplace_back(random_tensor(func->buffers[n], random));
    else
      args.emplace_back(int64_t{3});
  }
  return args;
}

void expect_same(const Tensor& a, const Tensor& b, const std::string& name) {
  for (int64_t n = 0; n < a.num_elements(); ++n) {
    double x = 0, y = 0;
    if (a.dtype() == kFloat32) {
      x = a.data_as<float>()[n], y = b.data_as<float>()[n];
    } else if (a.dtype() == DataType::float_(64)) {
      x = a.data_as<double>()[n], y = b.data_as<double>()[n];
    } else {
      const auto bytes = static_cast<size_t>(a.dtype().num_bytes());
      const auto at = static_cast<size_t>(n) * bytes;
      EXPECT_EQ(std::memcmp(a.data_as<char>() + at, b.data_as<char>() + at, bytes), 0)
          << name << "[" << n << "]";
      continue;
    }
    if (std::isnan(x) || std::isnan(y))
      EXPECT_EQ(std::isnan(x), std::isnan(y)) << name << "[" << n << "] is " << x << ", expected " << y;
    else
      EXPECT_NEAR(x, y, 2e-6 * std::max(1.0, std::abs(y))) << name << "[" << n << "]";
  }
}

// The functions, without what every file begins with.
std::string functions_of(std::string_view program) {
  const std::string source = source_of(script::parse_func(program));
  return source.substr(source.find("// f: "));
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.text() + (error.help_text().empty() ? "" : "\nhelp: " + error.help_text());
  }
  return "no error";
}

std::string refusal_of(std::string_view program) {
  return error_of([&] { source_of(script::parse_func(program)); });
}

TEST(C, TextOfAParallelReduction) {
  const std::string text = functions_of(R"(
@T.prim_func
def f(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in T.parallel(5):
        B[i] = T.float32(0)
        for j in T.vectorized(7):
            B[i] = B[i] + T.max(A[i, j], T.float32(0)) * T.float32(0.1)
)");
  EXPECT_EQ(text.substr(0, text.find("// f: checks")), script::dedent(R"(
      // f: iterations begin .. end - 1 of a parallel loop
      static int32_t f_body_0(int64_t begin, int64_t end, float* restrict B, const float* restrict A) {
        for (int32_t i = (int32_t)begin; i < (int32_t)begin + (int32_t)(end - begin); ++i) {
          B[i] = 0.0f;
          for (int32_t j = 0; j < 7; ++j) {  // vectorized
            B[i] += tw_max_float32(A[i * 7 + j], 0.0f) * 0.1f;
          }
        }
        return 0;
      }

      struct f_body_0_values {
        float* B;
        const float* A;
      };
      static int32_t f_body_0_range(void* closure, int64_t begin, int64_t end) {
        const struct f_body_0_values* values = closure;
        return f_body_0(begin, end, values->B, values->A);
      }

      // f: what it computes
      static int32_t f_compute(float* restrict A, float* restrict B) {
        struct f_body_0_values values = {B, A};
        if (tw_parallel_for(f_body_0_range, &values, 5, 1) != 0) return -1;
        return 0;
      }
      )") + "\n");
}

constexpr std::string_view kTile = R"(
@T.prim_func
def f(A: T.Buffer((5, 21), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in T.unroll(5):
        for j in T.unroll(3):
            for v in T.vectorized(7):
                A[i, j * 7 + v] = T.float32(0.5)
)";

TEST(C, LoopsOfATileSayThatTheyAreWrittenOut) {
  const std::string text = functions_of(kTile);
  EXPECT_EQ(text.substr(0, text.find("// f: checks")), script::dedent(R"(
      // f: what it computes
      static int32_t f_compute(float* restrict A) {
        TW_WRITTEN_OUT
        for (int32_t i = 0; i < 5; ++i) {  // unrolled
          TW_WRITTEN_OUT
          for (int32_t j = 0; j < 3; ++j) {  // unrolled
            TW_LANES
            for (int32_t v = 0; v < 7; ++v) {  // vectorized
              A[i * 21 + j * 7 + v] = 0.5f;
            }
          }
        }
        return 0;
      }
      )") + "\n");
  EXPECT_NE(source_of(script::parse_func(kTile)).find("#define TW_LANES _Pragma(\"GCC unroll 1\")"),
            std::string::npos);
}

TEST(C, LoopsOfLargeTilesAndOfConditionsSayNothing) {
  EXPECT_EQ(functions_of(R"(
@T.prim_func
def f(A: T.Buffer((16, 35), "float32"), B: T.Buffer((5, 7), "float32"), n: T.int32):
    for i in T.unroll(16):
        for j in T.unroll(5):
            for v in T.vectorized(7):
                A[i, j * 7 + v] = T.float32(0.5)
    for i in T.unroll(5):
        if i < n:
            for v in T.vectorized(7):
                B[i, v] = T.float32(0.5)
)")
                .find("TW_"),
            std::string::npos);
}

TEST(C, TextOfAKernelWithItsChecks) {
  EXPECT_EQ(functions_of(R"(
@T.prim_func
def f(x: T.float32, n: T.int32):
    T.evaluate(T.call_extern("void", "g", n // 3, x * T.float32(0.5)))
)"),
            script::dedent(R"C(
      // f: what it computes
      static int32_t f_compute(int32_t n, float x) {
        g(tw_floordiv_int32(n, 3), x * 0.5f);
        return 0;
      }

      // f: checks its arguments and computes
      int32_t __tvm_ffi_f(void* self, const TilewrightAny* args, int32_t num_args,
          TilewrightAny* result) {
        (void)self;
        (void)result;
        if (num_args != 2) {
          tw_raise("TypeError", "f: %d arguments given, expected 2 (x, n)", num_args);
          return -1;
        }
        const int32_t x_code = args[0].type_index;
        if (!(x_code == 1 || x_code == 2 || x_code == 3)) {
          tw_raise("TypeError", "f: argument x is not a number");
          return -1;
        }
        const float x = (float)(x_code == 3 ? args[0].value.v_float64 : (double)args[0].value.v_int64);
        const int32_t n_code = args[1].type_index;
        if (!(n_code == 1 || n_code == 2)) {
          tw_raise("TypeError", "f: argument n is not an integer");
          return -1;
        }
        if (args[1].value.v_int64 < -2147483648LL || args[1].value.v_int64 > 2147483647) {
          tw_raise("ValueError", "f: argument n is %lld, but int32 is from -2147483648 to 2147483647",
              (long long)args[1].value.v_int64);
          return -1;
        }
        const int32_t n = (int32_t)args[1].value.v_int64;
        if (f_compute(n, x) != 0) return -1;
        return 0;
      }

      const char __tilewright_params_f[] = "rx: float32\nrn: int32\n";
      )C") + "\n");
}

TEST(C, ArgumentsAreChecked) {
  const Compiled compiled(source_of(script::parse_func(R"(
@T.prim_func
def f(a: T.handle, B: T.Buffer((3,), "int32"), x: T.float32):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        A[i] = x
)")));
  ASSERT_EQ(compiled.messages(), "");
  const runtime::Function f = compiled.module().get_function("f");
  const Tensor b = Tensor::zeros(std::vector<int64_t>{3}, kInt32),
               a = Tensor::zeros(std::vector<int64_t>{5}, kFloat32);
  f(a, b, 0.5);
  EXPECT_EQ(a.data_as<float>()[4], 0.5f);
  const std::string help = "\nhelp: the function is f(A: float32[n] (written), B: int32[3], x: float32)";
  EXPECT_EQ(error_of([&] { f(a); }), "f: 1 arguments given, expected 3 (A, B, x)" + help);
  EXPECT_EQ(error_of([&] { f(a, a, 0.5); }), "f: argument B has dtype float32, expected int32" + help);
  EXPECT_EQ(error_of([&] { f(a, Tensor::zeros(std::vector<int64_t>{4}, kInt32), 0.5); }),
            "f: argument B has shape [4], expected [3]" + help);
  EXPECT_EQ(error_of([&] { f(a, b, a); }), "f: argument x is not a number" + help);
}

TEST(C, FailuresAreReportedAndMemoryIsFreed) {
  const Compiled compiled(source_of(script::parse_func(R"(
@T.prim_func
def f(A: T.Buffer((20011,), "float32")):
    S = T.alloc_buffer((20011,), "float32")
    for i in range(20011):
        with T.block("S"):
            vi = T.axis.spatial(20011, i)
            S[vi] = A[vi]
            assert S[vi] >= T.float32(0), "100% of A must be positive??"
)")));
  ASSERT_EQ(compiled.messages(), "");
  const Tensor a = Tensor::zeros(std::vector<int64_t>{20011}, kFloat32);
  compiled.module().get_function("f")(a);
  a.data_as<float>()[7] = -1;
  EXPECT_EQ(error_of([&] { compiled.module().get_function("f")(a); }), "100% of A must be positive??");
}

TEST(C, FunctionsOfTheProcessAreCalled) {
  const Compiled compiled(source_of(script::parse_func(R"(
@T.prim_func
def f(A: T.Buffer((2,), "float64"), B: T.Buffer((1,), "int32")):
    A[0] = T.call_pure_extern("float64", "fabs", A[0])
    A[1] = T.call_extern("float64", "atof", "2.5")
    B[0] = T.call_packed("tilewright.no.such.function", 1, T.float32(2), "text")
)")));
  ASSERT_EQ(compiled.messages(), "");
  const Tensor a = Tensor::zeros(std::vector<int64_t>{2}, DataType::float_(64)),
               b = Tensor::zeros(std::vector<int64_t>{1}, kInt32);
  a.data_as<double>()[0] = -3;
  const std::string error = error_of([&] { compiled.module().get_function("f")(a, b); });
  // the twelve names that follow are those of the runtime's functions
  EXPECT_TRUE(error.starts_with(
      "there is no registered function \"tilewright.no.such.function\"\nhelp: the names are tilewright."))
      << error;
  EXPECT_TRUE(error.ends_with(", ...")) << error;
  EXPECT_EQ(a.data_as<double>()[0], 3);
  EXPECT_EQ(a.data_as<double>()[1], 2.5);
}

TEST(C, RefusesWhatC99DoesNotHave) {
  EXPECT_EQ(refusal_of(R"(
@T.prim_func
def f(A: T.Buffer((8,), "float32x4")):
    A[0] = T.Broadcast(T.float32(1), 4)
)"),
            "C99 has no values of dtype float32x4\n"
            "help: integers of 8 to 64 bits, bool and floats can be used");
  EXPECT_EQ(refusal_of(R"(
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    A[T.Ramp(0, 1, 4)] = T.call_pure_extern("float32x4", "g", A[0])
)"),
            "f: the lanes of this float32x4 cannot be computed one by one, and the target has no vectors\n"
            "help: write a loop with T.vectorized instead; it stays a loop");
  EXPECT_EQ(refusal_of(R"(
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    A[0] = T.call_llvm_pure_intrin("float32", "llvm.fabs", A[0])
)"),
            "operator call_llvm_pure_intrin is not supported in C");
  EXPECT_EQ(refusal_of(R"(
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    for i in T.thread_binding(8, "threadIdx.x"):
        A[i] = T.float32(1)
)"),
            "loop i is bound to threadIdx.x, which a CPU does not have\n"
            "help: build for a GPU target, or use parallel instead of bind");
  EXPECT_EQ(refusal_of(R"(
@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    A[0] = T.exp(A[0])
)"),
            "exp of dtype int32 is not supported in C\nhelp: cast to float32 first");
  EXPECT_EQ(refusal_of(R"(
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    A[0] = T.call_extern("float32", "g", A[0])
    A[1] = T.call_extern("float32", "g", 1)
)"),
            "call_extern: g is called with other types than before");
  const PrimFunc func = script::parse_func(kPrograms[0].text);
  const ir::IRModule lowered[] = {lower::lower_for_c("a.b", func)};
  EXPECT_EQ(error_of([&] { emit_c(lowered); }),
            "function \"a.b\" cannot be written in C: the name is not an identifier\n"
            "help: give it a global_symbol of letters, digits and _");
}

// f(A: float32[8], i: int32) with one statement
std::string refusal_of_statement(const std::string& statement) {
  return refusal_of("@T.prim_func\ndef f(A: T.Buffer((8,), \"float32\"), i: T.int32):\n    " + statement +
                    "\n");
}

TEST(C, RefusesCallsThatMeanNothing) {
  EXPECT_EQ(refusal_of_statement("T.evaluate(T.call_extern(\"void\", \"a b\"))"),
            "call_extern: \"a b\" is not the name of a C function");
  EXPECT_EQ(refusal_of_statement("T.evaluate(T.call_extern(\"void\", i))"),
            "call_extern: the function must be a string literal");
  EXPECT_EQ(refusal_of_statement("A[0] = T.Cast(\"float32\", T.large_uint_imm(\"uint64\", i, 1))"),
            "large_uint_imm takes two literals");
  EXPECT_EQ(refusal_of_statement("A[0] = T.Cast(\"float32\", T.reinterpret(\"float64\", i))"),
            "reinterpret: int32 has 32 bits, float64 has 64");
  EXPECT_EQ(refusal_of_statement("A[0] = T.Cast(\"float32\", T.clz(A[0]))"),
            "clz takes integers, but is given float32");
  EXPECT_EQ(refusal_of_statement("A[0] = T.Cast(\"float32\", A.data)"),
            "a value of dtype handle cannot be cast to float32");
  EXPECT_EQ(refusal_of_statement("T.evaluate(T.break_loop())"), "break is outside of any loop");
  EXPECT_EQ(refusal_of_statement("T.evaluate(T.call_packed(\"g\", T.Ramp(i, 1, 4)))"),
            "C99 has no vectors such as int32x4");
}

class CPrograms : public testing::TestWithParam<Program> {};

TEST_P(CPrograms, ComputeWhatLlvmComputes) {
  const PrimFunc func = script::parse_func(GetParam().text);
  const std::string source = source_of(func);
  const Compiled compiled(source);
  ASSERT_EQ(compiled.messages(), "") << source;
  const std::vector<Value> args = random_args(func), expected = random_args(func);
  compiled.module().get_function("f").call(args);
  through_llvm(func).call(expected);
  for (size_t n = 0; n < args.size(); ++n) {
    if (func->buffers[n])
      expect_same(args[n].as_tensor("argument"), expected[n].as_tensor("argument"), func->buffers[n]->name);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CPrograms, testing::ValuesIn(kPrograms),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tilewright::codegen
