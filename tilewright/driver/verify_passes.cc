#include "tilewright/driver/verify_passes.h"

#include <cstdlib>
#include <string_view>

#include "tilewright/analysis/verify.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {

bool verifies_passes() {
  const char* text = std::getenv("TILEWRIGHT_VERIFY_PASSES");
  const std::string_view value = text ? text : "";
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  throw UserError("TILEWRIGHT_VERIFY_PASSES is \"{}\", expected 0 or 1", value)
      .help("1 checks programs after each pass, which takes longer");
}

void verify_module(const ir::IRModule& module) {
  analysis::verify(module, {.axes_match_loops = false, .regions_cover_accesses = false, .values_fit = false});
  relax::BlockBuilder builder(module);
  for (const ir::BaseFunc& func : module->functions) {
    if (ir::is<relax::FunctionNode>(func)) builder.normalize_function(ir::ref_as<relax::FunctionNode>(func));
  }
}

}  // namespace tilewright::driver
