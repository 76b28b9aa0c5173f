// The entry of the TVMScript parser: converts a program's text to nodes.  It accepts the union of the
// spellings of 2022 to 2026 (T.Buffer[...] and T.Buffer(...), T.block and T.sblock, tir and
// tirx, call_tir old and new).
#pragma once
#include <functional>

#include "tilewright/ir/module.h"
#include "tilewright/script/value.h"

namespace tilewright::script {

struct ParseOptions {
  Resolver resolver;
  MacroFinder find_macro;
  /// Names of modules in addition to T, tir, R, relax, I, tvm: {"tt", "tvm.script.tir"}.  Imports in the text
  /// add names, too.
  std::vector<std::pair<std::string, std::string>> aliases;
  /// Refuse programs that are consistent but cannot be intended, e.g. with a block axis that its loop does
  /// not cover (analysis/verify.h).  A decorator can switch it off: @T.prim_func(check_well_formed=False).
  bool check_well_formed = true;
};

/// The IRModule, tir.PrimFunc or relax.Function that `source` defines.
/// Raises UserError with a caret on the wrong line; Unsupported for programs that the IR cannot represent.
ObjectRef parse(const Ref<Source>& source, const ParseOptions& options = {});

/// All decorated definitions of a file, by name, in order; other statements are skipped.
std::vector<std::pair<std::string, ObjectRef>> parse_definitions(const Ref<Source>& source,
                                                                 const ParseOptions& options = {});

}  // namespace tilewright::script
