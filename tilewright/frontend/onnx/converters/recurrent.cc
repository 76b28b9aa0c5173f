// RNN, GRU and LSTM: the products of all time steps with the input are one product before a loop over time; one
// step, or few, are written one after the other.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <algorithm>
#include <numeric>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/graphs/recurrent_weights.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr int64_t kMostStepsWithoutLoop = 4;

Expr int_shape(const std::vector<int64_t>& values) { return relax::shape_expr(relax::extents(values)); }

// The states after `step`: those of sequences that are over stay.  Sets *shown to h, 0 for those.
std::vector<Expr> masked(const Emit& emit, const Expr& step, const Expr& lengths,
                         const std::vector<Expr>& next, const std::vector<Expr>& before, Expr* shown) {
  const Expr runs = emit(relax::call_op("relax.less", {step, lengths}));
  const auto choose = [&](const Expr& value, const Expr& otherwise) {
    return emit(relax::call_op("relax.where", {runs, value, otherwise}));
  };
  *shown = choose(next[0], number(0, relax::dtype_of(next[0])));
  std::vector<Expr> states;
  for (size_t n = 0; n < next.size(); ++n) states.push_back(choose(next[n], before[n]));
  return states;
}

/// A node whose input has been brought into the order [time, batch, input].
class Layer {
 public:
  Layer(Importer& importer, const Node& node, CellKind kind);
  void convert();

 private:
  /// What one direction computes: h of all steps [time, batch, hidden], if it is wanted, and the last states.
  struct Outcome {
    Expr all;
    std::vector<Expr> states;
  };
  /// A direction under way.
  struct Direction {
    int64_t index;
    bool is_reverse;
    Cell cell;
    Expr input = {};  // its share in the gates, [time * batch, gates * hidden]
    std::vector<Expr> weights = {}, states = {};
  };

  Expr bind(std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {}) const {
    return importer_.bind(node_, op, std::move(args), std::move(attrs));
  }
  Expr reshaped(const Expr& value, relax::Shape shape) const {
    return importer_.reshaped(node_, value, shape);
  }
  Expr initial(size_t input, int64_t index) const;
  Expr in_order(const Expr& value, bool is_reverse) const;
  Outcome run(int64_t index);
  Outcome unrolled(Direction& direction) const;
  Outcome looped(const Direction& direction);
  ir::GlobalVar body_of(const Direction& direction, const std::vector<Expr>& captured);
  void define_output(size_t output, const std::vector<Expr>& parts, int64_t axis);
  bool is_wanted(size_t output) const {
    return output < node_.outputs.size() && !node_.outputs[output].empty();
  }
  bool is_layout_1() const { return int_attr(node_, "layout", 0) == 1; }

  Importer& importer_;
  const Node& node_;
  CellKind kind_;
  std::string direction_;
  DataType given_, dtype_;
  ir::PrimExpr time_, batch_;
  int64_t hidden_ = 0, num_directions_ = 1;
  Expr x_, lengths_, column_;  // the number of steps of each sequence: [batch], [batch, 1]; null: all
};

Layer::Layer(Importer& importer, const Node& node, CellKind kind)
    : importer_(importer), node_(node), kind_(kind), direction_(string_attr(node, "direction", "forward")) {
  require_known_text("direction", direction_, {"forward", "reverse", "bidirectional"});
  num_directions_ = direction_ == "bidirectional" ? 2 : 1;
  const Expr x = importer.value(node, 0);
  given_ = relax::dtype_of(x);
  x_ = widened(importer, x);
  dtype_ = relax::dtype_of(x_);
  if (shape_of(node, x_).size() != 3)
    throw UserError("input 0 has {}, expected 3", count_text(shape_of(node, x_).size(), "dimension"));
  if (is_layout_1()) x_ = bind("relax.permute_dims", {x_}, {{"axes", attr(std::vector<int64_t>{1, 0, 2})}});
  const relax::Shape shape = shape_of(node, x_);
  time_ = shape[0], batch_ = shape[1];
  const Cell cell{.kind = kind};
  const auto recurrent = relax::constant_shape(importer.value(node, 2));
  if (!recurrent || recurrent->size() != 3)
    throw Unsupported("the shape of R is {}, expected three known extents",
                      relax::type_text(relax::type_of(importer.value(node, 2))))
        .help("give the weights shapes where the model is exported");
  hidden_ = int_attr(node, "hidden_size", recurrent->at(2));
  const std::vector<int64_t> expected{num_directions_, cell.num_gates() * hidden_, hidden_};
  if (*recurrent != expected)
    throw UserError("R is {}, expected {} for hidden_size {} and direction \"{}\"",
                    relax::shape_text(relax::extents(*recurrent)),
                    relax::shape_text(relax::extents(expected)), hidden_, direction_);
  lengths_ = importer.value(node, 4);
  if (!lengths_) return;
  lengths_ = bind("relax.require_range",
                  {reshaped(bound_as(importer, lengths_, kInt64), {batch_}),
                   scalar_value(relax::extent_imm(0)), scalar_value(relax::as_extent(time_)),
                   relax::StringValueNode::make(fmt::format("{}: sequence_lens", node.shown()))});
  column_ = reshaped(lengths_, {batch_, relax::extent_imm(1)});
}

