#include "tilewright/relax/pipeline.h"

#include <algorithm>

#include "tilewright/support/near.h"

namespace tilewright::relax {

namespace {

bool is_list_of(const ObjectRef& value, bool (*is_item)(const ObjectRef&)) {
  const auto* list = value.as<ArrayNode>();
  return list && std::all_of(list->items.begin(), list->items.end(), is_item);
}
bool is_int(const ObjectRef& value) {
  const auto* number = value.as<IntImmNode>();
  return number && !number->dtype.is_bool();
}
bool is_text(const ObjectRef& value) { return is<StringImmNode>(value); }

// True if an option of the type that its schema names may have the value.
bool fits(const ObjectRef& value, std::string_view type) {
  if (type == "bool") return value.as<IntImmNode>() && value.as<IntImmNode>()->dtype.is_bool();
  if (type == "int" || type == "int | None") return is_int(value);
  if (type == "float") return is_int(value) || is<FloatImmNode>(value);
  if (type == "str" || type == "dtype") return is_text(value);
  if (type == "list[int]") return is_list_of(value, is_int);
  return type != "list[str]" || is_list_of(value, is_text);
}

void check_config(const ir::AttrMap& config) {
  std::vector<std::string> keys;
  std::vector<ir::OptionInfo> known;
  for (size_t n = 0; n < k_passes_count; ++n) {
    for (const ir::OptionInfo& option : k_passes[n]->options()) {
      keys.push_back(fmt::format("{}.{}", k_passes[n]->name, option.name));
      known.push_back(option);
    }
  }
  for (const auto& [key, value] : config) {
    const auto found = std::find(keys.begin(), keys.end(), key);
    if (found == keys.end())
      throw UserError("PassContext: there is no config key \"{}\"", key)
          .help("{}", nearest_names_text(key, {keys.begin(), keys.end()}));
    const ir::OptionInfo& option = known[static_cast<size_t>(found - keys.begin())];
    if (!fits(value, option.type))
      throw UserError("PassContext: config \"{}\" must be {}", key, option.type)
          .help("it says {}", option.doc);
  }
}

}  // namespace

const PassInfo& find_pass(std::string_view name) {
  std::vector<std::string_view> names;
  for (size_t n = 0; n < k_passes_count; ++n) {
    if (k_passes[n]->name == name) return *k_passes[n];
    names.push_back(k_passes[n]->name);
  }
  throw UserError("there is no pass \"{}\"", name).help("{}", nearest_names_text(name, names));
}

void check_context(const ir::PassContext& context) {
  if (context.opt_level < 0 || context.opt_level > 3)
    throw UserError("PassContext: opt_level is {}, expected 0 to 3", context.opt_level);
  for (const auto& [list, what] :
       {std::pair(&context.required, "required_pass"), std::pair(&context.disabled, "disabled_pass")}) {
    for (const std::string& name : *list) {
      try {
        find_pass(name);
      } catch (Error& error) {
        error.add_prefix(fmt::format("PassContext: {}", what));
        throw;
      }
    }
  }
  check_config(context.config);
}

Pipeline default_pipeline() {
  return {
      {&find_pass("resolve_extern_funcs"), {}},    // 0  calls name the function they call
      {&find_pass("lambda_lift"), {}},             // 0  local functions become functions of the module
      {&find_pass("require_extents"), {}},         // 0  states the requirements of the user's operators
      {&find_pass("to_dataflow"), {}},             // 1  the passes below work on dataflow blocks
      {&find_pass("quantize_before_moves"), {}},   // 2  bytes that products read are made early
      {&find_pass("integer_products"), {}},        // 2  before weights are folded to floats
      {&find_pass("fuse_dequantize_matmul"), {}},  // 2  before weights are folded to floats
      {&find_pass("fold_constant"), {}},      // 1  weights that are permuted or converted become constants
      {&find_pass("remove_identities"), {}},  // 1
      {&find_pass("fold_batch_norm"), {}},    // 2  leaves new arithmetic on constants
      {&find_pass("dead_code_elimination"), {}},   // 1  drops convolutions without their scales
      {&find_pass("fold_constant"), {}},           // 1  scales the weights; unscaled weights are dropped
      {&find_pass("split_transposed_convs"), {}},  // 2  leaves permutes, and ordinary convolutions
      {&find_pass("convert_layout"), {}},          // 2  channels last; adds permutes of weights
      {&find_pass("fold_constant"), {}},           // 1  permutes the weights
      {&find_pass("remove_identities"), {}},       // 1  permutes that cancel out
      {&find_pass("dead_code_elimination"), {}},  // 1  drop dead values so that they do not influence layouts
      {&find_pass("split_transposed_convs"), {}},  // 2  reads what a permute would only move
      {&find_pass("quantize_weights"), {}},        // 0  weights are in their final layout
      {&find_pass("fuse_dequantize_matmul"), {}},  // 2
      {&find_pass("fuse_attention"), {}},          // 2  attention keeps its dtype
      {&find_pass("precision"), {}},               // 0  rounds weights
      {&find_pass("sink_reshapes"), {}},           // 2  gives products and the operators after them one shape
      {&find_pass("remove_identities"), {}},       // 1  views of views
      {&find_pass("eliminate_common_subexpr"), {}},  // 1  equal views for all users of a value
      {&find_pass("winograd"), {}},                  // 2  needs constant weights, channels last
      {&find_pass("legalize_ops"), {}},              // 0  from here on computation is in loop programs
      {&find_pass("dead_code_elimination"), {}},     // 1  unused values would prevent fusion
      {&find_pass("fuse_ops"), {}},                  // 2
      {&find_pass("fuse_tir"), {}},                  // 2
      {&find_pass("alias_slices"), {}},              // 2  programs do not change any more
      {&find_pass("dead_code_elimination"), {}},     // 1  programs that were merged into others
  };
}

Pipeline lowering_pipeline() {
  return {
      {&find_pass("to_non_dataflow"), {}},           // the following statements have effects
      {&find_pass("call_tir_rewrite"), {}},          // every tensor is allocated by a statement
      {&find_pass("static_plan_block_memory"), {}},  // tensors that do not outlive the call, in one storage
      {&find_pass("kill_after_last_use"), {}},       // frees the others early
      {&find_pass("lower_runtime_builtin"), {}},
  };
}

}  // namespace tilewright::relax
