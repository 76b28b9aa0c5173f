// Fuses product, softmax and product into attention, whose scores stay in near caches.
//   scores = R.matmul(q, k); scaled = R.multiply(scores, c); masked = R.add(scaled, mask)
//   weights = R.nn.softmax(masked); y = R.matmul(weights, v)
//   ->  y = R.nn.attention_einsum(q, k, v, mask, subscripts="bhsd,bhdt,bhte,11st->bhse", scale=c)
// Scale and mask are optional.  The scale may be a factor or divisor of the scores, of q or of k (from 2^-20
// to 2^20).  q, k and v are read in their original layout: their permutes, and a permute of the result that
// is its only use, become part of the subscripts; dimensions of extent 1 may be inserted or removed.  A
// constant mask is permuted here.
// Conditions: float32 or float64, in a dataflow block, scores and weights have no other use, and attention in
// blocks of queries is faster: most vector lanes hold a query (or there are few queries, for which separate
// products are slow), and all of the batch shares a mask.  Precision policies run later and do not change it.
#include <cmath>
#include <unordered_map>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/te/topi/attention.h"

namespace tilewright::relax {
namespace {

struct Options {
  double min_used_lanes = 0.88;
  int64_t max_few = 16;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::min_used_lanes>("min_used_lanes", "least share of lanes that hold a query"),
        field<&Options::max_few>("max_few", "number of queries up to which lanes may be idle")};
  }
};

/// A value and the letter of each of its dimensions; 1 for dimensions of extent 1.
struct Operand {
  Expr value;
  std::string letters;
};

std::string without_ones(std::string letters) {
  std::erase(letters, '1');
  return letters;
}

// The letters of a view of shape `to`, which may differ only in dimensions of extent 1; nullopt if it does
// otherwise.
std::optional<std::string> letters_of_view(const std::string& letters, const Shape* from, const Shape* to) {
  if (!from || !to || from->size() != letters.size()) return std::nullopt;
  Shape extents;
  for (size_t dim = 0; dim < letters.size(); ++dim) {
    if (letters[dim] != '1' && tir::is_one((*from)[dim])) return std::nullopt;  // ambiguous position
    if (letters[dim] != '1') extents.push_back((*from)[dim]);
  }
  const std::string rest = without_ones(letters);
  std::string result;
  size_t next = 0;
  for (const PrimExpr& extent : *to) {
    if (tir::is_one(extent)) {
      result += '1';
      continue;
    }
    if (next == rest.size() || equal_extents(extents[next], extent) != Answer::kYes) return std::nullopt;
    result += rest[next++];
  }
  return next == rest.size() ? std::optional(result) : std::nullopt;
}

// The letters of an operand of shape `shape` that broadcasts to `letters`; "" if it does not.
std::string letters_of_broadcast(const std::string& letters, const Shape* shape) {
  if (!shape || shape->size() > letters.size()) return "";
  std::string own = letters.substr(letters.size() - shape->size());
  for (size_t dim = 0; dim < own.size(); ++dim) {
    if (tir::is_one((*shape)[dim]))
      own[dim] = '1';
    else if (own[dim] == '1')
      return "";
  }
  return own;
}

// The computation between the two products.
struct Scores {
  const CallNode* products = nullptr;
  double scale = 1;
  Expr bias;
  std::string bias_letters, letters;  // `letters`: of the scores, as the last value has them
};

template <class T>
void swap_last(const runtime::Tensor& from, runtime::Tensor& to, int64_t rows, int64_t columns) {
  const T* source = from.data_as<T>();
  T* target = to.data_as<T>();
  for (int64_t first = 0; first < from.num_elements(); first += rows * columns) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column)
        target[first + column * rows + row] = source[first + row * columns + column];
    }
  }
}

class Attentions {
 public:
  Attentions(const Function& func, const Options& options) : options_(options), num_uses_(count_uses(func)) {}

  void begin_block() {
    calls_.clear();
    fused_.clear();
  }

  /// The new value of `var`: `value` itself if it is not the end of an attention.
  Expr visit(const AnyVar& var, const Expr& value) {
    const auto* call = value.as<CallNode>();
    if (!call) return value;
    Expr result = value;
    const std::string_view name = op_name(call);
    if (name == "relax.matmul")
      if (const Expr fused = attention(call)) result = fused_[var.get()] = fused;
    if (name == "relax.permute_dims") result = permuted(call, value);
    calls_[var.get()] = Call(call);
    return result;
  }