// ---- time

// The states before the first step, [batch, hidden].
Expr Layer::initial(size_t input, int64_t index) const {
  const relax::Shape shape{batch_, relax::extent_imm(hidden_)};
  if (!importer_.has_input(node_, input))
    return bind("relax.full", {relax::shape_expr(shape), number(0, dtype_)});
  const int64_t axis = is_layout_1() ? 1 : 0;
  Expr value = importer_.value(node_, input);
  if (num_directions_ > 1)
    value =
        bind("relax.strided_slice", {value, int_shape({axis}), int_shape({index}), int_shape({index + 1})});
  return bound_as(importer_, reshaped(value, shape), dtype_);
}

// [time, batch, n] in the order in which the direction reads it: the first elements of each batch, as many as
// it has, are turned round.
Expr Layer::in_order(const Expr& value, bool is_reverse) const {
  if (!is_reverse) return value;
  if (lengths_)
    return bind("relax.reverse_sequence", {value, lengths_},
                {{"seq_axis", attr(0)}, {"batch_axis", attr(1)}});
  return bind("relax.flip", {value}, {{"axis", attr(0)}});
}

Layer::Outcome Layer::unrolled(Direction& direction) const {
  const Cell& cell = direction.cell;
  const int64_t time = ir::ref_as<ir::IntImmNode>(time_)->value;
  const Emit emit = [&](const Expr& value) { return importer_.bound(value); };
  std::vector<Expr> all(static_cast<size_t>(time));
  // sequences of other lengths are turned round before
  const bool is_backward = direction.is_reverse && !lengths_;
  for (int64_t n = 0; n < time; ++n) {
    const int64_t at = is_backward ? time - 1 - n : n;
    const auto input = [&](int64_t gate) {
      const Expr part = emit(columns(direction.input, gate * hidden_, (gate + 1) * hidden_));
      if (time == 1) return part;
      const int64_t batch = ir::ref_as<ir::IntImmNode>(batch_)->value;
      return bind("relax.strided_slice",
                  {part, int_shape({0}), int_shape({at * batch}), int_shape({(at + 1) * batch})});
    };
    std::vector<Expr> next = cell.step(emit, input, direction.states, direction.weights);
    Expr shown = next[0];
    if (column_)
      next = masked(emit, number(static_cast<double>(n), kInt64), column_, next, direction.states, &shown);
    direction.states = std::move(next);
    all[static_cast<size_t>(at)] = shown;
  }
  if (!is_wanted(0)) return {nullptr, direction.states};
  Expr whole = time == 1 ? reshaped(all[0], {time_, batch_, relax::extent_imm(hidden_)})
                         : bind("relax.stack", {relax::TupleNode::make(all)}, {{"axis", attr(0)}});
  return {lengths_ ? in_order(whole, direction.is_reverse) : whole, direction.states};
}

