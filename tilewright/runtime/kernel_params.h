// What compiled code says of its parameters (__tilewright_params_<name> of kernel_abi.h): which tensors it
// writes, and what messages show of them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime {

class KernelParams {
 public:
  /// Nothing is known: nothing is written.
  KernelParams() = default;
  /// text: as in kernel_abi.h.
  explicit KernelParams(std::string_view text);

  /// Whether the elements of argument `position` may be written.
  bool is_written(size_t position) const {
    return position < kMaskBits ? (written_mask_ >> position & 1) != 0
                                : position < params_.size() && params_[position].is_written;
  }
  /// "f(A: float32[n], B: float32[n] (written))"; empty if nothing is known.
  std::string signature(std::string_view function) const;
  /// Raises the UserError of a read-only tensor where one is written.
  [[noreturn]] void refuse_read_only(std::string_view function, size_t position) const;

 private:
  static constexpr size_t kMaskBits = 64;
  struct Param {
    std::string text;  // "A: float32[n, 128]"
    bool is_written;
  };
  std::vector<Param> params_;
  uint64_t written_mask_ = 0;  // of the first 64: a call tests one bit per argument
};

}  // namespace tilewright::runtime
