#include "tilewright/relax/graph/function_names.h"

namespace tilewright::relax {

std::string kernel_symbol(const IRModule& module, const std::string& name) {
  return module->lookup(name)->attrs.get_string("global_symbol", name);
}

}  // namespace tilewright::relax
