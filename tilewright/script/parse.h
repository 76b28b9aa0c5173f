// The entry of the TVMScript parser: a program's text to nodes.  It takes the union of the spellings of 2022
// to 2026 (T.Buffer[...] and T.Buffer(...), T.block and T.sblock, tir and tirx, call_tir old and new).
#pragma once
#include <functional>

#include "tilewright/ir/module.h"
#include "tilewright/script/value.h"

namespace tilewright::script {

/// The names of the program that can be seen at one place, innermost first.
class Scope {
 public:
  virtual ~Scope() = default;
  /// What `name` stands for, or null.
  virtual const Value* find(std::string_view name) const = 0;
  virtual std::vector<std::string_view> names() const = 0;
};

/// The meaning of `text`, an expression whose first name the program does not define (a captured Python
/// value, a helper's call, a comprehension); nothing when that name is unknown outside as well.  `scope`
/// holds the program's own names.
using Resolver =
    std::function<std::optional<Value>(std::string_view text, const Span& span, const Scope& scope)>;

struct ParseOptions {
  Resolver resolver;
  /// What names stand for besides T, tir, R, relax, I, tvm: {"tt", "tvm.script.tir"}.  Imports in the text
  /// count too.
  std::vector<std::pair<std::string, std::string>> aliases;
  /// Refuse what is written consistently but cannot be meant, e.g. a block axis that its loop does not cover;
  /// analysis/verify.h says what.  A decorator can switch it off: @T.prim_func(check_well_formed=False).
  bool check_well_formed = true;
};

/// The IRModule, tir.PrimFunc or relax.Function that `source` defines.
/// Raises UserError with a caret on the line that is wrong; Unsupported for what the IR cannot say.
ObjectRef parse(const Ref<Source>& source, const ParseOptions& options = {});

/// All decorated definitions of a file, by name, in order; other statements are skipped.
std::vector<std::pair<std::string, ObjectRef>> parse_definitions(const Ref<Source>& source,
                                                                 const ParseOptions& options = {});

}  // namespace tilewright::script
