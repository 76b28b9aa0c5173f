#include "tilewright/runtime/packed_elements.h"

namespace tilewright::runtime {

Tensor pack_elements(const Tensor& bytes, DataType dtype) {
  const Tensor from = bytes.compact();
  Tensor packed = Tensor::zeros(from.shape(), dtype);
  const auto* source = from.data_as<uint8_t>();
  auto* target = packed.data_as<uint8_t>();
  const unsigned mask = (1u << dtype.bits) - 1;
  const int64_t per_byte = 8 / dtype.bits;
  for (int64_t n = 0; n < from.num_elements(); ++n)
    target[n / per_byte] |= static_cast<uint8_t>((source[n] & mask) << (n % per_byte * dtype.bits));
  return packed;
}

Tensor unpack_elements(const Tensor& packed) {
  const DataType dtype = packed.dtype();
  const Tensor from = packed.compact();
  Tensor bytes = Tensor::empty(from.shape(), dtype.is_int() ? DataType::int_(8) : DataType::uint(8));
  const auto* source = from.data_as<uint8_t>();
  auto* target = bytes.data_as<uint8_t>();
  const unsigned mask = (1u << dtype.bits) - 1, sign = dtype.is_int() ? 1u << (dtype.bits - 1) : 0;
  const int64_t per_byte = 8 / dtype.bits;
  for (int64_t n = 0; n < from.num_elements(); ++n) {
    const unsigned low = source[n / per_byte] >> (n % per_byte * dtype.bits) & mask;
    target[n] = static_cast<uint8_t>((low ^ sign) - sign);
  }
  return bytes;
}

}  // namespace tilewright::runtime
