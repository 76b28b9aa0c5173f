// One kernel in a language of devices: what CUDA C, OpenCL C and Metal share.  A language is a class in a file of its
// own (cuda.cc).
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/codegen/source/helpers.h"
#include "tilewright/codegen/source/printer.h"
#include "tilewright/ir/module.h"

namespace tilewright::codegen {

/// What kernels need before them.
struct DeviceUnit {
  std::map<std::string, std::string> helpers;  // definitions by name
};

/// A function with lowered_kind "device_kernel".
struct DeviceKernel {
  std::string name;
  std::string function;  // of the user, which it is a part of
  const PrimFuncNode* func;
};

/// The blocks and threads of a kernel, from its loops.
struct LaunchShape {
  PrimExpr grid[3];  // null: one block along this axis
  int64_t block[3] = {1, 1, 1};
  int64_t num_threads() const { return block[0] * block[1] * block[2]; }
};
LaunchShape launch_shape(const PrimFuncNode* func);

class DevicePrinter : public SourcePrinter {
 public:
  /// The definition of the kernel; adds what it needs to the unit.
  std::string print();
  const LaunchShape& shape() const { return shape_; }

 protected:
  DevicePrinter(DeviceUnit& unit, const DeviceKernel& kernel, const Spelling& spelling,
                std::string_view language, std::set<std::string, std::less<>> reserved);

  // ---- differences between languages
  /// The line before the body: "__global__ void f(const float* A) {".
  virtual std::string head(const std::vector<std::string>& params) const = 0;
  virtual std::string param(const VarNode* var, const std::string& name, size_t position) = 0;
  /// "blockIdx.x", for "threadIdx.x" and the like.
  virtual std::string index_of(std::string_view tag) const { return std::string(tag); }
  /// "__shared__ float S[64];"
  virtual std::string shared_array(std::string_view type, const std::string& name, int64_t count,
                                   bool is_aligned) const = 0;
  /// What makes an array of a thread begin at a multiple of so many bytes, with a space after it.
  virtual std::string alignment(int) const { return ""; }
  /// Shared memory whose size a launch says.
  virtual std::string dynamic_array(std::string_view type, const std::string& name, int64_t count) const {
    return shared_array(type, name, count, true);
  }
  /// Waits for all threads of a block, and makes what they wrote to shared memory visible to each other, and what
  /// they wrote to global memory if `of_global`.
  virtual std::string block_barrier(bool of_global) const = 0;
  virtual std::string warp_barrier(const CallNode* node) const = 0;
  /// The value that another lane of the warp has: `which` is "", "_up" or "_down".
  virtual std::string shuffle(const CallNode* node, std::string_view which) = 0;
  /// The lanes of a warp that run.
  virtual std::string active_mask() const { return "0xffffffffU"; }
  /// The function for operator `op` on values of `dtype`; empty if there is none.
  virtual std::string math_name(std::string_view op, DataType dtype);
  /// The bits of a value as another dtype of the same size.
  virtual std::string bit_cast(const std::string& value, DataType from, DataType to) = 0;
  /// An operator that only this language has; an empty text that is no primary expression if it has none.
  virtual bool own_call(const CallNode*, std::string_view, Code*) { return false; }

  // ---- vectors (vectors.cc)
  /// "float4"; empty if the language has no values of these lanes.
  virtual std::string vector_name(DataType dtype) const = 0;
  /// Lane n of the vector variable `name`: "a.x".
  virtual std::string lane_text(const std::string& name, DataType dtype, int lane) const = 0;
  virtual std::string make_vector(DataType dtype, const std::vector<std::string>& lanes) const = 0;
  /// Addresses of vectors are multiples of their sizes: entries check that of data (lower/functions/entry.cc).
  virtual std::string load_vector(const VarNode* data, const std::string& place, DataType dtype) = 0;
  virtual std::string store_vector(const VarNode* data, const std::string& place, DataType dtype,
                                   const std::string& value) = 0;
  /// True if an index of a vector in memory has to be a multiple of its lanes.
  virtual bool needs_alignment() const { return true; }