 private:
  const CallNode* call_of(const Expr& value) const {
    const auto found = calls_.find(value.get());
    return found == calls_.end() ? nullptr : found->second.get();
  }
  // The same if it has no other use.
  const CallNode* own_call_of(const Expr& value) const {
    const auto uses = num_uses_.find(value.as<VarBaseNode>());
    return uses != num_uses_.end() && uses->second == 1 ? call_of(value) : nullptr;
  }

  static bool is_plain_matmul(const CallNode* call) {
    const DataType dtype = dtype_of(call->args[0]);
    const Type type = type_of(Call(call));
    const auto* result = type.as<TensorTypeNode>();
    return op_name(call) == "relax.matmul" && dtype_of(call->args[1]) == dtype && result &&
           result->dtype == dtype;
  }

  // The constant factor that `call` multiplies an operand by; *other is the position of that operand.
  static std::optional<double> factor_of(const CallNode* call, size_t* other) {
    const std::string_view name = op_name(call);
    const bool is_product = name == "relax.multiply", is_quotient = name == "relax.divide";
    if (!is_product && !is_quotient) return std::nullopt;
    for (size_t n : {size_t{1}, size_t{0}}) {
      if (n == 0 && is_quotient) break;
      const auto* constant = call->args[n].as<ConstantNode>();
      if (!constant || constant->data.num_elements() != 1 || known_shape(call->args[1 - n]) == nullptr ||
          constant->data.shape().size() > known_shape(call->args[1 - n])->size())
        continue;
      double number;
      if (constant->data.dtype() == kFloat32)
        number = static_cast<double>(*constant->data.data_as<float>());
      else if (constant->data.dtype() == DataType::float_(64))
        number = *constant->data.data_as<double>();
      else
        continue;
      *other = 1 - n;
      return is_product ? number : 1 / number;
    }
    return std::nullopt;
  }

  // True for factors that may be moved behind products: others may be there to keep the products finite.
  static bool is_moderate(double factor) {
    constexpr double kMost = 1 << 20;
    return std::abs(factor) <= kMost && std::abs(factor) >= 1 / kMost;
  }

  // The scores that `value` is: products that may be scaled, then masked.
  std::optional<Scores> scores_of(const Expr& value, bool may_be_masked = true) const {
    const CallNode* call = own_call_of(value);
    const Shape* shape = known_shape(value);
    if (!call || !shape) return std::nullopt;
    if (is_plain_matmul(call)) return scores_of_matmul(call, *shape);
    if (is_reshape_like(op_name(call))) {
      std::optional<Scores> scores = scores_of(call->args[0], may_be_masked);
      const auto letters =
          scores ? letters_of_view(scores->letters, known_shape(call->args[0]), shape) : std::nullopt;
      if (!letters) return std::nullopt;
      scores->letters = *letters;
      return scores;
    }
    size_t other;
    if (const std::optional<double> factor = factor_of(call, &other)) {
      std::optional<Scores> scores = scores_of(call->args[other], false);
      if (scores) scores->scale *= *factor;
      return scores;
    }
    if (op_name(call) != "relax.add" || !may_be_masked) return std::nullopt;
    for (size_t n : {size_t{0}, size_t{1}}) {
      std::optional<Scores> scores = scores_of(call->args[n], false);
      if (!scores || scores->letters.size() != shape->size()) continue;
      scores->bias = call->args[1 - n];
      scores->bias_letters = letters_of_broadcast(scores->letters, known_shape(scores->bias));
      if (!scores->bias_letters.empty() && dtype_of(scores->bias) == dtype_of(value)) return scores;
    }
    return std::nullopt;
  }

  static std::optional<Scores> scores_of_matmul(const CallNode* call, const Shape& shape) {
    const std::string_view letters = "bhacfgijklmnopqruvwxyz";
    if (shape.size() < 2 || shape.size() > letters.size()) return std::nullopt;
    Scores scores;
    scores.products = call;
    for (size_t dim = 0; dim + 2 < shape.size(); ++dim)
      scores.letters += tir::is_one(shape[dim]) ? '1' : letters[dim];
    scores.letters += "st";
    return scores;
  }

