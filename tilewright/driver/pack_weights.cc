#include "tilewright/driver/pack_weights.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tilewright/ir/pass.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/schedule/default/extent_plans.h"

namespace tilewright::driver {
namespace {

using relax::CallNode;
using relax::ConstantNode;
using schedule::PanelLayout;

// The loop program that `call` calls, and its arguments; null for other calls.
struct TirCall {
  const ir::GlobalVarNode* callee = nullptr;
  const relax::TupleNode* args = nullptr;
};
TirCall tir_call(const CallNode* call) {
  const std::string_view name = relax::op_name(call);
  if ((name != "relax.call_tir" && name != "relax.call_tir_inplace") || call->args.size() < 2) return {};
  return {call->args[0].as<ir::GlobalVarNode>(), call->args[1].as<relax::TupleNode>()};
}

bool is_weight(const relax::Expr& arg) {
  const auto* constant = arg.as<ConstantNode>();
  return constant && constant->data.ndim() > 1 && constant->data.dtype().bits % 8 == 0;
}

/// For each loop program that only the graph calls: which of its parameters are constants in all calls.
using Weights = std::map<std::string, std::vector<bool>>;

Weights weights_of(const ir::IRModule& module) {
  Weights weights;
  std::map<std::string, int> num_mentions;  // mentions other than as a callee
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

// A loop over elements of a weight in the order of panels, innermost last.
struct PanelLoop {
  int64_t extent, step;  // step: in elements of the weight
};

// W[a, ..., k, ..., j] in the order of PanelLayout; the last panel is padded with 0.
runtime::Tensor in_panels(const runtime::Tensor& weight, const PanelLayout& layout) {
  const runtime::ShapeView shape = weight.shape();
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size() - 1; dim > 0; --dim) strides[dim - 1] = strides[dim] * shape[dim];
  const int64_t columns = shape[layout.column], num_panels = (columns + layout.width - 1) / layout.width;
  std::vector<PanelLoop> loops;
  runtime::Shape panels;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim == layout.outside) panels.push_back(num_panels);
    if (dim == layout.column) continue;
    const int64_t group = dim == layout.grouped ? layout.group : 1;
    loops.push_back({shape[dim] / group, strides[dim] * group});
    panels.push_back(shape[dim] / group);
  }
  panels.push_back(layout.width);
  if (layout.group > 1) panels.push_back(layout.group);
  runtime::Tensor result = runtime::Tensor::zeros(panels, weight.dtype());
  const int64_t item = weight.dtype().num_bytes();
  const auto* from = static_cast<const std::byte*>(weight.data());
  auto* to = static_cast<std::byte*>(result.data());
  const int64_t column_step = strides[layout.column], group_step = strides[layout.grouped];
  const auto copy_columns = [&](int64_t at, int64_t count) {
    if (layout.group == 1 && column_step == 1) {
      std::memcpy(to, from + at * item, static_cast<size_t>(count * item));
    } else {
      for (int64_t n = 0; n < count * layout.group; ++n)
        std::memcpy(to + n * item,
                    from + (at + n / layout.group * column_step + n % layout.group * group_step) * item,
                    static_cast<size_t>(item));
    }
    to += layout.width * layout.group * item;
  };
  loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(layout.outside),
               {num_panels, layout.width * column_step});
  const auto copy = [&](const auto& self, size_t depth, int64_t at, int64_t count) -> void {
    if (depth == loops.size()) return copy_columns(at, count);
    for (int64_t n = 0; n < loops[depth].extent; ++n) {
      const int64_t left = depth == layout.outside ? columns - n * layout.width : count;
      self(self, depth + 1, at + n * loops[depth].step, std::min(layout.width, left));
    }
  };
  copy(copy, 0, 0, layout.width);
  return result;
}

/// Packs constants into panels, each once per layout.
class PanelMaker {
 public:
  relax::Constant get(const relax::Expr& weight, const PanelLayout& layout) {
    const auto [width, column, group, grouped, outside] = layout;
    auto& [source, panels] = made_[{weight.get(), width, column, group, grouped, outside}];
    if (!panels)
      source = weight, panels = relax::make_constant(in_panels(weight.as<ConstantNode>()->data, layout));
    return panels;
  }

 private:
  using Key = std::tuple<const ir::Object*, int64_t, size_t, int64_t, size_t, size_t>;
  std::map<Key, std::pair<relax::Expr, relax::Constant>> made_;
};

/// The panel layouts of the loop programs whose weights are packed, by parameter.
using Layouts = std::map<std::string, std::vector<PanelLayout>, std::less<>>;

// `call` with the constants packed as `layouts` requires for its callee.
relax::Expr with_panels(const relax::Call& call, const Layouts& layouts, PanelMaker& maker) {
  const auto [callee, args] = tir_call(call.get());
  const auto found = callee ? layouts.find(callee->name_hint) : layouts.end();
  if (found == layouts.end()) return call;
  std::vector<relax::Expr> packed = args->elements;
  for (size_t n = 0; n < packed.size(); ++n) {
    if (found->second[n].width > 0) packed[n] = maker.get(packed[n], found->second[n]);
  }
  return with(call,
              [&](CallNode& changed) { changed.args[1] = relax::Tuple(relax::TupleNode::make(packed)); });
}

// The number of bytes of constants that each loop program of `layouts` is called with.
std::map<std::string_view, int64_t> bytes_of(const ir::IRModule& module, const Layouts& layouts) {
  std::map<std::string_view, int64_t> bytes;
  for (const ir::BaseFunc& func : module->functions) {
    ir::walk(func, [&](const CallNode* call) {
      const auto [callee, args] = tir_call(call);
      const auto found = callee ? layouts.find(callee->name_hint) : layouts.end();
      if (found == layouts.end()) return;
      for (const relax::Expr& arg : args->elements) {
        if (const auto* constant = arg.as<ConstantNode>()) bytes[found->first] += constant->data.num_bytes();
      }
    });
  }
  return bytes;
}

// Splits `layouts` into groups to be packed one after the other, so that not all constants exist in both
// forms at once.
std::vector<Layouts> groups_of(const ir::IRModule& module, const Layouts& layouts) {
  constexpr int64_t kGroupBytes = int64_t{32} << 20;
  std::map<std::string_view, int64_t> bytes = bytes_of(module, layouts);
  std::vector<Layouts> groups;
  int64_t left = 0;
  for (const auto& [name, layout] : layouts) {
    if (left <= 0) groups.emplace_back(), left = kGroupBytes;
    groups.back().emplace(name, layout);
    left -= bytes[name];
  }
  return groups;
}

}  // namespace

ir::IRModule pack_weights(ir::IRModule module, const target::Features& features) {
  Layouts layouts;
  for (auto& [name, is_constant] : weights_of(module)) {
    const auto func = ir::ref_as<tir::PrimFuncNode>(module->find(name));
    is_constant.resize(func->params.size());  // the parameters after the arguments are outputs
    schedule::PackedWeights packed = schedule::pack_weights_of_plans(func, is_constant, features);
    if (packed.func == func) continue;
    module = ir::with_function(module, name, packed.func);
    layouts[name] = std::move(packed.layouts);
  }
  for (const Layouts& group : groups_of(module, layouts)) {
    PanelMaker maker;
    module = ir::map_functions<relax::FunctionNode>(module, [&](const relax::Function& func) {
      return ir::rewrite(func, [&](auto& self, const CallNode* node) -> relax::Expr {
        return with_panels(self.children(node), group, maker);
      });
    });
  }
  return module;
}

}  // namespace tilewright::driver
