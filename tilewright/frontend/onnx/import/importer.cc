#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/fold/fold_call.h"
#include "tilewright/relax/graph/origin.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/finally.h"

namespace tilewright::frontend::onnx {

namespace {

// "a float32[n, 3]"
std::string described(const std::string& name, const Expr& value) {
  return fmt::format("{} {}", name, relax::type_text(relax::type_of(value)));
}

bool has_unknown_shape(const Expr& value) {
  const ir::Type whole = relax::type_of(value);
  const auto* type = whole.as<relax::TensorTypeNode>();
  return type && !type->shape;
}

}  // namespace

void Importer::require_known_shapes(const Node& node) const {
  // the results of branches and loops may be of any shape where no node reads them
  const bool has_graph = std::any_of(node.attributes.begin(), node.attributes.end(),
                                     [](const Attribute& attribute) { return attribute.graph != nullptr; });
  if (has_graph) return;
  for (const std::string& name : node.outputs) {
    const Expr made = scopes_.value(name);
    if (!made || !has_unknown_shape(made) || padded_.contains(made.get())) continue;
    std::vector<std::string> inputs;
    for (const std::string& input : node.inputs) {
      if (const Expr found = scopes_.value(input)) inputs.push_back(described(input, found));
    }
    throw Unsupported("the shape of its output \"{}\" is not known; its inputs are {}", name,
                      fmt::join(inputs, ", "))
        .help("give the inputs of the model shapes, e.g. [\"n\", 3] with a name for a varying dimension");
  }
}

Importer::Importer(const Graph& graph, Choices& choices)
    : graph_(graph), choices_(choices), current_(&graph) {
  scopes_.open(graph);
}

void Importer::convert(const Node& node) {
  // of a node with a subgraph that `node` lies in; also after an error, as Problems goes on with the next node
  const Finally restore([this, on_bind = builder.on_bind, computes_now = computes_now_, origin = origin_] {
    builder.on_bind = on_bind;
    computes_now_ = computes_now;
    origin_ = origin;
  });
  builder.on_bind = [&](const Expr& value) {
    if (!value.as<relax::CallNode>()) return;
    require_extents(node, value);
    keep(node, relax::requirements_of(relax::Call(value.as<relax::CallNode>())));
  };
  computes_now_ = has_constant_inputs(node);
  origin_ = relax::origin_of({node.any_name()});
  call_converter(node);
  require_known_shapes(node);
}

void Importer::add(const Node& node) {
  if (!node.misuse.empty())
    throw UserError("{}", node.misuse).help("Cast, LabelEncoder and TfIdfVectorizer make numbers of strings");
  const bool casts_strings =
      node.op_type.starts_with("Cast") && (node.reads_strings(0) || node.makes_strings(0));
  if (casts_strings || !compute_known(*this, node)) convert(node);
}

void Importer::convert_all(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    try {
      add(node);
    } catch (Error& error) {
      error.add_prefix(node.shown());
      throw;
    }
  }
}

void Importer::call_converter(const Node& node) {
  const auto own = custom ? custom->find(node.op()) : CustomConverters::const_iterator();
  if (!custom || own == custom->end()) {
    // of nodes of other domains, node.opset is the version of theirs
    const int64_t version = node.opset ? node.opset : opset;
    const int64_t around = std::exchange(opset, node.domain.empty() ? version : opset);
    const Finally restore([&] { opset = around; });
    return find_converter(node.op(), version)->convert(*this, node);
  }
  const std::vector<Expr> results = own->second(*this, node);
  if (results.size() != node.outputs.size())
    throw UserError("its converter returned {}, the node has {}", count_text(results.size(), "value"),
                    count_text(node.outputs.size(), "output"));
  for (size_t n = 0; n < results.size(); ++n) {
    const Expr value = bound(results[n]);
    const ir::Type type = relax::type_of(value);
    if (!is<relax::TensorTypeNode>(type))
      throw UserError("its converter returned {} for output {}, expected a tensor", relax::type_text(type),
                      n);
    if (!node.outputs[n].empty()) define(node.outputs[n], value);
  }
}

