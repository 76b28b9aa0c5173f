#include "tilewright/frontend/onnx/graphs/recurrent_cell.h"

#include <algorithm>
#include <cctype>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {
namespace {

Expr call(std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {}) {
  return relax::call_op(op, std::move(args), std::move(attrs));
}

/// An activation: how many of alpha and beta it has, and their defaults, those of ONNX's operators.
struct ActivationRow {
  std::string_view name, shown;
  int num_constants = 0;
  double alpha = 0, beta = 0;
};
constexpr ActivationRow kActivations[] = {
    {"affine", "Affine", 2, 1, 0},
    {"elu", "Elu", 1, 1},
    {"hardsigmoid", "HardSigmoid", 2, 0.2, 0.5},
    {"leakyrelu", "LeakyRelu", 1, 0.01},
    {"relu", "Relu"},
    {"scaledtanh", "ScaledTanh", 2, 1, 1},
    {"sigmoid", "Sigmoid"},
    {"softplus", "Softplus"},
    {"softsign", "Softsign"},
    {"tanh", "Tanh"},
    {"thresholdedrelu", "ThresholdedRelu", 1, 1},
};

const ActivationRow& row_of(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string_view> names;
  for (const ActivationRow& row : kActivations) {
    if (row.name == lower) return row;
    names.push_back(row.shown);
  }
  throw UserError("attribute \"activations\" names \"{}\"", name).help("{}", nearest_names_text(name, names));
}

// The constants of activations are in lists of those that have one, or of one for each activation.
class Constants {
 public:
  Constants(const Node& node, std::string_view name, size_t num_activations)
      : list_(node.find(name) ? node.find(name)->numbers : std::vector<double>()),
        is_for_each_(list_.size() == num_activations) {}

  double next(bool has_one, double otherwise) {
    if (!has_one && !is_for_each_) return otherwise;
    if (position_ >= list_.size()) return otherwise;
    const double value = list_[position_++];
    return has_one ? value : otherwise;
  }

 private:
  std::vector<double> list_;
  bool is_for_each_;
  size_t position_ = 0;
};

// The operators of a step, in the dtype of the cell.
struct Step {
  const Cell& cell;
  const Emit& emit;

  Expr value(double constant) const { return number(constant, cell.dtype); }
  Expr add(const Expr& a, const Expr& b) const { return emit(call("relax.add", {a, b})); }
  Expr multiply(const Expr& a, const Expr& b) const { return emit(call("relax.multiply", {a, b})); }
  Expr minimum(const Expr& a, const Expr& b) const { return emit(call("relax.minimum", {a, b})); }
  Expr maximum(const Expr& a, const Expr& b) const { return emit(call("relax.maximum", {a, b})); }
  Expr product(const Expr& a, const Expr& b) const { return emit(call("relax.matmul", {a, b})); }
  Expr one_minus(const Expr& x) const { return emit(call("relax.subtract", {value(1), x})); }
  Expr gate(const Expr& sums, int64_t n) const {
    return emit(columns(sums, n * cell.hidden, (n + 1) * cell.hidden));
  }

