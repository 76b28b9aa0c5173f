// Compiles lowered modules to machine code through LLVM.  This header includes no LLVM header.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/ir/target.h"
#include "tilewright/lower/abi.h"
#include "tilewright/runtime/module.h"
#include "tilewright/target/features.h"

namespace tilewright::codegen {

/// The target as LLVM needs it.
struct NativeTarget {
  std::string triple;               // "x86_64-pc-linux-gnu"
  std::string cpu;                  // "znver4"
  std::string features;             // "+avx512f,+fma,-amx-tile"
  int opt_level = 3;                // 0..3
  bool is_host = true;              // its code runs in this process
  int64_t vector_bits = 128;        // the width that loops are vectorised for
  int64_t least_register_bits = 0;  // as in target::VectorWidth
  // allowed floating-point optimisations besides contraction, e.g. "reassoc"
  std::vector<std::string> fast_math;
  bool contracts = true;               // a * b + c may be rounded once
  std::vector<std::string> needed;     // features its code may use beyond the base architecture, e.g. "avx2"
  std::vector<std::string> enabled;    // its features, sorted, including those implied by others
  lower::KernelAbi abi;                // layout of the kernels' arguments
  std::optional<target::Rates> rates;  // LLVM's rates for `cpu`, where no manual has them
  int64_t line_bytes = 64;             // line size of L1, as in target::Features
  bool has(std::string_view feature) const;
  /// The properties that target::features_of needs.
  target::Processor processor() const { return {triple, cpu, enabled, vector_bits, is_host, rates}; }
};

/// The LLVM target for `target` (kind "llvm"): this machine unless -mtriple or -mcpu select another.  Raises
/// UserError for a triple, CPU or feature that LLVM does not know, Unsupported for an architecture that this
/// build lacks.
NativeTarget native_target(const ir::Target& target);

/// A relocatable object file with the functions of `lowered`.
std::string emit_object(const ir::IRModule& lowered, const NativeTarget& target);
/// The LLVM IR as text, after or before optimisation.
std::string emit_llvm_ir(const ir::IRModule& lowered, const NativeTarget& target, bool optimised = true);
std::string emit_assembly(const ir::IRModule& lowered, const NativeTarget& target);
/// Bytes that a library exports under the symbols `name`, and their number under `size_name`.
struct ExportedBytes {
  std::string_view name, size_name, bytes;
};
/// The object file with the exports of a library other than kernels: version, host variable, names, and `data` that is
/// not empty (kernel_abi.h).
std::string emit_library_object(std::span<const std::string> names, std::span<const ExportedBytes> data,
                                const NativeTarget& target);
/// Compiles LLVM IR text to an object file for this machine; raises UserError, which calls the text `name`,
/// if the IR is not valid.
std::string object_of_llvm_ir(const std::string& text, const std::string& name);
/// A static library with the object files.
std::string emit_archive(std::span<const std::string> objects);
/// The files of an archive; raises UserError, which calls the archive `path`, if it is damaged or not an
/// archive.
std::vector<std::string> objects_of_archive(const std::string& archive, const std::string& path);

/// Links `objects` in memory and returns their functions; one of the objects comes from emit_library_object.
runtime::Module load_objects(const std::string& name, std::span<const std::string> objects);

/// Properties of this machine according to LLVM.
struct HostCpu {
  std::string triple, cpu, features;
};
HostCpu host_cpu();
/// The features of `needed` (NativeTarget::needed) that this machine lacks.
std::vector<std::string> lacking_features(std::span<const std::string> needed);

}  // namespace tilewright::codegen