  // `operand` before views and permutes and, with `scale`, before factors, which are multiplied into it.
  Operand as_it_lies(Operand operand, double* scale = nullptr) const {
    while (const CallNode* call = call_of(operand.value)) {
      size_t other = 0;
      const std::string_view name = op_name(call);
      const auto factor = scale ? factor_of(call, &other) : std::nullopt;
      if (factor && is_moderate(*factor)) {
        *scale *= *factor;
      } else if (name == "relax.permute_dims") {
        const std::vector<int64_t> axes = permutation_of(call);
        std::string letters = operand.letters;
        for (size_t dim = 0; dim < axes.size(); ++dim)
          letters[static_cast<size_t>(axes[dim])] = operand.letters[dim];
        operand.letters = letters;
      } else if (is_reshape_like(name)) {
        const auto letters =
            letters_of_view(operand.letters, known_shape(operand.value), known_shape(call->args[0]));
        if (!letters) break;
        operand.letters = *letters;
      } else {
        break;
      }
      operand.value = call->args[other];
    }
    return operand;
  }

  // The attention whose last product is `call`, or null.
  Expr attention(const CallNode* call) {
    const CallNode* softmax = is_plain_matmul(call) ? own_call_of(call->args[0]) : nullptr;
    while (softmax && is_reshape_like(op_name(softmax))) softmax = own_call_of(softmax->args[0]);
    if (!softmax || op_name(softmax) != "relax.nn.softmax") return nullptr;
    std::optional<Scores> scores = scores_of(softmax->args[0]);
    if (!scores) return nullptr;
    const auto ndim = static_cast<int64_t>(scores->letters.size());
    int64_t axis = softmax->attrs.get_int("axis", -1);
    axis += axis < 0 ? ndim : 0;
    if (axis < 0 || axis >= ndim || scores->letters[static_cast<size_t>(axis)] != 't') return nullptr;
    const auto weights =
        letters_of_view(scores->letters, known_shape(softmax->args[0]), known_shape(call->args[0]));
    if (!weights || !weights->ends_with("st")) return nullptr;
    return of_operands(*scores, *weights, call);
  }

  Expr of_operands(const Scores& scores, const std::string& weights, const CallNode* call) {
    const std::string batch = weights.substr(0, weights.size() - 2);
    const CallNode* products = scores.products;
    const Shape *left = known_shape(products->args[0]), *right = known_shape(products->args[1]),
                *value = known_shape(call->args[1]);
    const Shape* product = known_shape(Expr(products));
    if (!left || !right || !value || !product || left->size() < 2 || right->size() < 2 || value->size() < 2)
      return nullptr;
    const PrimExpr &num_queries = (*left)[left->size() - 2], &num_keys = right->back();
    const std::string own = scores_of_matmul(products, *product)->letters;
    const std::string own_batch = own.substr(0, own.size() - 2);
    const auto letters = [](const std::string& of_batch, const char* own_letters, const Shape& shape) {
      const std::string padded =
          std::string(shape.size() < of_batch.size() + 2 ? 0 : shape.size() - 2 - of_batch.size(), '1') +
          of_batch;
      std::string result = letters_of_broadcast(padded + "..", &shape);
      return result.empty() ? result : result.substr(0, result.size() - 2) + own_letters;
    };
    constexpr double kMostScale = 0x1p120;  // a normal number of float32
    double scale = scores.scale;
    const Operand query = as_it_lies({products->args[0], letters(own_batch, "sd", *left)}, &scale);
    const Operand key = as_it_lies({products->args[1], letters(own_batch, "dt", *right)}, &scale);
    const Operand values = as_it_lies({call->args[1], letters(batch, "te", *value)});
    if (query.letters.empty() || key.letters.empty() || values.letters.empty() ||
        without_ones(query.letters).size() != without_ones(own_batch).size() + 2 ||
        !(std::abs(scale) <= kMostScale && std::abs(scale) >= 1 / kMostScale) ||
        !pays(scores, *product, num_queries, num_keys))
      return nullptr;
    const Operand bias = mask(scores);
    std::vector<Expr> args{query.value, key.value, values.value};
    std::string subscripts = query.letters + "," + key.letters + "," + values.letters;
    if (bias.value) {
      args.push_back(bias.value);
      subscripts += "," + bias.letters;
    }
    const std::string result =
        std::string(value->size() < weights.size() ? 0 : value->size() - weights.size(), '1') + batch + "se";
    return with_result(args, subscripts, result, scale, call);
  }

