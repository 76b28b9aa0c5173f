#include "tilewright/runtime/device/cuda_images.h"

#include <charconv>

namespace tilewright::runtime {
namespace {

struct Arch {
  int major = 0, minor = 0;  // 0: the text was no name of one
  bool is_exact = false;     // it has a letter: for this version alone
};

// "sm_90a", "compute_80"
Arch parse_arch(std::string_view text) {
  const size_t line = text.find('_');
  if (line == std::string_view::npos) return {};
  const std::string_view digits = text.substr(line + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || number < 10) return {};
  return {number / 10, number % 10, end != digits.data() + digits.size()};
}

// "9.0"
Arch parse_version(std::string_view text) {
  Arch arch;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, arch.major);
  if (major.ec != std::errc() || major.ptr == end) return {};
  std::from_chars(major.ptr + 1, end, arch.minor);
  return arch;
}

}  // namespace

int cuda_image_fit(const DeviceImage& image, std::string_view compute_version) {
  const Arch code = parse_arch(image.arch), gpu = parse_version(compute_version);
  if (code.major == 0 || gpu.major == 0) return 0;
  const bool is_same = code.major == gpu.major && code.minor == gpu.minor;
  if (code.is_exact && !is_same) return 0;
  const bool is_cubin = image.format == "cubin";
  if (is_cubin && (code.major != gpu.major || code.minor > gpu.minor)) return 0;
  if (code.major * 10 + code.minor > gpu.major * 10 + gpu.minor) return 0;
  return (is_cubin ? 10000 : 0) + code.major * 100 + code.minor * 10 + code.is_exact;
}

}  // namespace tilewright::runtime
