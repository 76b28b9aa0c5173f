// Loop programs run while compiling: what the fast way takes, what it leaves to the interpreter, and limits.
#include "tilewright/relax/fold/evaluate.h"

#include <gmock/gmock.h>

#include <cmath>

#include "script_testing.h"
#include "tilewright/relax/fold/evaluate_rows.h"

namespace tilewright::relax {
namespace {
using runtime::Tensor;
using ::testing::ElementsAre;

template <class T>
Tensor tensor(std::vector<int64_t> shape, const std::vector<T>& values, DataType dtype) {
  return Tensor::copy_of(values.data(), values.size() * sizeof(T), shape, dtype);
}
Tensor floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return tensor(std::move(shape), values, kFloat32);
}
template <class T>
std::vector<T> content(const Tensor& tensor) {
  return {tensor.data_as<T>(), tensor.data_as<T>() + tensor.num_elements()};
}

constexpr std::string_view kReversedTranspose = R"(
    @T.prim_func
    def f(A: T.Buffer((2, 3), "int16"), B: T.Buffer((3, 2), "int16")):
        for i, j in T.grid(3, 2):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[1 - vj, vi]
)";

TEST(EvaluateRows, MovesElementsOfAnyType) {
  const Tensor a = tensor<int16_t>({2, 3}, {1, 2, 3, 4, 5, 6}, DataType::int_(16));
  const Tensor b = Tensor::zeros(std::vector<int64_t>{3, 2}, DataType::int_(16));
  ASSERT_TRUE(evaluate_rows(script::parse_func(kReversedTranspose), std::vector{a, b}));
  EXPECT_THAT(content<int16_t>(b), ElementsAre(4, 1, 5, 2, 6, 3));
}

TEST(EvaluateRows, RoundsAfterEachOperation) {
  const auto func = script::parse_func(R"(
      @T.prim_func
      def f(A: T.Buffer((2,), "float32"), q: T.Buffer((1,), "int8"), B: T.Buffer((2,), "float32")):
          for i in range(2):
              with T.block("B"):
                  vi = T.axis.spatial(2, i)
                  B[vi] = (A[vi] + T.float32(1)) - T.float32(1) + T.sqrt(T.Cast("float32", q[0]))
  )");
  // 1e-8 is lost beside 1 in float32, and would not be in float64
  const Tensor b = floats({2}, {0, 0});
  ASSERT_TRUE(evaluate_rows(
      func, std::vector{floats({2}, {1e-8f, 2}), tensor<int8_t>({1}, {9}, DataType::int_(8)), b}));
  EXPECT_THAT(content<float>(b), ElementsAre(3, 5));
}

// Digits that float32 does not hold, of a float64 and of whole numbers.
TEST(EvaluateRows, KeepsWhatFloat64Holds) {
  const auto func = script::parse_func(R"(
      @T.prim_func
      def f(A: T.Buffer((1,), "float64"), q: T.Buffer((1,), "int32"), B: T.Buffer((1,), "float32")):
          for i in range(1):
              with T.block("B"):
                  vi = T.axis.spatial(1, i)
                  B[vi] = T.Cast("float32", (A[vi] - T.float64(1)) + (T.Cast("float64", q[vi]) - T.float64(16777216)))
  )");
  const Tensor b = floats({1}, {0});
  ASSERT_TRUE(evaluate_rows(func, std::vector{tensor<double>({1}, {1 + 0x1p-30}, DataType::float_(64)),
                                              tensor<int32_t>({1}, {16777217}, kInt32), b}));
  EXPECT_THAT(content<float>(b), ElementsAre(static_cast<float>(1 + 0x1p-30)));
  const Tensor small = floats({1}, {0});
  ASSERT_TRUE(evaluate_rows(func, std::vector{tensor<double>({1}, {1 + 0x1p-30}, DataType::float_(64)),
                                              tensor<int32_t>({1}, {16777216}, kInt32), small}));
  EXPECT_THAT(content<float>(small), ElementsAre(0x1p-30f));
}

