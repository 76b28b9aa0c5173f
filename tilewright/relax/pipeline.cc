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
      {&find_pass("to_dataflow"), {}},            // 1  the passes below work on dataflow blocks
      {&find_pass("fold_constant"), {}},          // 1  weights that are moved or converted are constants
      {&find_pass("remove_identities"), {}},      // 1
      {&find_pass("fold_batch_norm"), {}},        // 2  leaves new arithmetic of constants
      {&find_pass("convert_layout"), {}},         // 2  channels last; permutes of weights are constants, too
      {&find_pass("fold_constant"), {}},          // 1  which are computed here
      {&find_pass("remove_identities"), {}},      // 1  permutes back and forth
      {&find_pass("legalize_ops"), {}},           // 0  from here on computation is in loop programs
      {&find_pass("dead_code_elimination"), {}},  // 1  what nobody uses does not keep others from fusing
      {&find_pass("fuse_ops"), {}},               // 2
      {&find_pass("fuse_tir"), {}},               // 2
      {&find_pass("dead_code_elimination"), {}},  // 1  programs that were merged into others
  };
}

}  // namespace tilewright::relax