  Expr activated(size_t which, const Expr& x) const;
  /// f(x), with x clipped first.
  Expr gate_value(size_t which, const Expr& x) const {
    return activated(which, cell.clip > 0 ? maximum(minimum(x, value(cell.clip)), value(-cell.clip)) : x);
  }
};

Expr Step::activated(size_t which, const Expr& x) const {
  const auto& [name, alpha, beta] = cell.activations.at(which);
  if (name == "relu" || name == "softplus") return emit(call("relax.nn." + name, {x}));
  if (name == "leakyrelu") return emit(call("relax.nn.leakyrelu", {x}, {{"alpha", attr(alpha)}}));
  if (name == "affine") return add(multiply(x, value(alpha)), value(beta));
  if (name == "scaledtanh")
    return multiply(emit(call("relax.tanh", {multiply(x, value(beta))})), value(alpha));
  if (name == "hardsigmoid")
    return maximum(minimum(add(multiply(x, value(alpha)), value(beta)), value(1)), value(0));
  if (name == "softsign") return emit(call("relax.divide", {x, add(emit(call("relax.abs", {x})), value(1))}));
  if (name == "thresholdedrelu") {
    const Expr is_above = emit(call("relax.greater", {x, value(alpha)}));
    return emit(call("relax.where", {is_above, x, value(0)}));
  }
  if (name == "elu") {
    const Expr power = emit(call("relax.exp", {minimum(x, value(0))}));
    const Expr curve = multiply(emit(call("relax.subtract", {power, value(1)})), value(alpha));
    return add(curve, maximum(x, value(0)));
  }
  return emit(call("relax." + name, {x}));  // tanh, sigmoid
}

using Input = std::function<Expr(int64_t)>;

// H = f(X W + H R)
std::vector<Expr> rnn_step(const Step& s, const Input& input, const Expr& h, const Expr& recurrent) {
  return {s.gate_value(0, s.add(s.product(h, recurrent), input(0)))};
}

// H = (1 - z) * g(X W + (r * H) R) + z * H; with resets_after, r * (H R + Rb) instead of (r * H) R
std::vector<Expr> gru_step(const Step& s, const Input& input, const Expr& h,
                           const std::vector<Expr>& weights) {
  const Expr sums = s.product(h, weights[0]);
  const Expr update = s.gate_value(0, s.add(s.gate(sums, 0), input(0))),
             reset = s.gate_value(0, s.add(s.gate(sums, 1), input(1)));
  const Expr share = s.cell.resets_after ? s.multiply(reset, s.add(s.gate(sums, 2), weights[1]))
                                         : s.product(s.multiply(reset, h), weights[1]);
  const Expr candidate = s.gate_value(1, s.add(share, input(2)));
  return {s.add(s.multiply(s.one_minus(update), candidate), s.multiply(update, h))};
}

// C = f * C + i * g(..), H = o * h(C)
std::vector<Expr> lstm_step(const Step& s, const Input& input, const std::vector<Expr>& states,
                            const std::vector<Expr>& weights) {
  const Expr &h = states[0], &c = states[1];
  const Expr sums = s.product(h, weights[0]);
  const auto before = [&](int64_t gate) { return s.add(s.gate(sums, gate), input(gate)); };
  const auto with_peephole = [&](int64_t gate, size_t weight, const Expr& cell) {
    const Expr x = before(gate);
    return weights.size() == 1 ? x : s.add(x, s.multiply(weights[weight], cell));
  };
  const Expr in = s.gate_value(0, with_peephole(0, 1, c));
  const Expr forget = s.cell.couples_forget ? s.one_minus(in) : s.gate_value(0, with_peephole(2, 3, c));
  const Expr next = s.add(s.multiply(forget, c), s.multiply(in, s.gate_value(1, before(3))));
  const Expr out = s.gate_value(0, with_peephole(1, 2, next));
  return {s.multiply(out, s.activated(2, next)), next};
}

}  // namespace

Expr columns(const Expr& x, int64_t begin, int64_t end) {
  const auto list = [](int64_t value) { return relax::shape_expr({relax::extent_imm(value)}); };
  const auto last = static_cast<int64_t>(relax::known_shape(x)->size()) - 1;
  return call("relax.strided_slice", {x, list(last), list(begin), list(end)});
}

std::vector<Activation> activations_of(const Node& node, const std::vector<std::string>& defaults,
                                       size_t num_directions) {
  const Attribute* given = node.find("activations");
  std::vector<std::string> names = given ? given->texts : std::vector<std::string>();
  const size_t count = defaults.size() * num_directions;
  if (!names.empty() && names.size() != count)
    throw UserError("attribute \"activations\" has {}, expected {} for {}", count_text(names.size(), "name"),
                    count, count_text(num_directions, "direction"));
  while (names.size() < count) names.insert(names.end(), defaults.begin(), defaults.end());
  Constants alphas(node, "activation_alpha", count), betas(node, "activation_beta", count);
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const ActivationRow& row = row_of(name);
    const double alpha = alphas.next(row.num_constants > 0, row.alpha),
                 beta = betas.next(row.num_constants > 1, row.beta);
    activations.push_back({std::string(row.name), alpha, beta});
  }
  return activations;
}

std::vector<Expr> Cell::step(const Emit& emit, const std::function<Expr(int64_t)>& input,
                             const std::vector<Expr>& states, const std::vector<Expr>& weights) const {
  const Step s{*this, emit};
  if (kind == CellKind::kRnn) return rnn_step(s, input, states[0], weights[0]);
  if (kind == CellKind::kGru) return gru_step(s, input, states[0], weights);
  return lstm_step(s, input, states, weights);
}

}  // namespace tilewright::frontend::onnx
