// Output of commands: values, progress.
#pragma once
#include <string>
#include <vector>

#include "tilewright/driver/build.h"
#include "tilewright/runtime/tensor.h"
#include "tilewright/support/units.h"

namespace tilewright::cli {

/// "0.5, -1, 2, ... (1000 elements)": at most `limit` elements of a CPU tensor.
std::string preview(const runtime::Tensor& tensor, int64_t limit = 6);
/// The same of strings: `ends` has the number of bytes up to the end of each in `text`.
std::string preview_strings(const runtime::Tensor& ends, const runtime::Tensor& text, int64_t limit = 6);

/// Writes to standard output.  Raises UserError if that fails, for example because the disk is full.
void print(const std::string& text);

/// Writes to standard error; failures are ignored.
void print_aside(const std::string& text);

/// Reports each finished stage and its time on standard error, one line each; prints nothing if quiet.  On a
/// terminal, the line of a running stage counts the kernels that are ready.
class Progress {
 public:
  explicit Progress(bool is_quiet);
  /// Announces the work: "compiling mlp.onnx for llvm".
  void begin(const std::string& text);
  void stage(const std::string& name, double seconds);
  /// For driver::StageObserver: counts kernels and shows whole stages.
  void operator()(const driver::StageTime& time);

 private:
  bool is_quiet_, is_terminal_;
  int num_kernels_ = 0, num_cached_ = 0;
};

}  // namespace tilewright::cli
