#include "tilewright/relax/pipeline.h"

#include "tilewright/support/near.h"

namespace tilewright::relax {

const PassInfo& find_pass(std::string_view name) {
  std::vector<std::string_view> names;
  for (size_t n = 0; n < k_passes_count; ++n) {
    if (k_passes[n]->name == name) return *k_passes[n];
    names.push_back(k_passes[n]->name);
  }
  throw UserError("there is no pass \"{}\"", name).help("{}", nearest_names_text(name, names));
}

Pipeline default_pipeline() {
  return {
      {&find_pass("legalize_ops"), {}},
      {&find_pass("dead_code_elimination"), {}},
  };
}

}  // namespace tilewright::relax
