// What a kind of target does for the driver.  The folder targets/ is the registry: each file defines
// `extern constinit const TargetInfo <stem>_info`, where <stem> is the kind of ir::Target it serves.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/ir/target.h"
#include "tilewright/lower/lower.h"
#include "tilewright/runtime/module.h"
#include "tilewright/target/features.h"
#include "tilewright/tir/tir.h"

namespace tilewright::driver {

/// A text that lowered modules, one for each function, can be shown and exported as.
struct SourceFormat {
  std::string_view name;    // of get_source: "ll", "asm", "c", "lowered"
  std::string_view ending;  // of the file that export_library writes: ".ll", ".s", ".c", ".tir"
  std::function<std::string(std::span<const ir::IRModule> lowered)> emit;
  /// What export_library adds so that a compiler makes a whole library of the text; none if the text is for
  /// reading.
  std::function<std::string(std::span<const std::string> names, std::string_view blob)> exports = {};
};

/// Code generation with the attributes of one target worked out.  All functions may be called from several
/// threads at once.
struct Generator {
  std::string machine;   // what the code runs on, for messages: "aarch64-unknown-linux-gnu"
  bool is_host = false;  // it runs in this process
  /// What the rules of schedule/default, packing of weights and graph passes compute from.
  target::Features features = {};
  target::FeatureSources feature_sources = {};
  /// All that `lower` and `object` depend on besides what they are given, as text; "" if their results cannot
  /// be kept.
  std::string code_key = {};
  /// Features of the CPU that the code may use, where that can differ within one architecture: "avx2".
  std::vector<std::string> needed_features = {};
  /// The lowered functions (lower/lowered.h) of a loop program that users call `name`; `observe` is told of
  /// each step.
  std::function<ir::IRModule(const std::string& name, const tir::PrimFunc& func,
                             const lower::StepObserver& observe)>
      lower;
  /// A relocatable object file with the functions of one lowered module, made by build.
  std::function<std::string(const ir::IRModule& lowered)> object;
  /// Without `object`: one with those of all modules, made when it is first needed.
  std::function<std::string(std::span<const ir::IRModule> lowered)> unit_object;
  /// The object file with what a library exports besides its functions (runtime/kernel_abi.h).
  std::function<std::string(std::span<const std::string> names, std::string_view blob)> library_object;
  /// Objects of `object` and `library_object` linked into this process, called `name` in messages.
  std::function<runtime::Module(const std::string& name, std::span<const std::string> objects)> load;
  /// A static library of them.
  std::function<std::string(std::span<const std::string> objects)> archive;
  std::vector<SourceFormat> sources;
};

struct TargetInfo {
  std::string_view name;  // kind_name of ir::Target
  std::string_view doc;
  /// Raises UserError or Unsupported for attributes that cannot be served.
  Generator (*make)(const ir::Target& target);
};

/// All kinds that code can be made for, sorted by name; made from the folder targets/.
extern const TargetInfo* const k_targets[];
extern const std::size_t k_targets_count;
std::span<const TargetInfo* const> all_targets();
/// The generator for `target`, which can show lowered programs ("lowered") whatever its kind; raises
/// Unsupported, naming the kinds there are, if it has none.
Generator make_generator(const ir::Target& target);

}  // namespace tilewright::driver
