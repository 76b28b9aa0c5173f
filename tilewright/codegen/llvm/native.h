// Machine code from lowered modules, through LLVM.  No LLVM header is included here.
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

/// What LLVM compiles for.
struct NativeTarget {
  std::string triple;                  // "x86_64-pc-linux-gnu"
  std::string cpu;                     // "znver4"
  std::string features;                // "+avx512f,+fma,-amx-tile"
  int opt_level = 3;                   // 0..3
  bool is_host = true;                 // code for it runs in this process
  int64_t vector_bits = 128;           // what loops are vectorised for
  int64_t least_register_bits = 0;     // as in target::VectorWidth
  std::vector<std::string> fast_math;  // what floats may do besides contraction, e.g. "reassoc"
  bool contracts = true;               // a * b + c may be rounded once
  std::vector<std::string> needed;     // what code for it may use beyond the architecture, e.g. "avx2"
  std::vector<std::string> enabled;    // its features, sorted, those that others imply among them
  lower::KernelAbi abi;                // how it lays out what kernels are given
  std::optional<target::Rates> rates;  // LLVM's of `cpu`, where no manual has them
  int64_t line_bytes = 64;             // of L1, as in target::Features
  bool has(std::string_view feature) const;
  /// What target::features_of asks for.
  target::Processor processor() const { return {triple, cpu, enabled, vector_bits, is_host, rates}; }
};

/// The LLVM target of `target` (kind "llvm"): this machine unless -mtriple or -mcpu say otherwise.
/// Raises UserError for a triple, CPU or feature that LLVM does not know, Unsupported for an architecture not
/// built in.
NativeTarget native_target(const ir::Target& target);

/// A relocatable object file with the functions of `lowered`.
std::string emit_object(const ir::IRModule& lowered, const NativeTarget& target);
/// LLVM IR as text, after optimisation or before.
std::string emit_llvm_ir(const ir::IRModule& lowered, const NativeTarget& target, bool optimised = true);
std::string emit_assembly(const ir::IRModule& lowered, const NativeTarget& target);
/// The object with what a library exports besides kernels: version, host variable, names, blob
/// (kernel_abi.h).
std::string emit_library_object(std::span<const std::string> names, std::string_view blob,
                                const NativeTarget& target);
/// The object file of LLVM IR as text, for this machine; raises UserError, calling the text `name`, for a
/// mistake.
std::string object_of_llvm_ir(const std::string& text, const std::string& name);
/// A static library of the object files.
std::string emit_archive(std::span<const std::string> objects);
/// The files of an archive; raises UserError, calling the archive `path`, if it is none or damaged.
std::vector<std::string> objects_of_archive(const std::string& archive, const std::string& path);

/// The functions of `objects`, linked in memory; one of them comes from emit_library_object.
runtime::Module load_objects(const std::string& name, std::span<const std::string> objects);

/// This machine as LLVM sees it.
struct HostCpu {
  std::string triple, cpu, features;
};
HostCpu host_cpu();
/// Those of `needed` (NativeTarget::needed) that this machine lacks.
std::vector<std::string> lacking_features(std::span<const std::string> needed);

}  // namespace tilewright::codegen
