// Shared by the tests of matrix tiles: programs compiled for tile registers, numbers, products.
#pragma once
#include <gtest/gtest.h>

#include <bit>

#include "amx_emulator.h"
#include "tilewright/codegen/llvm/native.h"
#include "tilewright/lower/lower.h"
#include "tilewright/script/parse.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"

namespace tilewright::driver {
using runtime::Tensor;
using testing::AmxCounts;

inline constexpr const char* kAmx = "llvm -mattr=+amx-tile,+amx-int8,+amx-bf16";

inline tir::PrimFunc parsed(const std::string& text) {
  return ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("test", text))));
}

inline runtime::Function compiled(const tir::PrimFunc& func, const char* target_text = kAmx) {
  const codegen::NativeTarget target = codegen::native_target(target::parse_target(target_text));
  const std::string names[] = {"main"};
  const std::string objects[] = {codegen::emit_object(lower::lower_for_cpu("main", func), target),
                                 codegen::emit_library_object(names, {}, target)};
  return codegen::load_objects("test", objects).get_function("main");
}

// Numbers from -8 to 8 (bytes: -100 to 100, or 0 to 200), by a linear congruence.
inline double number(DataType dtype, uint32_t* state) {
  *state = *state * 1664525 + 1013904223;
  const int value = static_cast<int>(*state >> 16) % 201;
  return dtype.is_bfloat16() ? (value - 100) / 16.0 : dtype.is_uint() ? value : value - 100;
}

inline double element(const Tensor& tensor, int64_t n) {
  const DataType dtype = tensor.dtype();
  if (dtype.is_bfloat16()) return std::bit_cast<float>(uint32_t{tensor.data_as<uint16_t>()[n]} << 16);
  if (dtype.is_uint()) return tensor.data_as<uint8_t>()[n];
  if (dtype.bits == 8) return tensor.data_as<int8_t>()[n];
  return dtype.is_float() ? tensor.data_as<float>()[n] : tensor.data_as<int32_t>()[n];
}

inline Tensor random(runtime::Shape shape, DataType dtype, uint32_t seed) {
  const Tensor tensor = Tensor::empty(shape, dtype);
  for (int64_t n = 0; n < tensor.num_elements(); ++n) {
    const double value = number(dtype, &seed);
    if (dtype.is_bfloat16())
      tensor.data_as<uint16_t>()[n] =
          static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
    else
      tensor.data_as<int8_t>()[n] = static_cast<int8_t>(static_cast<int>(value));
  }
  return tensor;
}

// c[i, j] = sum of a[i, k] * b[k, j]; exact for such numbers, up to 2**24.
inline void expect_product(const Tensor& a, const Tensor& b, const Tensor& c) {
  const int64_t rows = a.shape()[0], terms = a.shape()[1], columns = b.shape()[1];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < terms; ++k) sum += element(a, i * terms + k) * element(b, k * columns + j);
      ASSERT_EQ(element(c, i * columns + j), sum) << "at " << i << ", " << j;
    }
  }
}

class MatrixTiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::emulate_amx()) GTEST_SKIP() << "AMX cannot be emulated here";
    testing::reset_amx_counts();
  }
};

}  // namespace tilewright::driver
