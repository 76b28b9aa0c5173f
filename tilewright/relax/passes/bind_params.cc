// Replaces parameters by constants:
//   def main(x, w): ...  with w = [...]  ->  def main(x): ... R.const([...]) ...
// Dimensions that only the constant's shape defines are replaced by its extents everywhere.
#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {
namespace {

struct Options {
  std::string func_name = "main";
  Dict params;
  static constexpr auto fields() {
    return std::tuple{field<&Options::func_name>("func_name", "the function whose parameters are bound"),
                      field<&Options::params>("params", "{parameter name: constant}")};
  }
};

const Var& find_param(const Function& func, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Var& param : func->params) {
    if (param->name_hint == name) return param;
    names.push_back(param->name_hint);
  }
  throw UserError(func, "the function has no parameter \"{}\"", name)
      .help("{}", nearest_names_text(name, names));
}

// Checks `data` against the parameter's type and maps the symbolic dimensions of the type to its extents.
void match(const Var& param, const runtime::Tensor& data, Substitution* dims) {
  const auto* type = param->type.as<TensorTypeNode>();
  const auto* shape = type ? type->shape.as<ShapeExprNode>() : nullptr;
  const auto refuse = [&] {
    throw UserError(param, "parameter {} is {}, but the value is {}", param->name_hint,
                    short_type(param->type), type_str(data));
  };
  if (!type || (!type->dtype.is_void() && type->dtype != data.dtype())) refuse();
  if (!shape) return;
  if (shape->values.size() != static_cast<size_t>(data.ndim())) refuse();
  for (size_t axis = 0; axis < shape->values.size(); ++axis) {
    const int64_t extent = data.shape()[axis];
    if (const auto* var = shape->values[axis].as<tir::VarNode>()) {
      auto [known, is_new] = dims->try_emplace(var, tir::imm(extent, var->dtype));
      if (!is_new && !tir::is_const_int(ref_as<PrimExprNode>(known->second), extent)) refuse();
    } else if (is<IntImmNode>(shape->values[axis]) && !tir::is_const_int(shape->values[axis], extent)) {
      refuse();
    }
  }
}

Function bound(const Function& func, const std::vector<std::pair<std::string, runtime::Tensor>>& params) {
  Substitution values, dims;
  std::vector<Var> rest = func->params;
  for (const auto& [name, data] : params) {
    const Var param = find_param(func, name);
    match(param, data, &dims);
    values[param.get()] = make_constant(data);
    rest.erase(std::find(rest.begin(), rest.end(), param));
  }
  if (params.empty()) return func;
  Function result = with(func, [&](FunctionNode& changed) {
    changed.params = rest;
    changed.type = nullptr;
  });
  result = substitute(result, values);
  result = substitute(result, dims);
  return BlockBuilder().normalize_function(result);
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  const Function func = ref_as<FunctionNode>(module->lookup(options.func_name));
  if (!func) throw UserError("\"{}\" is not a graph function", options.func_name);
  std::vector<std::pair<std::string, runtime::Tensor>> params;
  if (options.params) {
    for (const auto& [name, value] : options.params->items) {
      const auto* constant = value.as<ConstantNode>();
      if (!constant) throw UserError("the value of \"{}\" is not a constant", name);
      params.emplace_back(name, constant->data);
    }
  }
  return with_function(module, options.func_name, bound(func, params));
}

}  // namespace

Function bind_params(const Function& func,
                     const std::vector<std::pair<std::string, runtime::Tensor>>& params) {
  try {
    return bound(func, params);
  } catch (Error& error) {
    error.add_prefix("bind_params");
    throw;
  }
}

extern constinit const PassInfo bind_params_info =
    module_pass<run, Options>("bind_params", "Replaces named parameters of a function by constants.");

}  // namespace tilewright::relax
