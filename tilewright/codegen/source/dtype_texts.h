// What generated code calls the dtype of a tensor that it refuses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::codegen {

struct DtypeText {
  uint32_t packed;  // the 32 bits of a DLDataType, low byte first
  std::string text;
};

/// Every dtype that elements of a tensor from elsewhere may have.
std::vector<DtypeText> dtype_texts();

}  // namespace tilewright::codegen