// The body of the loop: a private function with dimensions of its own.
ir::GlobalVar Layer::body_of(const Direction& direction, const std::vector<Expr>& captured) {
  ir::Substitution own;
  for (const auto& [extent, name] : {std::pair(time_, "time"), std::pair(batch_, "batch")}) {
    if (!is<ir::IntImmNode>(extent)) own.try_emplace(extent.get(), tir::make_var(name, kInt64));
  }
  const auto parameter = [&](const std::string& name, const Expr& value) {
    const ir::Type whole = relax::type_of(value);
    const auto* type = whole.as<relax::TensorTypeNode>();
    relax::Shape shape = *relax::known_shape(type);
    for (ir::PrimExpr& extent : shape) {
      if (own.count(extent.get())) extent = ir::ref_as<ir::PrimExprNode>(own.at(extent.get()));
    }
    return relax::Var(relax::VarNode::make(name, ir::Type(relax::tensor_type(shape, type->dtype))));
  };
  const auto scalar = [&](const char* name, DataType dtype) {
    return relax::Var(relax::VarNode::make(name, ir::Type(relax::tensor_type({}, dtype))));
  };
  const relax::Var step = scalar("step", kInt64), condition = scalar("condition", DataType::bool_());
  std::vector<relax::Var> params{step, condition};
  std::vector<Expr> states, weights = direction.weights;
  for (const Expr& state : direction.states) states.push_back(params.emplace_back(parameter("state", state)));
  const relax::Var input = params.emplace_back(parameter("input", captured[0]));
  Expr lengths;
  if (column_) lengths = params.emplace_back(parameter("lengths", captured[1]));
  for (Expr& weight : weights) {
    if (!is<relax::ConstantNode>(weight)) weight = params.emplace_back(parameter("weight", weight));
  }
  relax::BlockBuilder builder;
  const auto write = [&] {
    std::vector<Expr> results{condition};
    builder.dataflow([&] {
      const Emit emit = [&](const Expr& value) { return Expr(builder.emit(value)); };
      const auto share = [&](int64_t gate) {
        const Expr part = emit(columns(input, gate * hidden_, (gate + 1) * hidden_));
        return emit(relax::call_op("relax.take", {part, step}, {{"axis", attr(0)}}));
      };
      std::vector<Expr> next = direction.cell.step(emit, share, states, weights);
      Expr shown = next[0];
      if (lengths) next = masked(emit, step, lengths, next, states, &shown);
      if (is_wanted(0)) next.push_back(shown);
      for (const Expr& value : next) results.push_back(builder.emit_output(value));
    });
    builder.emit_func_output(relax::TupleNode::make(results));
  };
  builder.function("step", params, write, {.is_private = true});
  const std::string_view names[] = {"rnn_step", "gru_step", "lstm_step"};
  return importer_.builder.add_func(builder.get()->lookup("step"),
                                    std::string(names[static_cast<size_t>(kind_)]));
}

Layer::Outcome Layer::looped(const Direction& direction) {
  const relax::Shape shape{time_, batch_, relax::extent_imm(direction.cell.num_gates() * hidden_)};
  std::vector<Expr> captured{reshaped(direction.input, shape)};
  if (column_) captured.push_back(column_);
  const ir::GlobalVar body = body_of(direction, captured);
  for (const Expr& weight : direction.weights) {
    if (!is<relax::ConstantNode>(weight)) captured.push_back(weight);
  }
  const Expr no_condition = relax::TupleNode::make(std::vector<Expr>{});
  const Expr out = importer_.builder.emit(relax::call_op(
      "relax.loop", {body, scalar_value(time_), no_condition, relax::TupleNode::make(direction.states),
                     relax::TupleNode::make(captured)}));
  const ir::Type whole = relax::type_of(out);
  const auto* types = whole.as<ir::TupleTypeNode>();
  std::vector<Expr> values;
  for (size_t n = 0; n < types->elements.size(); ++n)
    values.push_back(importer_.builder.emit(
        relax::TupleGetItemNode::make(out, static_cast<int64_t>(n), types->elements[n])));
  Expr all;
  if (is_wanted(0)) {
    all = values.back();
    values.pop_back();
    all = in_order(all, direction.is_reverse);
  }
  return {all, std::move(values)};
}

Layer::Outcome Layer::run(int64_t index) {
  std::vector<std::string> defaults{"Tanh"};
  if (kind_ == CellKind::kGru) defaults = {"Sigmoid", "Tanh"};
  if (kind_ == CellKind::kLstm) defaults = {"Sigmoid", "Tanh", "Tanh"};
  const auto all = activations_of(node_, defaults, static_cast<size_t>(num_directions_));
  const auto first = all.begin() + index * static_cast<int64_t>(defaults.size());
  Cell cell{.kind = kind_,
            .hidden = hidden_,
            .dtype = dtype_,
            .activations = {first, first + static_cast<int64_t>(defaults.size())},
            .clip = float_attr(node_, "clip", 0),
            .couples_forget = int_attr(node_, "input_forget", 0) == 1,
            .resets_after = int_attr(node_, "linear_before_reset", 0) == 1};
  Direction direction{.index = index, .is_reverse = direction_ == "reverse" || index == 1, .cell = cell};
  int64_t time = -1, batch = -1;
  const bool is_short = tir::as_const_int(time_, &time) && time >= 1 &&
                        (time == 1 || (time <= kMostStepsWithoutLoop && tir::as_const_int(batch_, &batch)));
  // short ones are read backward as they are
  const bool must_turn = direction.is_reverse && (lengths_ || !is_short);
  const Expr x = in_order(x_, must_turn);
  const relax::Shape shape = shape_of(node_, x);
  const Expr flat = reshaped(x, {arith::simplify(relax::num_elements({shape[0], shape[1]})), shape[2]});
  const RecurrentWeights weights(importer_, node_, direction.cell);
  direction.input = bind("relax.matmul", {flat, weights.input(index)});
  if (const Expr sum = weights.bias(index)) direction.input = bind("relax.add", {direction.input, sum});
  direction.weights = weights.of_steps(index);
  for (size_t n = 0; n < cell.num_states(); ++n) direction.states.push_back(initial(5 + n, index));
  if (time == 0) {
    const Expr none = bind(
        "relax.full", {relax::shape_expr({time_, batch_, relax::extent_imm(hidden_)}), number(0, dtype_)});
    return {none, direction.states};
  }
  return is_short ? unrolled(direction) : looped(direction);
}

