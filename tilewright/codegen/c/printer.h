// One lowered function as C99.
#pragma once
#include <map>
#include <set>

#include "tilewright/codegen/source/helpers.h"
#include "tilewright/codegen/source/printer.h"
#include "tilewright/ir/module.h"

namespace tilewright::codegen {

/// Declarations and definitions that the functions of a translation unit need before them.
struct CUnit {
  // of the unit and of C libraries: variables must not hide them
  std::set<std::string, std::less<>> functions;
  std::map<std::string, std::string> externs;  // declarations by name
  std::map<std::string, std::string> helpers;  // definitions by name (helpers.cc)
  std::string imported;                        // C source imported by the program
  std::set<std::string> headers = {"math.h", "stdbool.h", "stdint.h"};
  bool has_loop_hints = false;  // macros that hints of loops are

  /// True if imported C declares or defines `name`.
  bool is_imported(std::string_view name) const;
  /// The name of helper `name` for `dtype`, e.g. "tw_max_float32"; adds its definition.
  std::string helper(std::string_view name, DataType dtype);
  /// The name of a function without branches for math operator `name` (math.cc), e.g. "tw_exp_float32"; adds
  /// its definition.  Empty if there is none for `dtype`.
  std::string polynomial(std::string_view name, DataType dtype);
  /// The same for helpers without a dtype: "raise", "parallel_for", "dtype_text",
  /// "workspace_alloc".
  std::string helper(std::string_view name);
  std::string reinterpret(DataType from, DataType to);
  /// The name of the conversion between float or double and the bits of a small float; adds its definition.
  std::string narrow_float(DataType from, DataType to);
  std::string widen_float(DataType from);
};

/// "int32_t"; for small floats, the type of their bits.  Raises Unsupported for types that C99 does not have.
std::string c_type(DataType dtype);
inline constexpr Spelling kSpelling = {"static inline", c_type, true, "memcpy(&{0}, &{1}, sizeof {0})",
                                       "memcpy(&{0}, &{1}, sizeof {0})"};

class CPrinter final : public SourcePrinter {
 public:
  CPrinter(CUnit& unit, const IRModule& module, const std::string& name, const PrimFuncNode* func);
  /// The whole definition, preceded by definitions that it alone needs (the closure of a parallel body).
  std::string print();

 private:
  std::string type_name(DataType dtype) const override { return c_type(dtype); }
  std::string memory_type_name(DataType dtype) const override;
  std::string declaration(const VarNode* var, const std::string& name,
                          std::string_view qualifier) const override;
  Code float_literal(double value, DataType dtype) const override;
  Code arithmetic_call(std::string_view name, DataType dtype, const std::vector<PrimExpr>& args) override;
  Code call(const CallNode* node, std::string_view name) override;
  Code cast(const CastNode* node) override;
  Code vector(const PrimExpr& expr) override;
  void alloc(const AllocBufferNode* node) override;
  void thread_loop(const ForNode* node) override;
  std::string loop_hint(const ForNode* node) override;
  void fail(std::string_view kind, std::string_view message) override;

  // ---- calls (calls.cc)
  Code math(const CallNode* node, std::string_view name);
  Code memory(const CallNode* node, std::string_view name);
  Code peek(const CallNode* node);
  Code reinterpret(const CallNode* node);
  Code call_extern(const CallNode* node);
  Code raise(const CallNode* node);
  Code call_function(const CallNode* node, const std::string& name);
  Code call_parallel(const CallNode* node);
  Code call_packed(const CallNode* node);
  std::string tensor_argument(const CallNode* node);
  std::string arguments(const CallNode* node, size_t begin);
  void leave(const std::string& status);
  void leave_if(const std::string& failed);

  std::string signature();
  std::string comment() const;
  std::string range_function() const;
  std::string params_text() const;

  CUnit& unit_;
  const IRModule& module_;
  const std::string name_;
  const std::string kind_;
  int64_t stack_bytes_ = 0;
  // the kind of struct that a handle of an entry points to
  enum class Described { kArgs, kTensor, kExtents };
  std::unordered_map<const VarNode*, Described> described_;
};

}  // namespace tilewright::codegen
