// The names of dtypes that generated code uses in errors about tensors of a wrong dtype.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::codegen {

struct DtypeText {
  uint32_t packed;  // the 32 bits of a DLDataType, low byte first
  std::string text;
};

/// All dtypes that tensors from other libraries may have.
std::vector<DtypeText> dtype_texts();

}  // namespace tilewright::codegen