// Rows in parts, the last one shorter, on several threads, in the order in which the source lies in memory.
TEST(EvaluateRows, TakesLargeTensorsInParts) {
  constexpr int64_t kOutputs = 1031, kInputs = 127, kTaps = 3;
  const auto program = [](std::string_view value) {
    return script::parse_func(fmt::format(R"(
        @T.prim_func
        def f(W: T.Buffer((1031, 127, 3), "float32"), s: T.Buffer((1031,), "float32"),
              U: T.Buffer((3, 127, 1031), "float32")):
            for k, i, o in T.grid(3, 127, 1031):
                with T.block("U"):
                    vk, vi, vo = T.axis.remap("SSS", [k, i, o])
                    U[vk, vi, vo] = {}
    )",
                                          value));
  };
  std::vector<float> weights(kOutputs * kInputs * kTaps), scales(kOutputs);
  for (size_t n = 0; n < weights.size(); ++n) weights[n] = static_cast<float>(n % 9973);
  for (size_t n = 0; n < scales.size(); ++n) scales[n] = static_cast<float>(n % 7) / 4;
  const Tensor w = floats({kOutputs, kInputs, kTaps}, weights), s = floats({kOutputs}, scales);
  for (const bool is_scaled : {false, true}) {
    const Tensor u = Tensor::zeros(std::vector<int64_t>{kTaps, kInputs, kOutputs}, kFloat32);
    const auto func = program(is_scaled ? "W[vo, vi, vk] * s[vo]" : "W[vo, vi, vk]");
    ASSERT_TRUE(evaluate_rows(func, std::vector{w, s, u}));
    int64_t num_wrong = 0;
    for (int64_t k = 0; k < kTaps; ++k)
      for (int64_t i = 0; i < kInputs; ++i)
        for (int64_t o = 0; o < kOutputs; ++o)
          num_wrong += u.data_as<float>()[(k * kInputs + i) * kOutputs + o] !=
                       weights[static_cast<size_t>((o * kInputs + i) * kTaps + k)] *
                           (is_scaled ? scales[static_cast<size_t>(o)] : 1);
    EXPECT_EQ(num_wrong, 0) << is_scaled;
  }
}

// Weights of 1 x 1 convolutions: loops of one iteration leave rows as they are.
TEST(EvaluateRows, TakesRowsBesideLoopsOfOneIteration) {
  const auto func = script::parse_func(R"(
      @T.prim_func
      def f(W: T.Buffer((2, 3, 1, 1), "float32"), s: T.Buffer((2, 1, 1, 1), "float32"),
            U: T.Buffer((2, 3, 1, 1), "float32")):
          for o, i, h, w in T.grid(2, 3, 1, 1):
              with T.block("U"):
                  vo, vi, vh, vw = T.axis.remap("SSSS", [o, i, h, w])
                  U[vo, vi, vh, vw] = W[vo, vi, vh, vw] * s[vo, 0, vh, vw]
  )");
  const Tensor u = floats({2, 3, 1, 1}, std::vector<float>(6, NAN));
  ASSERT_TRUE(evaluate_rows(
      func, std::vector{floats({2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}), floats({2, 1, 1, 1}, {10, 100}), u}));
  EXPECT_THAT(content<float>(u), ElementsAre(10, 20, 30, 400, 500, 600));
}

// Elements that nothing is stored to.
TEST(EvaluateRows, BeginsWithZeros) {
  const auto f = [](int extent) {
    const Tensor b = floats({3}, {NAN, NAN, NAN});
    EXPECT_TRUE(evaluate_rows(script::parse_func(fmt::format(R"(
        @T.prim_func
        def f(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
            for i in range({0}):
                with T.block("B"):
                    vi = T.axis.spatial({0}, i)
                    B[vi] = A[vi]
    )",
                                                             extent)),
                              std::vector{floats({3}, {1, 2, 3}), b}));
    return content<float>(b);
  };
  EXPECT_THAT(f(2), ElementsAre(1, 2, 0));
  EXPECT_THAT(f(0), ElementsAre(0, 0, 0));
}

// Three programs: one reads its own results, one stores to an input, one would run for years.
TEST(EvaluateRows, LeavesProgramsThatReadOrStoreOtherwise) {
  const Tensor a = floats({5}, {1, 2, 3, 4, 5}), b = floats({5}, {7, 7, 7, 7, 7});
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"5, 1", "B[vi] = B[vi] + A[vi]"},
      {"5, 1", "A[vi] = A[vi] * T.float32(2)"},
      {"4294967296, 4294967296", "B[0] = A[0] * T.float32(2)"},
  };
  for (const auto& [extents, statement] : cases) {
    const auto func = script::parse_func(fmt::format(R"(
        @T.prim_func(check_well_formed=False)
        def f(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
            for i, j in T.grid({0}):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    {1}
    )",
                                                     extents, statement));
    EXPECT_FALSE(evaluate_rows(func, std::vector{a, b})) << statement;
  }
  EXPECT_THAT(content<float>(a), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(content<float>(b), ElementsAre(7, 7, 7, 7, 7));
}

