// Replaces symbolic dimensions by constants:  x: R.Tensor(("n", 4)), n = 7  ->  x: R.Tensor((7, 4))
// All extents computed from them are simplified, and types are inferred anew.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::relax {
namespace {

struct Options {
  Dict binding_map;
  std::string func_name;
  static constexpr auto fields() {
    return std::tuple{field<&Options::binding_map>("binding_map", "{name of a dimension: its extent}"),
                      field<&Options::func_name>(
                          "func_name", "the function to change; empty: every one with such dimensions")};
  }
};

std::vector<const tir::VarNode*> dims_of(const Function& func) {
  std::vector<const tir::VarNode*> dims;
  for (const Var& param : func->params) collect_defined_dims(param->type, &dims);
  return dims;
}

PrimExpr extent_of(const std::string& name, const ObjectRef& value) {
  const auto* number = value.as<IntImmNode>();
  if (!number || number->dtype.is_bool())
    throw UserError("the extent of dimension \"{}\" is not an integer", name);
  if (number->value < 0) throw UserError("dimension \"{}\" cannot be {}", name, number->value);
  return extent_imm(number->value);
}

// `func` with simplified extents, and without the types of calls, which are inferred anew from them.
Function untyped(const Function& func) {
  const auto simplified = [](const Shape& shape) {
    Shape result;
    for (const PrimExpr& extent : shape) result.push_back(arith::simplify(extent));
    return result;
  };
  return rewrite(
      func,
      [&](auto& self, const CallNode* node) -> Expr {
        const Call call = self.children(node);
        return with(call, [](CallNode& fresh) { fresh.type = nullptr; });
      },
      [&](auto&, const ShapeExprNode* node) -> Expr {
        const Shape shape = simplified(node->values);
        return with(node, [&](ShapeExprNode& fresh) {
          fresh.values = shape;
          fresh.type = shape_type(shape);
        });
      },
      [&](auto&, const ShapeTypeNode* node) -> Type {
        return with(node, [&](ShapeTypeNode& fresh) { fresh.values = simplified(node->values); });
      });
}

Function bound(const IRModule& module, const Function& func, const Dict& extents) {
  Substitution numbers;
  for (const tir::VarNode* dim : dims_of(func)) {
    for (const auto& [name, value] : extents->items) {
      if (name == dim->name_hint) numbers[dim] = tir::cast(dim->dtype, extent_of(name, value));
    }
  }
  if (numbers.empty()) return func;
  return BlockBuilder(module).normalize_function(untyped(substitute(func, numbers)));
}

// Raises UserError for the first name that is no dimension of `funcs`.
void check_names(const std::vector<Function>& funcs, const Dict& extents) {
  std::vector<std::string_view> names;
  for (const Function& func : funcs) {
    for (const tir::VarNode* dim : dims_of(func)) names.push_back(dim->name_hint);
  }
  for (const auto& [name, value] : extents->items) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UserError("no parameter has a dimension called \"{}\"", name)
          .help("{}", nearest_names_text(name, names));
  }
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  if (!options.binding_map) return module;
  std::vector<Function> funcs;
  for (const BaseFunc& func : module->functions) {
    if (is<FunctionNode>(func)) funcs.push_back(ref_as<FunctionNode>(func));
  }
  if (!options.func_name.empty()) {
    funcs = {ref_as<FunctionNode>(module->lookup(options.func_name))};
    if (!funcs[0]) throw UserError("\"{}\" is not a graph function", options.func_name);
  }
  check_names(funcs, options.binding_map);
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const bool is_meant = std::find(funcs.begin(), funcs.end(), func) != funcs.end();
    return is_meant ? bound(module, func, options.binding_map) : func;
  });
}

}  // namespace

extern constinit const PassInfo bind_symbolic_vars_info = module_pass<run, Options>(
    "bind_symbolic_vars", "Replaces named symbolic dimensions of parameters by constants.");

}  // namespace tilewright::relax
