#include "tilewright/support/dtype.h"

#include <charconv>

#include "tilewright/support/error.h"

namespace tilewright {
namespace {

struct Named {
  std::string_view name;
  DataType dtype;
};
// names that are not <code><bits>
constexpr Named kNamed[] = {
    {"bool", DataType::bool_()},
    {"handle", DataType::handle()},
    {"void", DataType::void_()},
    {"bfloat16", DataType::bfloat16()},
    {"float8_e4m3fn", DataType::make(DataType::kFloat8E4M3FN, 8, 1)},
    {"float8_e4m3fnuz", DataType::make(DataType::kFloat8E4M3FNUZ, 8, 1)},
    {"float8_e5m2", DataType::make(DataType::kFloat8E5M2, 8, 1)},
    {"float8_e5m2fnuz", DataType::make(DataType::kFloat8E5M2FNUZ, 8, 1)},
    {"float8_e8m0fnu", DataType::make(DataType::kFloat8E8M0FNU, 8, 1)},
    {"float4_e2m1fn", DataType::make(DataType::kFloat4E2M1FN, 4, 1)},
};
constexpr Named kFamilies[] = {
    {"int", DataType::int_(32)},
    {"uint", DataType::uint(32)},
    {"float", DataType::float_(32)},
    {"complex", DataType::make(DataType::kComplex, 64, 1)},
};

bool parse_number(std::string_view text, int* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value > 0;
}

bool has_such_width(const DataType& dtype) {
  switch (dtype.code) {
    case DataType::kInt:
    case DataType::kUInt:
      return dtype.bits == 1 || dtype.bits == 2 || dtype.bits == 4 || dtype.bits == 8 || dtype.bits == 16 ||
             dtype.bits == 32 || dtype.bits == 64;
    case DataType::kFloat: return dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
    default: return dtype.bits == 64 || dtype.bits == 128;  // complex
  }
}

bool parse_scalar(std::string_view text, DataType* result) {
  for (const Named& named : kNamed) {
    if (text == named.name) return *result = named.dtype, true;
  }
  for (const Named& family : kFamilies) {
    if (!text.starts_with(family.name)) continue;
    *result = family.dtype;
    std::string_view bits = text.substr(family.name.size());
    if (bits.empty()) return true;
    int width = 0;
    if (!parse_number(bits, &width) || width > 128) return false;
    *result = result->with_bits(width);
    return has_such_width(*result);
  }
  return false;
}

}  // namespace

bool DataType::try_parse(std::string_view text, DataType* result) {
  size_t cross = text.rfind('x');
  // "vscalex4" marks a scalable vector
  if (cross == std::string_view::npos) return parse_scalar(text, result);
  std::string_view head = text.substr(0, cross);
  int lanes = 0;
  if (!parse_number(text.substr(cross + 1), &lanes) || lanes >= kScalable) return false;
  const bool scalable = head.ends_with("xvscale");
  if (scalable) head.remove_suffix(7);
  if (!parse_scalar(head, result)) return false;
  *result = result->with_lanes(scalable ? lanes | kScalable : lanes);
  return true;
}

DataType DataType::parse(std::string_view text) {
  DataType result;
  if (try_parse(text, &result)) return result;
  throw UserError("unknown dtype \"{}\"", text)
      .help(
          "dtypes are bool, int8..int64, uint8..uint64, float16, float32, float64, bfloat16, float8_e4m3fn, "
          "float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float4_e2m1fn, int4, handle; "
          "append "
          "x<lanes> for a vector, e.g. \"float32x4\"");
}

std::string DataType::str() const {
  std::string name;
  for (const Named& named : kNamed) {
    if (element() == named.dtype) name = named.name;
  }
  if (name.empty()) {
    const char* family = code == kInt       ? "int"
                         : code == kUInt    ? "uint"
                         : code == kFloat   ? "float"
                         : code == kComplex ? "complex"
                                            : "custom";
    name = family + std::to_string(bits);
  }
  if (is_scalable()) return name + "xvscalex" + std::to_string(lanes & ~kScalable);
  return lanes == 1 ? name : name + "x" + std::to_string(lanes);
}

}  // namespace tilewright
