// Types of inputs as text, and random arrays that fit them.
#include "tilewright/cli/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {
using runtime::Value;
using runtime::vm::BytecodeFunction;
using testing::ElementsAre;
using testing::Pair;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.render();
  }
  return "no error";
}

BytecodeFunction function_of(const std::string& type) {
  BytecodeFunction function;
  function.parameters = {{"x", type}};
  return function;
}

std::string random_type(const std::string& type, const DimSizes& sizes = {}) {
  return random_inputs(function_of(type), 0, sizes)[0].type_str();
}

TEST(Signature, TypesAreTakenApart) {
  const TensorType type = parse_tensor_type("float32[n, n * 2, min(n, m), 7]", "x");
  EXPECT_EQ(type.dtype, kFloat32);
  EXPECT_THAT(type.dims, ElementsAre("n", "n * 2", "min(n, m)", "7"));
  EXPECT_TRUE(parse_tensor_type("int64[]", "x").has_shape);
  EXPECT_FALSE(parse_tensor_type("int64", "x").has_shape);
  EXPECT_FALSE(parse_tensor_type("float32[ndim=3]", "x").has_shape);
  EXPECT_TRUE(parse_tensor_type("tensor[3]", "x").dtype.is_void());
}

TEST(Signature, OtherTypesAreRefused) {
  for (const char* type : {"shape", "object", "tuple(float32[2], int64)"}) {
    EXPECT_EQ(error_of([&] { parse_tensor_type(type, "x"); }),
              fmt::format("unsupported: input \"x\" is {}, not a tensor\nhelp: use Python", type));
  }
}

TEST(Signature, RandomArraysHaveTheTypeAndTheGivenSizes) {
  EXPECT_EQ(random_type("float32[n, 7]"), "float32[1, 7]");
  EXPECT_EQ(random_type("bool[n, m]", {{"n", 5}}), "bool[5, 1]");
  for (const char* dtype : {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                            "float16", "bfloat16", "float64"})
    EXPECT_EQ(random_type(fmt::format("{}[]", dtype)), fmt::format("{}[]", dtype));
}

TEST(Signature, RandomFloatsAreInTheUnitInterval) {
  const runtime::Tensor x = random_inputs(function_of("float32[1000]"), 7, {})[0].as_tensor();
  const std::span<const float> values(x.data_as<float>(), 1000);
  EXPECT_THAT(values, testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(1))));
  EXPECT_NE(values[0], values[1]);
}

TEST(Signature, IntegersAreZeroAndOneAndIndicesAreBelowTheirBound) {
  BytecodeFunction function;
  function.parameters = {{"x", "int64[1000]"}, {"i", "int64[1000]"}, {"j", "int8[1000]"}, {"k", "uint16[9]"}};
  const std::vector<runtime::Value> values =
      random_inputs(function, 0, {}, parse_index_bounds("1:50 2:1000 3:1"));
  const auto greatest = [&]<class T>(size_t n, T) {
    const runtime::Tensor tensor = values[n].as_tensor();
    const std::span<const T> numbers(tensor.data_as<T>(), static_cast<size_t>(tensor.num_elements()));
    EXPECT_THAT(numbers, testing::Each(testing::Ge(T(0))));
    return static_cast<int64_t>(*std::max_element(numbers.begin(), numbers.end()));
  };
  EXPECT_EQ(greatest(0, int64_t{}), 1);
  EXPECT_EQ(greatest(1, int64_t{}), 49);
  EXPECT_EQ(greatest(2, int8_t{}), 127);
  EXPECT_EQ(greatest(3, uint16_t{}), 0);
}

TEST(Signature, BoundsOfIndices) {
  EXPECT_THAT(parse_index_bounds("0:10 3:1"), ElementsAre(Pair(0, 10), Pair(3, 1)));
  EXPECT_TRUE(parse_index_bounds("").empty());
  EXPECT_TRUE(parse_index_bounds("x 1 2: :3 4:0 5:y").empty());  // of a damaged file
}

TEST(Signature, WhatHasNoRandomNumbers) {
  EXPECT_EQ(
      error_of([] { random_type("float32"); }),
      "unsupported: input \"x\" is float32, of unknown shape or dtype\nhelp: give the inputs with --input");
  EXPECT_EQ(error_of([] { random_type("float8_e5m2[2]"); }),
            "unsupported: input \"x\": there are no random numbers of dtype float8_e5m2\n"
            "help: give the inputs with --input");
}

}  // namespace
}  // namespace tilewright::cli
