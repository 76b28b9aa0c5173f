#include "tilewright/codegen/source/dtype_texts.h"

#include "tilewright/support/dtype.h"

namespace tilewright::codegen {

std::vector<DtypeText> dtype_texts() {
  static constexpr DataType kAll[] = {
      DataType::bool_(),
      DataType::int_(4),
      DataType::int_(8),
      DataType::int_(16),
      DataType::int_(32),
      DataType::int_(64),
      DataType::uint(4),
      DataType::uint(8),
      DataType::uint(16),
      DataType::uint(32),
      DataType::uint(64),
      DataType::float_(16),
      DataType::float_(32),
      DataType::float_(64),
      DataType::bfloat16(),
      DataType::make(DataType::kFloat8E4M3FN, 8, 1),
      DataType::make(DataType::kFloat8E4M3FNUZ, 8, 1),
      DataType::make(DataType::kFloat8E5M2, 8, 1),
      DataType::make(DataType::kFloat8E5M2FNUZ, 8, 1),
      DataType::make(DataType::kFloat8E8M0FNU, 8, 1),
      DataType::make(DataType::kFloat4E2M1FN, 4, 1),
      DataType::make(DataType::kComplex, 64, 1),
      DataType::make(DataType::kComplex, 128, 1),
  };
  std::vector<DtypeText> texts;
  for (const DataType dtype : kAll)
    texts.push_back({dtype.code | static_cast<uint32_t>(dtype.bits) << 8 | 1u << 16, dtype.str()});
  return texts;
}

}  // namespace tilewright::codegen
