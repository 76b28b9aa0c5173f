// The services of a kind of target for the driver.  The folder targets/ is the registry: each file defines
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
#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/tir.h"

namespace tilewright::driver {

/// A text form in which lowered modules, one per function, can be shown and exported.
struct SourceFormat {
  std::string_view name;    // the format's name for get_source: "ll", "asm", "c", "lowered"
  std::string_view ending;  // of files that export_library writes: ".ll", ".s", ".c", ".tir"
  std::function<std::string(std::span<const ir::IRModule> lowered)> emit;
  /// The text that export_library appends so that a compiler can make a complete library; null if the text is
  /// only for reading.
  std::function<std::string(std::span<const std::string> names, std::string_view blob)> exports = {};
};

/// Bytes that a library carries (runtime/kernel_abi.h); none where they are empty.
struct LibraryData {
  std::string_view blob = {};         // the VM executable
  std::string_view device_code = {};  // runtime::DeviceCode
};

/// Code generation for one target.  All functions may be called from several threads at once.
struct Generator {
  std::string machine;   // the machine in messages: "aarch64-unknown-linux-gnu"
  bool is_host = false;  // its code runs in this process
  /// The properties that schedule/default, packing of weights and graph passes use.
  target::Features features = {};
  target::FeatureSources feature_sources = {};
  /// Those that schedule/default uses if kernels run on a GPU.
  std::optional<target::GpuFeatures> gpu = {};
  /// Everything besides their arguments that the results of `lower` and `object` depend on, as text; "" if
  /// results cannot be cached.
  std::string code_key = {};
  /// CPU features that the code may use and that not all CPUs of the architecture have: "avx2".
  std::vector<std::string> needed_features = {};
  /// The lowered functions (lower/lowered.h) of a loop program that users call `name`; `observe` is called
  /// after each step.
  std::function<ir::IRModule(const std::string& name, const tir::PrimFunc& func,
                             const lower::StepObserver& observe)>
      lower;
  /// The relocatable object file of one lowered module; null if the target compiles all modules together.
  std::function<std::string(const ir::IRModule& lowered)> object;
  /// Used if `object` is null: one object file for all modules, made when it is first needed.
  std::function<std::string(std::span<const ir::IRModule> lowered)> unit_object;
  /// The object file with the exports of a library other than its functions (runtime/kernel_abi.h).
  std::function<std::string(std::span<const std::string> names, const LibraryData& data)> library_object;
  /// Links objects from `object` and `library_object` into this process; messages call them `name`.
  std::function<runtime::Module(const std::string& name, std::span<const std::string> objects)> load;
  /// A static library of these objects.
  std::function<std::string(std::span<const std::string> objects)> archive;
  std::vector<SourceFormat> sources;
  /// The layout of arguments in memory of the host.
  lower::KernelAbi abi = {};

  // ---- of targets whose kernels run on a device (device_target.h)
  std::string device_kind = {};  // "cuda"; empty: there are no kernels of devices
  /// The kernels of one lowered module with their text, as bytes of runtime::DeviceCode; empty if it has none.
  std::function<std::string(const ir::IRModule& lowered)> device_source = {};
  /// The same bytes for all `sources` together, with images that devices load: those of this machine (`is_for_here`), or
  /// those that the target names.
  std::function<std::string(std::span<const std::string> sources, bool is_for_here)> device_images = {};
};

struct TargetInfo {
  std::string_view name;  // kind_name of ir::Target
  std::string_view doc;
  /// Raises UserError or Unsupported for attributes that are not supported.
  Generator (*make)(const ir::Target& target);
};

/// All targets that code can be generated for, sorted by name; generated from the folder targets/.
extern const TargetInfo* const k_targets[];
extern const std::size_t k_targets_count;
std::span<const TargetInfo* const> all_targets();
/// The generator for `target`; for every kind of target it can show lowered programs ("lowered").  Raises
/// Unsupported, naming the supported kinds, if there is none.
Generator make_generator(const ir::Target& target);

}  // namespace tilewright::driver
