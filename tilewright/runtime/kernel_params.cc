#include "tilewright/runtime/kernel_params.h"

#include "tilewright/support/error.h"

namespace tilewright::runtime {

KernelParams::KernelParams(std::string_view text) {
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    if (end == 0) continue;
    const bool is_written = text[0] == 'w';
    if (is_written && params_.size() < kMaskBits) written_mask_ |= uint64_t{1} << params_.size();
    params_.push_back({std::string(text.substr(1, end - 1)), is_written});
  }
}

std::string KernelParams::signature(std::string_view function) const {
  if (params_.empty()) return "";
  std::string list;
  for (const Param& param : params_)
    list += (list.empty() ? "" : ", ") + param.text + (param.is_written ? " (written)" : "");
  return fmt::format("{}({})", function, list);
}

void KernelParams::refuse_read_only(std::string_view function, size_t position) const {
  const std::string& text = params_[position].text;
  throw UserError("{}: argument {} ({}) is read-only, but the function writes it", function, position + 1,
                  text.substr(0, text.find(':')))
      .help("pass a writable copy; the function is {}", signature(function));
}

}  // namespace tilewright::runtime