// Requires extents to be non-negative; sizes that are passed with a call may have any value.
void Importer::require_extents(const Node& node, const Expr& value) {
  const relax::Shape* shape = num_sizes_ > 0 ? relax::known_shape(value) : nullptr;
  if (!shape || !is<relax::TensorTypeNode>(relax::type_of(value))) return;
  for (const ir::PrimExpr& extent : *shape) {
    const ir::PrimExpr condition = tir::operator<=(relax::extent_imm(0), relax::as_extent(extent));
    bool has_size = false;
    walk(extent, [&](const tir::VarNode* var) { has_size |= sizes_.count(var) != 0; });
    if (has_size && !facts.can_prove(condition))
      require(node, condition, "the result would be {}, with a negative extent", *shape);
  }
}

void Importer::keep(const Node& node, std::vector<relax::Requirement> open) {
  for (relax::Requirement& requirement : open) {
    requirement.format = fmt::format("{}: {}", relax::with_escaped_braces(node.shown()), requirement.format);
    if (num_branches_ > 0)
      state(requirement);
    else
      requirements_.push_back(std::move(requirement));
  }
}

// ---- inputs

namespace {

// A tensor of dtype int64.  The text form of R.shape has no negative numbers: these are added.
Expr tensor_of_elements(Importer& importer, const Node& node, const Known& known) {
  relax::Shape sizes;
  const runtime::Tensor negatives =
      runtime::Tensor::zeros(runtime::Shape{static_cast<int64_t>(known.elements.size())}, kInt64);
  bool has_negatives = false;
  for (const Element& element : known.elements) {
    const auto* number = element.value.as<ir::IntImmNode>();
    const bool is_negative = number && number->value < 0;
    if (is_negative) negatives.data_as<int64_t>()[sizes.size()] = number->value;
    has_negatives |= is_negative;
    sizes.push_back(is_negative ? relax::extent_imm(0) : element.value);
  }
  const Expr tensor = importer.bind(node, "relax.shape_to_tensor", {relax::shape_expr(sizes)});
  return has_negatives ? importer.bind(node, "relax.add", {tensor, relax::make_constant(negatives)}) : tensor;
}

}  // namespace

Expr Importer::computed(const Node& maker, const std::string& name, size_t depth) {
  const bool computes_now = std::exchange(computes_now_, false);
  const Node node = maker;
  Scopes::Inner hidden = scopes_.enter(depth);  // its inputs have the names of its own graph
  const Finally restore([&] {
    scopes_.leave(std::move(hidden));
    computes_now_ = computes_now;
  });
  call_converter(node);
  return scopes_.value(name);
}

Expr Importer::as_read(const Node& node, size_t input, const Expr& value) const {
  const auto found = padded_.find(value.get());
  const bool is_result = node.op_type == "output" && node.domain.empty();  // of a graph: of any type
  if (found == padded_.end() || is_result) return value;
  if (node.op() == "CastLike" && input == 1) return found->second;
  constexpr std::string_view kBroadcasting[] = {"Add",  "Div",         "Equal", "Greater", "GreaterOrEqual",
                                                "Less", "LessOrEqual", "Max",   "Min",     "Mod",
                                                "Mul",  "Pow",         "Sub",   "Sum",     "Where"};
  const size_t ndim = relax::known_shape(found->second)->size();
  const auto has_as_many = [&](const std::string& name) {
    if (const Known* known = scopes_.known(name)) return known->shape.size() >= ndim;
    const Expr other = scopes_.value(name);
    const relax::Shape* shape = other && !padded_.contains(other.get()) ? relax::known_shape(other) : nullptr;
    return shape && shape->size() >= ndim;
  };
  if (std::find(std::begin(kBroadcasting), std::end(kBroadcasting), node.op()) != std::end(kBroadcasting) &&
      std::any_of(node.inputs.begin(), node.inputs.end(), has_as_many))
    return found->second;
  throw Unsupported(
      "its input \"{}\" has another number of dimensions in each branch; with extents of 1 in front it "
      "is {}",
      node.inputs[input], relax::type_text(relax::type_of(found->second)))
      .help("make both branches return tensors of one dtype and number of dimensions");
}