  bool pays(const Scores& scores, const Shape& shape, const PrimExpr& num_queries,
            const PrimExpr& num_keys) const {
    if (!topi::has_attention_blocks(dtype_of(Expr(scores.products)), num_queries, num_keys)) return false;
    bool has_own_masks = scores.bias_letters.find('s') != std::string::npos;
    has_own_masks &= without_ones(scores.bias_letters).size() > 2;
    if (has_own_masks) return false;
    PrimExpr batch = extent_imm(1);
    for (size_t dim = 0; dim + 2 < shape.size(); ++dim) batch = arith::simplify(batch * shape[dim]);
    int64_t number;
    return (tir::as_const_int(num_queries, &number) && number <= options_.max_few) ||
           topi::used_attention_lanes(num_queries, batch) >= options_.min_used_lanes;
  }

  static Call with_result(const std::vector<Expr>& args, const std::string& operands,
                          const std::string& result, double scale, const CallNode* call) {
    AttrMap attrs;
    attrs.set("subscripts", attr(operands + "->" + result));
    attrs.set("scale", attr(scale));
    return call_op("relax.nn.attention_einsum", args, attrs, call->span);
  }

  // The mask; a constant one is permuted so that queries are neighbours in memory.
  Operand mask(const Scores& scores) {
    Operand mask{scores.bias, scores.bias_letters};
    const auto* constant = mask.value.as<ConstantNode>();
    if (!constant || !mask.letters.ends_with("st")) return mask;
    mask.letters.replace(mask.letters.size() - 2, 2, "ts");
    Expr& permuted = masks_[constant];
    if (!permuted) {
      const runtime::ShapeView shape = constant->data.shape();
      std::vector<int64_t> extents(shape.begin(), shape.end());
      std::swap(extents[extents.size() - 1], extents[extents.size() - 2]);
      runtime::Tensor to = runtime::Tensor::empty(extents, constant->data.dtype());
      const int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1];
      if (constant->data.dtype() == kFloat32)
        swap_last<float>(constant->data, to, rows, columns);
      else
        swap_last<double>(constant->data, to, rows, columns);
      permuted = make_constant(to);
    }
    mask.value = permuted;
    return mask;
  }

  // A permute of an attention without other uses becomes part of it.
  Expr permuted(const CallNode* call, const Expr& value) const {
    const auto found = fused_.find(call->args[0].get());
    const auto uses = num_uses_.find(call->args[0].as<VarBaseNode>());
    if (found == fused_.end() || uses == num_uses_.end() || uses->second != 1) return value;
    const Call attention = ir::ref_as<CallNode>(found->second);
    const std::string subscripts = attention->attrs.get_string("subscripts", "");
    const size_t arrow = subscripts.find("->");
    const std::string letters = subscripts.substr(arrow + 2);
    std::string result;
    for (int64_t axis : permutation_of(call)) result += letters[static_cast<size_t>(axis)];
    return with_result(attention->args, subscripts.substr(0, arrow), result,
                       attention->attrs.get_float("scale", 1), call);
  }

  const Options options_;
  NumUses num_uses_;
  std::unordered_map<const Object*, Call> calls_;  // calls of the block, by variable
  std::unordered_map<const Object*, Expr> fused_;  // attentions
  std::unordered_map<const Object*, Expr> masks_;  // permuted masks, by constant
};

Function fuse(const Function& func, const IRModule& module, const Options& options) {
  Attentions attentions(func, options);
  const Function fused = rewrite(func, [&](auto& self, const DataflowBlockNode* block) -> BindingBlock {
    std::vector<Binding> bindings;
    bool changed = false;
    attentions.begin_block();
    for (const Binding& binding : block->bindings) {
      const auto* bound = ObjectRef(binding).as<VarBindingNode>();
      const Expr value = bound ? attentions.visit(binding->var, binding->value) : binding->value;
      changed |= value != binding->value;
      bindings.push_back(value == binding->value ? binding : with(VarBinding(bound), [&](VarBindingNode& b) {
        b.value = value;
      }));
    }
    return changed ? BindingBlock(DataflowBlockNode::make(std::move(bindings))) : BindingBlock(block);
  });
  return fused == func ? func : BlockBuilder(module).normalize_function(remove_unused(fused));
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  return map_functions<FunctionNode>(module,
                                     [&](const Function& func) { return fuse(func, module, options); });
}

}  // namespace

extern constinit const PassInfo fuse_attention_info = module_pass<run, Options>(
    "fuse_attention", "Fuses product, softmax and product into attention, without scores in memory.", 2);

}  // namespace tilewright::relax