  // ---- the same in all of them
  std::string type_name(DataType dtype) const override;
  std::string memory_type_name(DataType dtype) const override;
  std::string address_space(const VarNode*) const override { return ""; }
  Code float_literal(double value, DataType dtype) const override;
  Code arithmetic_call(std::string_view name, DataType dtype, const std::vector<PrimExpr>& args) override;
  Code call(const CallNode* node, std::string_view name) override;
  Code cast(const CastNode* node) override;
  Code vector(const PrimExpr& expr) override;
  void store_lanes(const BufferStoreNode* node) override;
  void alloc(const AllocBufferNode* node) override;
  void thread_loop(const ForNode* node) override;
  std::string loop_name(const ForNode* node) const override;
  std::string element(const Buffer& buffer, const std::vector<PrimExpr>& indices) override;
  std::string loop_hint(const ForNode* node) override;
  std::string nan_test(const PrimExpr& expr) override;
  void fail(std::string_view kind, std::string_view message) override;

  /// The name of helper `name` for `dtype`, e.g. "tw_max_float32"; adds its definition.
  std::string helper(std::string_view name, DataType dtype);
  /// The name of a helper with this definition.
  std::string helper(std::string name, std::string text);
  std::string polynomial(std::string_view name);
  /// True for small floats that are the bits of them in this language.
  bool is_bits(DataType dtype) const;
  /// "global", "shared", "shared.dyn", "local" or "warp"
  std::string scope_of(const VarNode* data) const;
  std::string language() const { return std::string(language_); }
  const DeviceKernel& kernel() const { return kernel_; }

 private:
  Code math(const CallNode* node, std::string_view name);
  std::string narrow_float(DataType from, DataType to);
  std::string widen_float(DataType from);
  Code sync(const CallNode* node);
  std::string arguments(const CallNode* node, size_t begin);
  std::string comment() const;
  void declare_shared();
  void find_numbers();
  void define_number(const AllocBufferNode* node);
  bool exchanges_global_memory() const;
  bool is_pointed_to(const VarNode* data) const;

  // ---- vectors
  bool is_vector_access(const Buffer& buffer, const PrimExpr& index);
  arith::ModularSet residues(const PrimExpr& index);
  PrimExpr lane_of(const PrimExpr& value, int lane);
  PrimExpr component(const std::string& name, DataType dtype, int lane);
  std::string vector_variable(const PrimExpr& value);
  std::vector<std::string> lane_texts(const PrimExpr& value);
  Code vector_code(const PrimExpr& value);
  template <class Function>
  auto in_statement(const Function& print);

  DeviceUnit& unit_;
  const DeviceKernel kernel_;
  const Spelling& spelling_;
  const std::string_view language_;
  LaunchShape shape_;
  std::unordered_map<const VarNode*, std::string> scopes_;  // of memory that the kernel allocates
  std::unordered_set<const VarNode*> numbers_;              // arrays of a thread that are one element
  std::vector<std::pair<PrimExpr, std::string>> vectors_;   // values of a statement that are in variables
  std::vector<std::pair<PrimExpr, Var>> broadcasts_;
  std::vector<Var> components_;  // of vectors, which have texts instead of names
  bool in_vector_ = false;       // a statement with vectors is being printed
  bool may_hoist_ = true;        // false where a condition guards a value
};

std::unique_ptr<DevicePrinter> cuda_printer(DeviceUnit& unit, const DeviceKernel& kernel);
std::unique_ptr<DevicePrinter> opencl_printer(DeviceUnit& unit, const DeviceKernel& kernel);
std::unique_ptr<DevicePrinter> metal_printer(DeviceUnit& unit, const DeviceKernel& kernel);

/// What must be first in a unit with `text`: headers, extensions.
std::string cuda_prologue(std::string_view text);
std::string opencl_prologue(std::string_view text);
std::string metal_prologue(std::string_view text);
/// True if `word` is in `text` between characters that are not of a name.
bool has_word(std::string_view text, std::string_view word);

}  // namespace tilewright::codegen