Expr Importer::value(const Node& node, size_t input) {
  if (!has_input(node, input)) return nullptr;
  const std::string& name = node.inputs[input];
  if (const Expr found = scopes_.value(name)) return padded_.empty() ? found : as_read(node, input, found);
  size_t depth = 0;
  const Known* found = scopes_.known(name, &depth);
  if (!found) throw InternalError("value \"{}\" is not there", name);
  const Known known = *found;
  Expr tensor;
  if (known.dtype.is_integral()) {
    tensor = tensor_of_elements(*this, node, known);
    if (known.shape.size() != 1) tensor = reshaped(node, tensor, relax::extents(known.shape));
    tensor = bound(converted(tensor, known.dtype));
  } else {
    tensor = computed(*known.maker, name, depth);
  }
  scopes_.define_known(name, known);
  define(name, tensor);
  return scopes_.value(name);
}

std::optional<Known> Importer::elements(const std::string& name) const {
  if (const Known* known = scopes_.known(name)) return *known;
  const Expr value = scopes_.value(name);
  const auto* constant = value ? value.as<relax::ConstantNode>() : nullptr;
  return constant ? known_of(constant->data) : std::nullopt;
}

bool Importer::is_computed(const std::string& name) const {
  const Expr found = scopes_.value(name);
  return scopes_.known(name) != nullptr || (found && is<relax::ConstantNode>(found));
}

DataType Importer::value_dtype(const std::string& name) const {
  if (const Known* known = scopes_.known(name)) return known->dtype;
  const Expr found = scopes_.value(name);
  if (!found) return DataType::void_();
  const ir::Type whole = relax::type_of(found);
  const auto* type = whole.as<relax::TensorTypeNode>();
  return type ? type->dtype : DataType::void_();
}

std::optional<relax::Shape> Importer::known(const Node& node, size_t input) const {
  if (!has_input(node, input)) return std::nullopt;
  const std::optional<Known> found = elements(node.inputs[input]);
  if (!found || !found->dtype.is_integral()) return std::nullopt;
  relax::Shape values;
  for (const Element& element : found->elements) values.push_back(element.value);
  return values;
}

namespace {
const std::string& name_of_input(const Node& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input].empty())
    throw UserError("input {} is missing", input);
  return node.inputs[input];
}

// The number of elements of a list or scalar, if it is known.
std::optional<int64_t> count_of(const Expr& tensor) {
  const relax::Shape* shape = relax::known_shape(tensor);
  int64_t count = 1;
  if (!shape || shape->size() > 1 || (shape->size() == 1 && !tir::as_const_int((*shape)[0], &count)))
    return std::nullopt;
  return count;
}
}  // namespace

relax::Shape Importer::require_known(const Node& node, size_t input) {
  const std::string& name = name_of_input(node, input);
  if (auto elements = known(node, input)) return *elements;
  const Expr tensor = value(node, input);
  const std::optional<int64_t> count = count_of(tensor);
  const DataType dtype = relax::dtype_of(tensor);
  if (!dtype.is_integral()) throw UserError("input \"{}\" is {}, expected integers", name, dtype.str());
  if (!count || *count > kMostKnown) throw open_input(name);
  const Expr whole = bound(converted(tensor, kInt64));
  const Expr list = reshaped(node, whole, {relax::extent_imm(*count)});
  Known sizes{kInt64, {*count}, {}, &node};
  relax::Shape dims;
  for (int64_t n = 0; n < *count; ++n) dims.push_back(new_size());
  builder.emit_match_cast(builder.emit(relax::call_op("relax.tensor_to_shape", {list})),
                          relax::shape_type(dims));
  for (const ir::PrimExpr& dim : dims) sizes.elements.push_back({dim});
  if (relax::known_shape(tensor)->empty()) sizes.shape.clear();
  if (dtype == kInt64 || dtype == kInt32) {
    sizes.dtype = dtype;
    scopes_.add_known(name, sizes);
  }
  return dims;
}

