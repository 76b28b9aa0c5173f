// The parameters of compiled code, from the text __tilewright_params_<name> of kernel_abi.h: which tensors it
// writes, and how messages show them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime {

class KernelParams {
 public:
  /// No information: no parameter counts as written.
  KernelParams() = default;
  /// text: the format of kernel_abi.h.
  explicit KernelParams(std::string_view text);

  /// True if the elements of argument `position` may be written.
  bool is_written(size_t position) const {
    return position < kMaskBits ? (written_mask_ >> position & 1) != 0
                                : position < params_.size() && params_[position].is_written;
  }
  /// "f(A: float32[n], B: float32[n] (written))"; empty without information.
  std::string signature(std::string_view function) const;
  /// Raises the UserError for a read-only tensor passed to a parameter that is written.
  [[noreturn]] void refuse_read_only(std::string_view function, size_t position) const;

 private:
  static constexpr size_t kMaskBits = 64;
  struct Param {
    std::string text;  // "A: float32[n, 128]"
    bool is_written;
  };
  std::vector<Param> params_;
  uint64_t written_mask_ = 0;  // for the first 64 parameters: a call tests one bit per argument
};

}  // namespace tilewright::runtime
