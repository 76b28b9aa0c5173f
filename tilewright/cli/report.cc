#include "tilewright/cli/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"
#include "tilewright/support/utf8.h"

namespace tilewright::cli {
namespace {
using runtime::Tensor;

template <class T>
std::string element(const void* data, int64_t position) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + position * static_cast<int64_t>(sizeof(T)), sizeof(T));
  if constexpr (std::is_floating_point_v<T>) return fmt::format("{:.6g}", value);
  return fmt::format("{}", +value);
}

template <bool kIsBfloat16>
std::string float_of_16_bits(const void* data, int64_t position) {
  uint16_t bits;
  std::memcpy(&bits, static_cast<const char*>(data) + position * int64_t{sizeof bits}, sizeof bits);
  const DataType dtype = kIsBfloat16 ? DataType::bfloat16() : DataType::float_(16);
  return fmt::format("{:.6g}", decode_float(bits, float_format(dtype)));
}

using Shower = std::string (*)(const void*, int64_t);
Shower shower_of(DataType dtype) {
  if (dtype.lanes != 1) return nullptr;
  if (dtype == DataType::float_(32)) return element<float>;
  if (dtype == DataType::float_(64)) return element<double>;
  if (dtype == DataType::bfloat16()) return float_of_16_bits<true>;
  if (dtype == DataType::float_(16)) return float_of_16_bits<false>;
  const bool is_signed = dtype.is_int();
  if (!is_signed && !dtype.is_uint() && !dtype.is_bool()) return nullptr;
  switch (dtype.bits) {
    case 8: return is_signed ? element<int8_t> : element<uint8_t>;
    case 16: return is_signed ? element<int16_t> : element<uint16_t>;
    case 32: return is_signed ? element<int32_t> : element<uint32_t>;
    case 64: return is_signed ? element<int64_t> : element<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace

std::string preview(const Tensor& tensor, int64_t limit) {
  const Shower shower = shower_of(tensor.dtype());
  if (!shower) return "";
  const Tensor compact = tensor.compact();
  const int64_t count = compact.num_elements();
  std::string text;
  for (int64_t n = 0; n < std::min(count, limit); ++n) text += (n ? ", " : "") + shower(compact.data(), n);
  return count > limit ? text + fmt::format(", ... ({} elements)", count) : text;
}

std::string preview_strings(const Tensor& ends, const Tensor& text, int64_t limit) {
  constexpr size_t kMostBytes = 60;
  const Tensor compact = ends.compact();
  const int64_t count = compact.num_elements();
  std::string shown;
  int64_t start = 0;
  for (int64_t n = 0; n < std::min(count, limit); ++n) {
    const int64_t end = compact.data_as<int64_t>()[n];
    std::string element(text.data_as<char>() + start, static_cast<size_t>(end - start));
    if (element.size() > kMostBytes) element = element.substr(0, kMostBytes) + "...";
    shown += fmt::format("{}\"{}\"", n ? ", " : "", printable(element));
    start = end;
  }
  return count > limit ? shown + fmt::format(", ... ({} elements)", count) : shown;
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw UserError("standard output cannot be written: {}", std::generic_category().message(errno));
}

void print_aside(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

Progress::Progress(bool is_quiet) : is_quiet_(is_quiet), is_terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::begin(const std::string& text) {
  if (!is_quiet_) print_aside(text + "\n");
}

void Progress::stage(const std::string& name, double seconds) {
  if (!is_quiet_)
    print_aside(fmt::format("{}  {:<28}{:>10.1f} ms\n", is_terminal_ ? "\r" : "", name, seconds * 1e3));
}

void Progress::operator()(const driver::StageTime& time) {
  if (time.function.empty()) {
    if (time.stage == "link") return;
    const bool has_cached = time.stage == "compile kernels" && num_cached_ > 0;
    stage(has_cached ? fmt::format("{}, {} cached", time.stage, num_cached_) : time.stage, time.seconds);
    return;
  }
  if (time.stage == "cached") ++num_cached_;
  if (is_quiet_ || !is_terminal_ || (time.stage != "codegen" && time.stage != "cached")) return;
  print_aside(fmt::format("\r  compile kernels: {} ready", ++num_kernels_));
}

}  // namespace tilewright::cli
