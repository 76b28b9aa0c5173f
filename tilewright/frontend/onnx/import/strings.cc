#include "tilewright/frontend/onnx/import/strings.h"

#include <algorithm>
#include <cstring>

#include "tilewright/frontend/onnx/import/string_flow.h"
#include "tilewright/frontend/onnx/read/wire.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr std::string_view kUnused = "_Unused";  // what LabelEncoder gives where nothing else is said

// Attributes with other texts name a choice of the operator, such as auto_pad.
bool holds_text(const Attribute& attribute) {
  if (attribute.has_text_tensor) return true;
  if (attribute.kind != Attribute::kString && attribute.kind != Attribute::kStrings) return false;
  return attribute.name.ends_with("_string") || attribute.name.ends_with("_strings") ||
         attribute.name == "stopwords";
}

// Calls `use` with each tensor of strings and its texts, and with each attribute that holds text.
template <class UseTensor, class UseAttribute>
void each_text(const Graph& graph, const UseTensor& use_tensor, const UseAttribute& use_attribute) {
  for (const auto& [name, texts] : graph.texts) use_tensor(graph.initializers.at(name), texts);
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph) each_text(*attribute.graph, use_tensor, use_attribute);
      if (attribute.has_text_tensor) use_tensor(attribute.tensor, attribute.texts);
      if (holds_text(attribute)) use_attribute(attribute);
    }
  }
}

bool may_hold_strings(const Graph& graph) {
  const auto says_so = [](const std::vector<ValueInfo>& values) {
    return std::any_of(values.begin(), values.end(), is_of_strings);
  };
  // an output may say so without reason: the marks are right
  if (says_so(graph.inputs) || says_so(graph.outputs) || !graph.texts.empty()) return true;
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      const bool is_type =
          (attribute.name == "to" || attribute.name == "dtype") && attribute.integer == wire::Tensor::kString;
      if (is_type || holds_text(attribute) || (attribute.graph && may_hold_strings(*attribute.graph)))
        return true;
    }
  }
  return false;
}

}  // namespace

bool may_hold_strings(const Model& model) { return may_hold_strings(model.graph); }

StringTable::StringTable(const Model& model) : texts_{"", std::string(kUnused)} {
  const auto add = [&](const std::vector<std::string>& texts) {
    texts_.insert(texts_.end(), texts.begin(), texts.end());
  };
  each_text(
      model.graph, [&](const runtime::Tensor&, const std::vector<std::string>& texts) { add(texts); },
      [&](const Attribute& attribute) {
        add(attribute.texts);
        texts_.push_back(attribute.text);
      });
  std::sort(texts_.begin(), texts_.end());
  texts_.erase(std::unique(texts_.begin(), texts_.end()), texts_.end());
}

int64_t StringTable::id(std::string_view text) const {
  const auto found = std::lower_bound(texts_.begin(), texts_.end(), text);
  TILEWRIGHT_CHECK(found != texts_.end() && *found == text, "the model has no string \"{}\"", text);
  return found - texts_.begin();
}

std::vector<int64_t> StringTable::ids(const std::vector<std::string>& texts) const {
  std::vector<int64_t> result;
  for (const std::string& text : texts) result.push_back(id(text));
  return result;
}

Model with_marked_strings(const Model& model, const StringTable& table) {
  each_text(
      model.graph,
      [&](const runtime::Tensor& tensor, const std::vector<std::string>& texts) {
        const std::vector<int64_t> ids = table.ids(texts);
        std::copy(ids.begin(), ids.end(), tensor.data_as<int64_t>());
      },
      [](const Attribute&) {});
  Model marked = model;
  marked.holds_strings = mark_strings(marked.graph);
  return marked;
}

// ---- values

Expr make_pool(Importer& importer, const StringTable& table) {
  std::string bytes;
  std::vector<int64_t> ends;
  for (const std::string& text : table.texts()) {
    bytes += text;
    ends.push_back(static_cast<int64_t>(bytes.size()));
  }
  const auto constant = [](const void* data, size_t num_bytes, size_t count, DataType dtype) -> Expr {
    return relax::make_constant(
        runtime::Tensor::copy_of(data, num_bytes, runtime::Shape{static_cast<int64_t>(count)}, dtype));
  };
  const Expr op = ir::OpNode::make("relax.call_pure_packed");
  std::vector<Expr> args{relax::ExternFuncNode::make("tilewright.string_pool"),
                         constant(bytes.data(), bytes.size(), bytes.size(), DataType::uint(8)),
                         constant(ends.data(), ends.size() * sizeof(int64_t), ends.size(), kInt64)};
  return importer.builder.emit(
      relax::CallNode::make(op, std::move(args), ir::AttrMap{}, std::vector<ir::Type>{relax::object_type()}));
}

ir::Type type_of_texts(const ir::Type& ids) {
  if (!is<relax::TensorTypeNode>(ids)) return relax::object_type();
  return relax::tuple_type({relax::tensor_type_of_ndim(1, DataType::uint(8)), ids});
}

Expr call_string_function(Importer& importer, std::string_view name, std::vector<Expr> args,
                          const ir::Type& type) {
  TILEWRIGHT_CHECK(importer.string_pool, "a graph without strings calls string_{}", name);
  args.insert(args.begin(),
              {relax::ExternFuncNode::make(fmt::format("tilewright.string_{}", name)), importer.string_pool});
  const Expr op = ir::OpNode::make("relax.call_pure_packed");
  return importer.builder.emit(
      relax::CallNode::make(op, std::move(args), ir::AttrMap{}, std::vector<ir::Type>{type}));
}

// ---- attributes

std::vector<int64_t> string_ids_attr(const Importer& importer, const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  return attribute ? importer.strings->ids(attribute->texts) : std::vector<int64_t>{};
}

int64_t string_id_attr(const Importer& importer, const Node& node, std::string_view name,
                       std::string_view otherwise) {
  return importer.strings->id(string_attr(node, name, otherwise));
}

}  // namespace tilewright::frontend::onnx
