// Element types.  The three fields have the layout and the codes of DLPack's DLDataType.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

struct DataType {
  enum Code : uint8_t {
    kInt = 0,
    kUInt = 1,
    kFloat = 2,
    kHandle = 3,
    kBFloat = 4,
    kComplex = 5,
    kBool = 6,
    kFloat8E4M3FN = 10,
    kFloat8E4M3FNUZ = 11,
    kFloat8E5M2 = 12,
    kFloat8E5M2FNUZ = 13,
    kFloat8E8M0FNU = 14,  // powers of two alone
    kFloat4E2M1FN = 17,
  };
  uint8_t code = kHandle;
  uint8_t bits = 0;    // bits of one element; 0 with code kHandle is `void`
  uint16_t lanes = 1;  // elements of a vector; a scalable vector sets kScalable

  static constexpr uint16_t kScalable = 0x8000;

  static constexpr DataType int_(int bits, int lanes = 1) { return make(kInt, bits, lanes); }
  static constexpr DataType uint(int bits, int lanes = 1) { return make(kUInt, bits, lanes); }
  static constexpr DataType float_(int bits, int lanes = 1) { return make(kFloat, bits, lanes); }
  static constexpr DataType bfloat16(int lanes = 1) { return make(kBFloat, 16, lanes); }
  static constexpr DataType bool_(int lanes = 1) { return make(kBool, 8, lanes); }
  static constexpr DataType handle() { return make(kHandle, 64, 1); }
  static constexpr DataType void_() { return make(kHandle, 0, 1); }
  static constexpr DataType make(int code, int bits, int lanes) {
    return {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
  }

  /// The type written as `text`: "float32", "int8x4", "bool", "handle", "void", "bfloat16", "float8_e4m3fn",
  /// "int4". Raises UserError if there is no such type.
  static DataType parse(std::string_view text);
  /// The same, but returns false instead of raising.
  static bool try_parse(std::string_view text, DataType* result);

  bool is_int() const { return code == kInt; }
  bool is_uint() const { return code == kUInt; }
  bool is_bool() const { return code == kBool; }
  bool is_integral() const { return code == kInt || code == kUInt; }
  bool is_float() const {
    return code == kFloat || code == kBFloat || (code >= kFloat8E4M3FN && code <= kFloat4E2M1FN);
  }
  bool is_bfloat16() const { return code == kBFloat; }
  bool is_handle() const { return code == kHandle && bits != 0; }
  bool is_void() const { return code == kHandle && bits == 0; }
  bool is_scalar() const { return lanes == 1; }
  bool is_scalable() const { return (lanes & kScalable) != 0; }
  DataType element() const { return make(code, bits, 1); }
  DataType with_lanes(int n) const { return make(code, bits, n); }
  DataType with_bits(int n) const { return make(code, n, lanes); }
  /// Bytes of one value in memory, sub-byte lanes packed and rounded up.
  int64_t num_bytes() const { return (static_cast<int64_t>(bits) * lanes + 7) / 8; }

  std::string str() const;
  friend constexpr bool operator==(const DataType&, const DataType&) = default;
};

inline constexpr DataType kInt32 = DataType::int_(32);
inline constexpr DataType kInt64 = DataType::int_(64);
inline constexpr DataType kFloat32 = DataType::float_(32);
inline constexpr DataType kBoolType = DataType::bool_();

}  // namespace tilewright