// ---- outputs

// Joins the values of all directions along a new dimension.
void Layer::define_output(size_t output, const std::vector<Expr>& parts, int64_t axis) {
  if (!is_wanted(output)) return;
  Expr whole;
  if (parts.size() == 1) {
    relax::Shape shape = shape_of(node_, parts[0]);
    shape.insert(shape.begin() + axis, relax::extent_imm(1));
    whole = reshaped(parts[0], shape);
  } else {
    whole = bind("relax.stack", {relax::TupleNode::make(parts)}, {{"axis", attr(axis)}});
  }
  importer_.define(node_.outputs[output], bound_as(importer_, whole, given_));
}

void Layer::convert() {
  std::vector<Expr> all, states[2];
  for (int64_t index = 0; index < num_directions_; ++index) {
    Outcome outcome = run(index);
    if (is_wanted(0)) {
      // the shape that the loop states, also where its number of steps is not a plain dimension
      Expr steps = reshaped(outcome.all, {time_, batch_, relax::extent_imm(hidden_)});
      if (is_layout_1())
        steps = bind("relax.permute_dims", {steps}, {{"axes", attr(std::vector<int64_t>{1, 0, 2})}});
      all.push_back(steps);
    }
    for (size_t n = 0; n < outcome.states.size(); ++n) states[n].push_back(outcome.states[n]);
  }
  define_output(0, all, is_layout_1() ? 2 : 1);
  define_output(1, states[0], is_layout_1() ? 1 : 0);
  if (kind_ == CellKind::kLstm) define_output(2, states[1], is_layout_1() ? 1 : 0);
}

template <CellKind kKind>
void recurrent(Importer& importer, const Node& node) {
  Layer(importer, node, kKind).convert();
}

constexpr AttributeRule kActivationAlpha = {"activation_alpha", Attribute::kFloats},
                        kActivationBeta = {"activation_beta", Attribute::kFloats},
                        kActivations = {"activations", Attribute::kStrings},
                        kClip = {"clip", Attribute::kFloat, 0},
                        kDirection = {"direction", Attribute::kString},
                        kHiddenSize = {"hidden_size", Attribute::kInt, 1, kMostExtent},
                        kLayout = flag("layout", 14),
                        kSequence = flag("output_sequence", kFirstOpset, 6);  // says no more than outputs do
constexpr AttributeRule kRnn[] = {kActivationAlpha, kActivationBeta, kActivations, kClip,
                                  kDirection,       kHiddenSize,     kLayout,      kSequence};
constexpr AttributeRule kGru[] = {kActivationAlpha,
                                  kActivationBeta,
                                  kActivations,
                                  kClip,
                                  kDirection,
                                  kHiddenSize,
                                  kLayout,
                                  kSequence,
                                  flag("linear_before_reset")};
constexpr AttributeRule kLstm[] = {kActivationAlpha,    kActivationBeta, kActivations, kClip,
                                   kDirection,          kHiddenSize,     kLayout,      kSequence,
                                   flag("input_forget")};

constexpr ConverterRow kRows[] = {
    {"GRU", recurrent<CellKind::kGru>, 3, 6, kGru, 2, kFirstOpset, kLastOpset, 2, 0},
    {"LSTM", recurrent<CellKind::kLstm>, 3, 8, kLstm, 3, kFirstOpset, kLastOpset, 3, 0},
    {"RNN", recurrent<CellKind::kRnn>, 3, 6, kRnn, 2, kFirstOpset, kLastOpset, 2, 0},
};

}  // namespace

extern constinit const ConverterTable recurrent_info = {kRows};

}  // namespace tilewright::frontend::onnx
