// What commands print: values, progress.
#pragma once
#include <string>
#include <vector>

#include "tilewright/driver/build.h"
#include "tilewright/runtime/tensor.h"
#include "tilewright/support/units.h"

namespace tilewright::cli {

/// "0.5, -1, 2, ... (1000 elements)": at most `limit` elements of a CPU tensor.
std::string preview(const runtime::Tensor& tensor, int64_t limit = 6);

/// Writes to standard output.  Raises UserError if that fails, e.g. when the disk is full.
void print(const std::string& text);

/// Writes to standard error; what cannot be written there is nobody's fault and lost.
void print_aside(const std::string& text);

/// Tells on standard error what was done and how long it took, a line for each stage; nothing if quiet.
/// On a terminal the line of a stage that is still running counts the kernels that are ready.
class Progress {
 public:
  explicit Progress(bool is_quiet);
  /// Announces what comes: "compiling mlp.onnx for llvm".
  void begin(const std::string& text);
  void stage(const std::string& name, double seconds);
  /// For driver::StageObserver: kernels are counted, whole stages shown.
  void operator()(const driver::StageTime& time);

 private:
  bool is_quiet_, is_terminal_;
  int num_kernels_ = 0, num_cached_ = 0;
};

}  // namespace tilewright::cli
