// Subgraphs, the bodies of branches and loops: their names have a scope of their own.
#include <algorithm>
#include <utility>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/lists.h"
#include "tilewright/frontend/onnx/import/schema.h"
#include "tilewright/ir/services.h"
#include "tilewright/relax/infer/requirements.h"
#include "tilewright/support/finally.h"

namespace tilewright::frontend::onnx {

void Importer::in_subgraph(const Graph& graph, const std::function<void()>& body) {
  check_graph(graph, opset, custom ? *custom : CustomConverters());
  scopes_.open(graph);
  const Graph* outer = std::exchange(current_, &graph);
  std::optional<std::set<std::string>> names_of_outer = std::exchange(read_by_nodes_, std::nullopt);
  const Finally close([&] {
    scopes_.close();
    current_ = outer;
    read_by_nodes_ = std::move(names_of_outer);
  });
  for (const auto& [name, data] : graph.initializers) define_constant(name, data);
  body();
}

relax::SeqExpr Importer::in_branch(const Graph& graph, const std::function<Expr()>& body,
                                   const std::vector<relax::Var>& params) {
  has_branches_ = true;
  builder.begin_scope(params);
  builder.begin_dataflow();
  ++num_branches_;
  const bool computes_now = std::exchange(computes_now_, false);
  const size_t num_stated = stated_.size();
  const Finally end([&] {
    --num_branches_;
    stated_.resize(num_stated);
    computes_now_ = computes_now;
  });
  try {
    Expr result;
    in_subgraph(graph, [&] { result = body(); });
    builder.end_dataflow();
    return builder.end_scope(result);
  } catch (...) {
    builder.abandon_scope();
    throw;
  }
}

std::vector<Importer::Item> Importer::results_of(const Graph& graph) {
  std::vector<Item> items;
  for (const ValueInfo& output : graph.outputs) {
    const Known* known = scopes_.known(output.name);
    Item& item = items.emplace_back(scopes_.value(output.name), known ? std::optional(*known) : std::nullopt);
    // what makes other known values reads names of the graph
    if (known && !known->dtype.is_integral() && !item.value)
      item.value = value(Node{"output", "", output.name, {output.name}, {}, {}}, 0);
  }
  return items;
}

const Contents* Importer::contents(const Expr& value) const {
  const auto found = contents_.find(value.get());
  return found == contents_.end() ? nullptr : found->second.get();
}

void Importer::set_contents(const Expr& value, const Contents& contents) {
  contents_[value.get()] = std::make_shared<const Contents>(contents);
}

bool Importer::is_read_by_nodes(const std::string& name) {
  if (!read_by_nodes_) read_by_nodes_ = names_read_by_nodes(*current_);
  return read_by_nodes_->contains(name);
}

bool Importer::is_used(const std::string& name) {
  return is_read_by_nodes(name) || std::any_of(current_->outputs.begin(), current_->outputs.end(),
                                               [&](const ValueInfo& output) { return output.name == name; });
}

void Importer::define_item(const std::string& name, Item item) {
  if (item.known) scopes_.define_known(name, *std::move(item.known));
  if (item.value) define(name, std::move(item.value));
}

// Adds the statement of a requirement to the branch that is converted.
void Importer::state(const relax::Requirement& requirement) {
  const bool is_stated = std::any_of(stated_.begin(), stated_.end(), [&](const ir::PrimExpr& other) {
    return ir::structural_equal(other, requirement.condition);
  });
  if (is_stated) return;
  stated_.push_back(requirement.condition);
  std::vector<Expr> args{relax::PrimValueNode::make(requirement.condition),
                         relax::StringValueNode::make(requirement.format)};
  for (const ir::PrimExpr& value : requirement.values)
    args.push_back(relax::PrimValueNode::make(relax::as_extent(value)));
  const relax::Call call = with(relax::call_op(relax::kRequire, std::move(args)),
                                [](relax::CallNode& typed) { typed.type = relax::void_type(); });
  builder.emit_normalized(
      relax::VarBindingNode::make(relax::AnyVar(relax::DataflowVarNode::make("_", call->type)), Expr(call)));
}

}  // namespace tilewright::frontend::onnx
