// Moves views of a product's result behind the elementwise operators that follow, so that these can be fused
// with the product.
//   a = R.matmul(x, w); b = R.reshape(a, (1, 99, 64)); y = R.add(b, r)      a: [99, 64]   r: [1, 99, 64]
//   ->  t = R.reshape(r, (99, 64)); s = R.add(a, t); y = R.reshape(s, (1, 99, 64))
// Exporters put such views around Gemm.  Shapes must be known.  Each other operand must be a view of the
// inner shape, have one element or only the trailing dimensions that both shapes share, or be a non-constant
// value defined before the product (an operand computed from the product, as in norms,
// could not be in its kernel).
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

using Extents = std::vector<int64_t>;

bool is_one_element(const Extents& extents) {
  return std::all_of(extents.begin(), extents.end(), [](int64_t extent) { return extent == 1; });
}

// The number of trailing dimensions that `a` and `b` have in common.
size_t num_common(const Extents& a, const Extents& b) {
  const auto differ = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<size_t>(differ.first - a.rbegin());
}

// True if element n of the result depends only on elements n of arguments of its shape, whatever that shape
// is: no argument or attribute is a shape or an axis.
bool is_elementwise(const CallNode* call) {
  const OpInfo* info = op_of(call);
  if (!info || info->pattern > FusePattern::kBroadcast || !info->lower) return false;
  const auto is_shape = [](const Expr& arg) { return is<ShapeTypeNode>(type_of(arg)); };
  if (std::any_of(call->args.begin(), call->args.end(), is_shape)) return false;
  const std::vector<OptionInfo> options = info->attrs ? info->attrs() : std::vector<OptionInfo>();
  return std::none_of(options.begin(), options.end(),
                      [](const OptionInfo& option) { return option.name == std::string_view("axis"); });
}

class Sinker {
 public:
  DataflowBlock run(const DataflowBlockNode* block) {
    bool is_changed = false;
    for (const Binding& binding : block->bindings) {
      const auto* bound = binding.as<VarBindingNode>();
      const auto* call = bound ? bound->value.as<CallNode>() : nullptr;
      const Expr value = call ? sunk(call) : Expr();
      is_changed |= static_cast<bool>(value);
      bindings_.push_back(value ? with(VarBinding(bound), [&](VarBindingNode& node) { node.value = value; })
                                : binding);
      note(bindings_.back());
    }
    return is_changed ? DataflowBlockNode::make(std::move(bindings_)) : DataflowBlock(block);
  }

 private:
  void note(const Binding& binding) {
    places_[binding->var.get()] = bindings_.size();
    const auto* call = is<VarBindingNode>(binding) ? binding->value.as<CallNode>() : nullptr;
    const OpInfo* info = call ? op_of(call) : nullptr;
    if (!info || call->args.empty()) return;
    if (is_reshape_like(info->name) && product_of(call->args[0]) && constant_shape(call->args[0]))
      views_[binding->var.get()] = call->args[0];
    if (info->pattern == FusePattern::kOutFusable) products_[binding->var.get()] = bindings_.size();
    if (!is_elementwise(call)) return;
    for (const Expr& arg : call->args) {
      if (const auto product = product_of(arg)) products_[binding->var.get()] = *product;
    }
  }

  // The position of the product that `expr` is, or that it follows elementwise.
  std::optional<size_t> product_of(const Expr& expr) const {
    const auto found = products_.find(expr.get());
    return found == products_.end() ? std::nullopt : std::optional(found->second);
  }

  bool is_there_before(const Expr& expr, size_t place) const {
    const auto found = places_.find(expr.get());
    return found == places_.end() || found->second < place;
  }

  // The value that `expr` is a view of; null if that does not follow a product.
  Expr viewed(const Expr& expr) const {
    const auto found = views_.find(expr.get());
    return found == views_.end() ? Expr() : found->second;
  }

  // The view of the same operation on the values that its arguments are views of; null if it must stay.
  Expr sunk(const CallNode* call) {
    const std::optional<Extents> shape = constant_shape(Expr(call));
    if (!shape || !is_elementwise(call)) return nullptr;
    for (const Expr& arg : call->args) {
      const Expr source = viewed(arg);
      if (!source || constant_shape(arg) != shape) continue;
      const Extents inner = *constant_shape(source);
      if (inner == *shape) continue;
      std::vector<Binding> views;
      const size_t product = *product_of(source);
      const std::optional<std::vector<Expr>> args = args_in(call, *shape, inner, product, &views);
      const Expr work = args ? typed(with(Call(call), [&](CallNode& node) { node.args = *args; })) : Expr();
      if (!work || constant_shape(work) != inner) continue;
      bindings_.insert(bindings_.end(), views.begin(), views.end());
      const Expr before = bind(work, &bindings_);
      products_[before.get()] = product;
      return view_of(before, *shape, call->span);
    }
    return nullptr;
  }

  // The arguments of `call`, whose result has the shape `outer`, for a result of the shape `inner`; new views
  // of values defined before `product` are added to `views`.
  std::optional<std::vector<Expr>> args_in(const CallNode* call, const Extents& outer, const Extents& inner,
                                           size_t product, std::vector<Binding>* views) const {
    std::vector<Expr> args;
    for (const Expr& arg : call->args) {
      const Type type = type_of(arg);
      if (!is<TensorTypeNode>(type)) {
        args.push_back(arg);
        continue;
      }
      const std::optional<Extents> shape = constant_shape(arg);
      if (!shape) return std::nullopt;
      const Expr source = viewed(arg);
      const bool fits = shape->size() <= (is_one_element(*shape) ? inner.size() : num_common(outer, inner));
      if (source && constant_shape(source) == inner)
        args.push_back(source);
      else if (fits)
        args.push_back(arg);
      else if (*shape == outer && !is<ConstantNode>(arg) && is_there_before(arg, product))
        args.push_back(bind(view_of(arg, inner, call->span), views));
      else
        return std::nullopt;
    }
    return args;
  }

  static Expr bind(const Expr& value, std::vector<Binding>* bindings) {
    const DataflowVar var = DataflowVarNode::make("lv", type_of(value));
    bindings->push_back(VarBindingNode::make(AnyVar(var), value));
    return var;
  }

  static Expr typed(const Call& call) {
    return with(call, [&](CallNode& node) { node.type = infer_type(call); });
  }

  static Expr view_of(const Expr& value, const Extents& extents, const Span& span) {
    const auto view = ref_as<CallNode>(reshaped(value, extents));
    return typed(with(view, [&](CallNode& node) { node.span = span; }));
  }

  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, size_t> places_;    // positions of bindings, by variable
  std::unordered_map<const Object*, size_t> products_;  // position of the product that a variable follows
  std::unordered_map<const Object*, Expr> views_;       // the values that variables are views of
};

Function run(const Function& func, const NoOptions&) {
  return rewrite(func, [&](auto& self, const DataflowBlockNode* node) -> DataflowBlock {
    const DataflowBlock block = self.children(node);
    return Sinker().run(block.get());
  });
}

}  // namespace

extern constinit const PassInfo sink_reshapes_info = function_pass<FunctionNode, run>(
    "sink_reshapes", "Moves views of products behind elementwise operators.", 2);

}  // namespace tilewright::relax
