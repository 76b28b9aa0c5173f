// The entry of the TVMScript parser: a program's text to nodes.  It takes the union of the spellings of 2022
// to 2026 (T.Buffer[...] and T.Buffer(...), T.block and T.sblock, tir and tirx, call_tir old and new).
#pragma once
#include <functional>

#include "tilewright/ir/module.h"
#include "tilewright/script/value.h"

namespace tilewright::script {

struct ParseOptions {
  Resolver resolver;
  MacroFinder find_macro;
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