// An element that is stored several times is stored in order.
TEST(EvaluateRows, KeepsTheOrderOfStoresToOneElement) {
  const auto func = script::parse_func(R"(
      @T.prim_func(check_well_formed=False)
      def f(A: T.Buffer((70000,), "float32"), B: T.Buffer((1,), "float32")):
          for i in range(70000):
              with T.block("B"):
                  vi = T.axis.opaque(70000, i)
                  B[0] = A[vi]
  )");
  std::vector<float> values(70000);
  for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n);
  const Tensor b = floats({1}, {-1});
  ASSERT_TRUE(evaluate_rows(func, std::vector{floats({70000}, values), b}));
  EXPECT_THAT(content<float>(b), ElementsAre(69999));
}

// Rows that are longer than a part, and overlap.
TEST(EvaluateRows, KeepsTheOrderOfRowsThatOverlap) {
  const auto func = script::parse_func(R"(
      @T.prim_func(check_well_formed=False)
      def f(A: T.Buffer((3, 1024), "float32"), B: T.Buffer((1026,), "float32")):
          for i, j in T.grid(3, 1024):
              with T.block("B"):
                  vi, vj = T.axis.remap("SS", [i, j])
                  B[vi + vj] = A[vi, vj]
  )");
  std::vector<float> values(3 * 1024), expected(1026);
  for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 1024; ++j) expected[i + j] = values[i * 1024 + j];
  const Tensor b = floats({1026}, std::vector<float>(1026, -1));
  ASSERT_TRUE(evaluate_rows(func, std::vector{floats({3, 1024}, values), b}));
  EXPECT_EQ(content<float>(b), expected);
}

TEST(EvaluateRows, LeavesOtherPrograms) {
  const Tensor a = floats({3}, {1, 2, 3}), b = floats({3}, {7, 7, 7});
  for (const std::string_view value : {"A[vi + 1]", "A[vi // 2]", "T.exp(A[vi])",
                                       "T.Select(vi < 2, A[vi], T.float32(0))", "T.Cast(\"float32\", vi)"}) {
    const auto func = script::parse_func(fmt::format(R"(
        @T.prim_func(check_well_formed=False)
        def f(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
            for i in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(3, i)
                    B[vi] = {}
    )",
                                                     value));
    EXPECT_FALSE(evaluate_rows(func, std::vector{a, b})) << value;
  }
  EXPECT_THAT(content<float>(b), ElementsAre(7, 7, 7));
}

constexpr std::string_view kSum = R"(
    @T.prim_func
    def f(A: T.Buffer((5,), "float32"), B: T.Buffer((1,), "float32")):
        for i, k in T.grid(1, 5):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vk]
)";

// Of two outputs one is not stored to: what was in memory before is no constant.
TEST(Evaluate, GivesNothingIfAnOutputIsNotStored) {
  const auto func = script::parse_func(R"(
      @T.prim_func
      def f(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
          for i in range(3):
              with T.block("B"):
                  vi = T.axis.spatial(3, i)
                  B[vi] = A[vi]
  )");
  const TensorType type = tensor_type(extents({3}), kFloat32);
  int64_t steps_left = 100;
  EXPECT_FALSE(evaluate(func, {floats({3}, {1, 2, 3})}, {type, type}, &steps_left));
}

TEST(Evaluate, InterpretsWithinTheLimit) {
  const auto func = script::parse_func(kSum);
  const std::vector<Tensor> inputs{floats({5}, {1, 2, 3, 4, 5})};
  const std::vector<TensorType> outputs{tensor_type(extents({1}), kFloat32)};
  int64_t steps = 10;
  const auto results = evaluate(func, inputs, outputs, &steps);
  ASSERT_TRUE(results);
  EXPECT_THAT(content<float>(results->at(0)), ElementsAre(15));
  EXPECT_LT(steps, 5);
  EXPECT_FALSE(evaluate(func, inputs, outputs, &steps));
}

TEST(Evaluate, GivesNothingForErrorsAndUnknownShapes) {
  const auto func = script::parse_func(R"(
      @T.prim_func
      def f(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
          for i in range(1):
              with T.block("B"):
                  vi = T.axis.spatial(1, i)
                  B[vi] = 1 // A[vi]
  )");
  const std::vector<Tensor> inputs{tensor<int32_t>({1}, {0}, kInt32)};
  int64_t steps = 1000;
  EXPECT_FALSE(evaluate(func, inputs, {tensor_type(extents({1}), kInt32)}, &steps));
  EXPECT_FALSE(evaluate(func, inputs, {tensor_type({tir::make_var("n", kInt64)}, kInt32)}, &steps));
}

}  // namespace
}  // namespace tilewright::relax