std::vector<int64_t> Importer::require_ints(const Node& node, size_t input) const {
  const std::string& name = name_of_input(node, input);
  const auto elements = known(node, input);
  if (!elements) throw open_input(name);
  std::vector<int64_t> numbers;
  for (const ir::PrimExpr& element : *elements) {
    if (!tir::as_const_int(element, &numbers.emplace_back())) throw open_input(name);
  }
  return numbers;
}

std::vector<double> Importer::require_numbers(const Node& node, size_t input) {
  const std::string& name = name_of_input(node, input);
  const Expr whole = value(node, input);
  if (!whole.as<relax::ConstantNode>()) throw open_input(name);
  std::vector<double> numbers;
  for (const ir::PrimExpr& literal : literals(*this, node, input)) {
    const auto* real = literal.as<ir::FloatImmNode>();
    numbers.push_back(real ? real->value : static_cast<double>(literal.as<ir::IntImmNode>()->value));
  }
  return numbers;
}

// ---- origin of a value

std::vector<const Node*> Importer::way_to(const std::string& name, std::string* input) const {
  std::vector<const Node*> way;
  std::string current = name;
  while (true) {
    const Node* maker = scopes_.maker(current);
    if (!maker) break;
    way.push_back(maker);
    const auto& inputs = maker->inputs;
    const auto next = std::find_if(inputs.begin(), inputs.end(), [&](const std::string& each) {
      const Expr found = scopes_.value(each);
      return !each.empty() && !(found && is<relax::ConstantNode>(found));
    });
    if (next == inputs.end()) break;
    current = *next;
  }
  std::reverse(way.begin(), way.end());
  *input = current;
  return way;
}

Unsupported Importer::open_input(const std::string& name) const {
  std::string origin;
  const std::vector<const Node*> way = way_to(name, &origin);
  std::vector<std::string> steps;
  for (const Node* node : way)
    steps.push_back(node->name.empty() ? node->op_type : fmt::format("{} \"{}\"", node->op_type, node->name));
  if (steps.size() > 6) {
    steps.erase(steps.begin() + 3, steps.end() - 3);
    steps.insert(steps.begin() + 3, "...");
  }
  const std::string from =
      way.empty() ? "" : fmt::format(": it is made of \"{}\" by {}", origin, fmt::join(steps, ", "));
  Unsupported error("input \"{}\" is known only at run time{}", name, from);
  const std::vector<std::string> dims = open_dims(graph_);
  const bool is_of_shapes = std::any_of(way.begin(), way.end(), [](const Node* node) {
    return node->op_type == "Shape" || node->op_type == "Size";
  });
  if (!dims.empty() && is_of_shapes)
    error.help(
        "fix dimensions: tilewright.compile(..., shapes={{\"{}\": 1}}), or --fix {}=1 of a command; open are "
        "{}",
        dims[0], dims[0], fmt::join(dims, ", "));
  else
    error.help("make it a constant where the model is exported");
  return error;
}

// ---- results

namespace {
bool is_large(const ir::PrimExpr& expr) {
  constexpr int kMostNodes = 64;
  return relax::has_more_nodes(expr, kMostNodes);
}
}  // namespace

tir::Var Importer::new_size() {
  const tir::Var size = tir::make_var(fmt::format("size{}", num_sizes_++), kInt64);
  sizes_.insert(size.get());
  return size;
}

Expr Importer::with_short_extents(Expr value) {
  const relax::Shape* shape =
      is<relax::TensorTypeNode>(relax::type_of(value)) ? relax::known_shape(value) : nullptr;
  if (shape && std::any_of(shape->begin(), shape->end(), is_large)) {
    relax::Shape named;
    for (const ir::PrimExpr& extent : *shape)
      named.push_back(is_large(extent) ? ir::PrimExpr(new_size()) : extent);
    for (const ir::PrimExpr& extent : named) facts.require(tir::operator<=(relax::extent_imm(0), extent));
    value = builder.emit_match_cast(value, relax::tensor_type(named, relax::dtype_of(value)));
  }
  return value;
}

Expr Importer::with_shape(const Expr& value, relax::Shape shape) {
  for (ir::PrimExpr& extent : shape) {
    if (extent) continue;
    extent = new_size();
    facts.require(tir::operator<=(relax::extent_imm(0), extent));
  }
  return builder.emit_match_cast(value, relax::tensor_type(std::move(shape), relax::dtype_of(value)));
}

