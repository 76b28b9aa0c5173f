#include "tilewright/driver/pack_weights.h"

#include <cstring>
#include <map>

#include "tilewright/ir/pass.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/liveness.h"
#include "tilewright/relax/type_util.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::driver {
namespace {

using relax::CallNode;
using relax::ConstantNode;

// The loop program that `call` calls by call_tir, and what it passes; null for other calls.
struct TirCall {
  const ir::GlobalVarNode* callee = nullptr;
  const relax::TupleNode* args = nullptr;
};
TirCall tir_call(const CallNode* call) {
  if (relax::op_name(call) != "relax.call_tir" || call->args.size() < 2) return {};
  return {call->args[0].as<ir::GlobalVarNode>(), call->args[1].as<relax::TupleNode>()};
}

bool is_weight(const relax::Expr& arg) {
  const auto* constant = arg.as<ConstantNode>();
  return constant && constant->data.ndim() > 1 && constant->data.dtype().bits % 8 == 0;
}

/// Of the loop programs that only the graph calls: for each parameter whether it is a constant in all calls.
using Weights = std::map<std::string, std::vector<bool>>;

Weights weights_of(const ir::IRModule& module) {
  Weights weights;
  std::map<std::string, int> num_mentions;  // other than as a callee
  for (const ir::BaseFunc& func : module->functions) {
    ir::walk(func, [&](const ir::GlobalVarNode* name) { ++num_mentions[name->name_hint]; });
    ir::walk(func, [&](const CallNode* call) {
      const auto [callee, args] = tir_call(call);
      if (!callee || !args) return;
      --num_mentions[callee->name_hint];
      std::vector<bool> is_constant(args->elements.size());
      for (size_t n = 0; n < is_constant.size(); ++n) is_constant[n] = is_weight(args->elements[n]);
      const auto [known, is_new] = weights.try_emplace(callee->name_hint, is_constant);
      if (is_new) return;
      for (size_t n = 0; n < std::min(is_constant.size(), known->second.size()); ++n)
        known->second[n] = known->second[n] && is_constant[n];
    });
  }
  std::erase_if(weights, [&](const auto& entry) {
    const auto func = ir::ref_as<tir::PrimFuncNode>(module->find(entry.first));
    return !func || func->attrs.get("global_symbol") || num_mentions[entry.first] != 0 ||
           std::find(entry.second.begin(), entry.second.end(), true) == entry.second.end();
  });
  return weights;
}

// W[..., j] as W[j // width, ..., j % width]; the last panel is filled with zeros.
runtime::Tensor in_panels(const runtime::Tensor& weight, int64_t width) {
  const runtime::ShapeView shape = weight.shape();
  size_t last = shape.size() - 1;
  while (last > 0 && shape[last] == 1) --last;
  const int64_t num_columns = shape[last], num_panels = (num_columns + width - 1) / width;
  const int64_t num_rows = weight.num_elements() / std::max<int64_t>(num_columns, 1);
  runtime::Shape panels{num_panels};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim != last) panels.push_back(shape[dim]);
  }
  panels.push_back(width);
  runtime::Tensor result = runtime::Tensor::zeros(panels, weight.dtype());
  const int64_t item = weight.dtype().num_bytes();
  const auto* from = static_cast<const std::byte*>(weight.data());
  auto* to = static_cast<std::byte*>(result.data());
  for (int64_t panel = 0; panel < num_panels; ++panel) {
    const int64_t begin = panel * width, count = std::min(width, num_columns - begin);
    for (int64_t row = 0; row < num_rows; ++row)
      std::memcpy(to + (panel * num_rows + row) * width * item, from + (row * num_columns + begin) * item,
                  static_cast<size_t>(count * item));
  }
  return result;
}

/// Constants in panels, each made once.
class PanelMaker {
 public:
  relax::Constant get(const relax::Expr& weight, int64_t width) {
    auto& [source, panels] = made_[{weight.get(), width}];
    if (!panels)
      source = weight, panels = relax::make_constant(in_panels(weight.as<ConstantNode>()->data, width));
    return panels;
  }

 private:
  std::map<std::pair<const ir::Object*, int64_t>, std::pair<relax::Expr, relax::Constant>> made_;
};

}  // namespace

ir::IRModule pack_weights(const ir::IRModule& module, const schedule::Machine& machine) {
  ir::IRModule result = module;
  std::map<std::string, std::vector<int64_t>, std::less<>> widths;
  for (auto& [name, is_constant] : weights_of(module)) {
    const auto func = ir::ref_as<tir::PrimFuncNode>(module->find(name));
    is_constant.resize(func->params.size());  // what follows are outputs
    schedule::PackedWeights packed = schedule::pack_weights(func, is_constant, machine);
    if (packed.func == func) continue;
    result = ir::with_function(result, name, packed.func);
    widths[name] = std::move(packed.panel_widths);
  }
  if (widths.empty()) return module;
  PanelMaker maker;
  return ir::map_functions<relax::FunctionNode>(result, [&](const relax::Function& func) {
    return ir::rewrite(func, [&](auto& self, const CallNode* node) -> relax::Expr {
      const relax::Call call = self.children(node);
      const auto [callee, args] = tir_call(call.get());
      const auto found = callee ? widths.find(callee->name_hint) : widths.end();
      if (found == widths.end()) return call;
      std::vector<relax::Expr> packed = args->elements;
      for (size_t n = 0; n < packed.size(); ++n) {
        if (found->second[n] > 0) packed[n] = maker.get(packed[n], found->second[n]);
      }
      return with(call,
                  [&](CallNode& changed) { changed.args[1] = relax::Tuple(relax::TupleNode::make(packed)); });
    });
  });
}

}  // namespace tilewright::driver
