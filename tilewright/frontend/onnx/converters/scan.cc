// Scan: a loop over slices of its inputs.  In opset 8 it is one over a batch of sequences, too.
// Source: onnx.ai/onnx/operators (Scan-8, Scan-9 and later, which differ in types only).
#include "tilewright/frontend/onnx/graphs/node_math.h"
#include "tilewright/frontend/onnx/import/loops.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr size_t kMostInputs = 4096;  // some of which may be left out

/// An attribute with one number for each of `count` inputs or outputs, 0 where it is left out.
std::vector<int64_t> numbers_of(const Node& node, std::string_view name, size_t count) {
  std::vector<int64_t> numbers = ints_attr(node, name, {});
  if (numbers.empty()) numbers.resize(count);
  if (numbers.size() != count)
    throw UserError("attribute \"{}\" has {}, expected {}", name, count_text(numbers.size(), "number"),
                    count);
  return numbers;
}

// The number of states of a node whose inputs from `first` on are states and scanned ones.
size_t num_states_of(const Node& node, size_t first) {
  const int64_t num_scanned = int_attr(node, "num_scan_inputs", 0);
  const size_t count = node.inputs.size() - std::min(first, node.inputs.size());
  if (num_scanned > static_cast<int64_t>(count))
    throw UserError("num_scan_inputs is {}, the node has {}", num_scanned, count_text(count, "input"));
  const size_t num_states = count - static_cast<size_t>(num_scanned);
  if (node.outputs.size() < num_states)
    throw UserError("{} and {}", count_text(num_states, "state"), count_text(node.outputs.size(), "output"));
  require_counts(*node.find("body")->graph, count, node.outputs.size());
  return num_states;
}

/// What is read slice by slice.
struct Scanned {
  std::vector<Expr> values;
  std::vector<int64_t> axes, directions;
  ir::PrimExpr extent;    // of all of them
  Expr length = nullptr;  // of the slices those that count, an int64 scalar; null: all
};

// `value` at `position`, a scalar, of dimension `axis`.
Expr slice_at(const NodeMath& math, const Expr& value, const Expr& position, int64_t axis) {
  return math.call("relax.take", {value, position}, {{"axis", attr(axis)}});
}

// The last values of `states`, then what the body collects.
std::vector<Expr> scan_sequence(const NodeMath& math, const std::vector<Expr>& states,
                                const Scanned& scanned) {
  Importer& importer = math.importer();
  const Graph& body = *math.node().find("body")->graph;
  Repetition repetition{body, 0, 0, scanned.extent, scanned.length, nullptr, states, {}};
  if (scanned.length)
    repetition.known_most = nullptr;
  else
    repetition.most = scalar_value(relax::as_extent(scanned.extent));
  repetition.keeps_shapes = true;
  repetition.define_inputs = [&](const Expr& iteration, const Expr&) {
    for (size_t n = 0; n < scanned.values.size(); ++n) {
      Expr position = iteration;
      if (scanned.directions[n]) {
        const Expr count = scanned.length ? scanned.length : math.extent(scanned.extent);
        position = math.subtract(math.subtract(count, number(1, kInt64)), iteration);
      }
      importer.define(body.inputs[states.size() + n].name,
                      slice_at(math, scanned.values[n], position, scanned.axes[n]));
    }
  };
  return repeat(importer, math.node(), repetition);
}

// ---- opset 9 and later

Scanned scanned_inputs(const NodeMath& math, size_t first) {
  const Node& node = math.node();
  const size_t count = node.inputs.size() - first;
  Scanned scanned{{},
                  numbers_of(node, "scan_input_axes", count),
                  numbers_of(node, "scan_input_directions", count),
                  nullptr};
  for (size_t n = 0; n < count; ++n) {
    const Expr value = math.input(first + n);
    const relax::Shape& shape = math.shape(value);
    scanned.axes[n] = checked_axis(scanned.axes[n], shape.size());
    const ir::PrimExpr& extent = shape[static_cast<size_t>(scanned.axes[n])];
    if (scanned.extent)
      math.importer().require(node, tir::equal(extent, scanned.extent),
                              "scans {} slices of one input, {} of another", scanned.extent, extent);
    else
      scanned.extent = extent;
    scanned.values.push_back(value);
  }
  return scanned;
}

// Moves the first axis of collected values to `axis`, the last slice first if `is_reversed`.
Expr arranged(const NodeMath& math, Expr value, int64_t axis, bool is_reversed) {
  const size_t ndim = math.shape(value).size();
  if (is_reversed) value = math.call("relax.flip", {value}, {{"axis", attr(int64_t{0})}});
  const auto place = checked_axis(axis, ndim);
  if (place == 0) return value;
  std::vector<int64_t> axes(ndim);
  for (size_t n = 0; n < ndim; ++n) axes[n] = static_cast<int64_t>(n);
  axes.erase(axes.begin());
  axes.insert(axes.begin() + place, 0);
  return math.permuted(value, axes);
}

void scan(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const size_t num_states = num_states_of(node, 0);
  std::vector<Expr> states;
  const Scanned scanned = scanned_inputs(math, num_states);
  for (size_t n = 0; n < num_states; ++n) states.push_back(math.input(n));
  std::vector<Expr> values = scan_sequence(math, states, scanned);
  const size_t num_collected = values.size() - num_states;
  const std::vector<int64_t> axes = numbers_of(node, "scan_output_axes", num_collected),
                             directions = numbers_of(node, "scan_output_directions", num_collected);
  for (size_t n = 0; n < num_collected; ++n)
    values[num_states + n] = arranged(math, values[num_states + n], axes[n], directions[n] != 0);
  define_results(importer, node, values);
}