void Importer::define(const std::string& name, Expr value) {
  scopes_.define(name, with_short_extents(std::move(value)));
}

void Importer::define_known(const std::string& name, Known known) {
  if (const runtime::Tensor tensor = tensor_of(known)) return define_constant(name, tensor);
  for (Element& element : known.elements) {
    if (element.value->dtype.is_bool() || !is_large(element.value)) continue;
    const tir::Var size = new_size();
    builder.emit_match_cast(relax::shape_expr({relax::as_extent(element.value)}), relax::shape_type({size}));
    element.value = size;
  }
  scopes_.define_known(name, std::move(known));
}

void Importer::pass_on(const Node& node) {
  const std::string &from = node.inputs.at(0), &to = node.outputs.at(0);
  if (const Known* found = scopes_.known(from)) {
    if (scopes_.known(to)) return define(to, value(node, 0));  // it is used as a tensor
    Known known = *found;
    known.maker = &node;
    scopes_.define_known(to, std::move(known));
  }
  if (const Expr found = scopes_.value(from)) define(to, found);
}

void Importer::define_constant(const std::string& name, const runtime::Tensor& data) {
  define(name, relax::make_constant(data));
}

bool Importer::has_constant_inputs(const Node& node) const {
  // optimisations for quantized graphs recognise these operators
  if (node.op_type == "DequantizeLinear" || node.op_type == "QuantizeLinear") return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& name) {
    const Expr found = scopes_.value(name);
    return name.empty() || (found && is<relax::ConstantNode>(found));
  });
}

Expr Importer::with_origin(const Expr& value) const {
  const auto* call = value.as<relax::CallNode>();
  if (!call || call->span.source || !origin_.source) return value;
  return with(relax::Call(call), [&](relax::CallNode& made) {
    made.span = origin_;
    for (Expr& arg : made.args) arg = with_origin(arg);
  });
}

Expr Importer::bound(const Expr& given) {
  const Expr value = with_origin(given);
  if (is<relax::ConstantNode>(value) || is<relax::VarNode>(value) || is<relax::DataflowVarNode>(value))
    return value;
  if (!computes_now_) return builder.emit(value);
  if (const auto* item = value.as<relax::TupleGetItemNode>()) {
    if (const auto* tuple = item->tuple.as<relax::TupleNode>())
      return tuple->elements.at(static_cast<size_t>(item->index));
  }
  const auto* call = value.as<relax::CallNode>();
  if (!call) return builder.emit(value);
  // larger results are left to the pass fold_constant, which frees their operands
  constexpr relax::FoldLimits kLimits{.max_growth = 0, .small_bytes = 1 << 16};
  std::vector<Expr> args;
  for (const Expr& arg : call->args) args.push_back(is<relax::CallNode>(arg) ? bound(arg) : arg);
  const Expr normal =
      builder.normalize(with(relax::Call(call), [&](relax::CallNode& node) { node.args = std::move(args); }));
  const Expr result = relax::fold_call(ref_as<relax::CallNode>(normal), kLimits, &steps_left_);
  return result ? result : Expr(builder.emit(normal));
}

Expr Importer::bind(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs) {
  return with_short_extents(bound(relax::call_op(op, std::move(args), std::move(attrs))));
}

Expr Importer::reshaped(const Node& node, const Expr& value, const relax::Shape& shape) {
  return bind(node, "relax.reshape", {value, relax::shape_expr(shape)});
}

void Importer::define_fields(const Node& node, const Expr& tuple) {
  const ir::Type whole = relax::type_of(tuple);
  const auto* fields = whole.as<ir::TupleTypeNode>();
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    if (!node.outputs[n].empty())
      define(node.outputs[n],
             bound(relax::TupleGetItemNode::make(tuple, static_cast<int64_t>(n), fields->elements.at(n))));
  }
}

void Importer::emit(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs) {
  define(node.outputs.at(0), bind(node, op, std::move(args), std::move(attrs)));
}

}  // namespace tilewright::frontend::onnx