// ---- opset 8

/// The Scan of opset 8: each element of a batch (dimension 0) is a sequence (dimension 1), of whose length input 0
/// tells.  What is collected of a shorter one ends with zeros, as onnxruntime has it.
class BatchScan {
 public:
  explicit BatchScan(const NodeMath& math) : math_(math), num_states_(num_states_of(math.node(), 1)) {
    const Node& node = math.node();
    for (size_t n = 1; n < node.inputs.size(); ++n) {
      const Expr value = math.required(n, "a state or a scanned input");
      const relax::Shape& shape = math.shape(value);
      const size_t least = n - 1 < num_states_ ? 1 : 2;
      if (shape.size() < least)
        throw UserError("input {} is {}, expected a batch{}", n, relax::shape_text(shape),
                        least == 2 ? " of sequences" : "");
      agree(&batch_, shape[0], "input {} has a batch of {}, another one of {}", n);
      if (least == 2) agree(&time_, shape[1], "input {} has sequences of {} elements, another one of {}", n);
      values_.push_back(value);
    }
    directions_ = numbers_of(node, "directions", values_.size() - num_states_);
    if (const Expr lengths = math.input(0))
      lengths_ = math.call("relax.require_range",
                           {math.reshaped(math.cast(lengths, kInt64), {batch_}),
                            scalar_value(relax::extent_imm(0)), scalar_value(relax::as_extent(time_)),
                            relax::StringValueNode::make(fmt::format("{}: sequence_lens", node.shown()))});
  }

  void convert() {
    const auto graph = std::make_shared<Graph>();
    for (size_t n = 0; n < math_.node().outputs.size(); ++n)
      graph->outputs.emplace_back().name = fmt::format("output {} of an element", n);
    Importer& importer = math_.importer();
    importer.keep_graph(graph);
    Expr place;
    Repetition repetition{*graph, 0, 0, batch_, scalar_value(relax::as_extent(batch_)), nullptr, {}, {}};
    repetition.define_inputs = [&](const Expr& iteration, const Expr&) { place = iteration; };
    repetition.convert = [&] {
      const std::vector<Expr> values = of_element(place);
      for (size_t n = 0; n < values.size(); ++n) importer.define(graph->outputs[n].name, values[n]);
    };
    define_results(importer, math_.node(), repeat(importer, math_.node(), repetition));
  }

 private:
  void agree(ir::PrimExpr* known, const ir::PrimExpr& extent,
             relax::RequirementText<int64_t, ir::PrimExpr, ir::PrimExpr> text, size_t input) {
    if (*known)
      math_.require_equal(extent, *known, text, static_cast<int64_t>(input), extent, *known);
    else
      *known = extent;
  }

  std::vector<Expr> of_element(const Expr& place) const {
    std::vector<Expr> states;
    Scanned scanned{{}, std::vector<int64_t>(directions_.size()), directions_, time_};
    for (size_t n = 0; n < values_.size(); ++n)
      (n < num_states_ ? states : scanned.values).push_back(slice_at(math_, values_[n], place, 0));
    if (lengths_) scanned.length = slice_at(math_, lengths_, place, 0);
    std::vector<Expr> values = scan_sequence(math_, states, scanned);
    for (size_t n = num_states_; lengths_ && n < values.size(); ++n) values[n] = padded(values[n]);
    return values;
  }

  // `x` [length, ..] with zeros up to the longest sequence.
  Expr padded(const Expr& x) const {
    relax::Shape shape = math_.shape(x);
    shape[0] = math_.importer().facts.simplify(tir::operator-(time_, shape[0]));
    const Expr zeros = math_.call("relax.full", {relax::shape_expr(shape), math_.number_like(x, 0)});
    return math_.concat({x, zeros}, 0);
  }

  const NodeMath& math_;
  const size_t num_states_;
  std::vector<Expr> values_;  // the states, then the scanned inputs
  std::vector<int64_t> directions_;
  ir::PrimExpr batch_, time_;
  Expr lengths_;  // [batch]; null: all are `time_`
};

void scan_batch(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  BatchScan(math).convert();
}

constexpr AttributeRule kBatch[] = {
    {"body", Attribute::kGraph, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true},
    {"directions", Attribute::kInts, 0, 1},
    {"num_scan_inputs", Attribute::kInt, 1, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kScan[] = {
    {"body", Attribute::kGraph, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true},
    {"num_scan_inputs", Attribute::kInt, 1, kAnyMost, kFirstOpset, kLastOpset, true},
    {"scan_input_axes", Attribute::kInts},
    {"scan_input_directions", Attribute::kInts, 0, 1},
    {"scan_output_axes", Attribute::kInts},
    {"scan_output_directions", Attribute::kInts, 0, 1}};

constexpr ConverterRow kRows[] = {
    {.op = "Scan",
     .convert = scan_batch,
     .min_inputs = 0,
     .max_inputs = kMostInputs,
     .attributes = kBatch,
     .max_outputs = kAnyNumber,
     .since = 8,
     .until = 8,
     .num_computed = kAnyNumber},
    {.op = "Scan",
     .convert = scan,
     .min_inputs = 1,
     .max_inputs = kAnyNumber,
     .attributes = kScan,
     .max_outputs = kAnyNumber,
     .since = 9,
     .num_computed = kAnyNumber},
};

}  // namespace

extern constinit const ConverterTable scan_info = {kRows};

}  // namespace tilewright::frontend::onnx
