// Gives symbolic dimensions of a model's inputs names, or constant extents.
#include <algorithm>
#include <set>

#include "tilewright/frontend/onnx/read/model.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {

void name_dims(Graph& graph) {
  std::set<std::string> taken;
  for (const std::vector<ValueInfo>* values : {&graph.inputs, &graph.outputs}) {
    for (const ValueInfo& value : *values) {
      for (const Dim& dim : value.shape) taken.insert(dim.name);
    }
  }
  for (ValueInfo& input : graph.inputs) {
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      Dim& dim = input.shape[axis];
      if (dim.is_known() || !dim.is_anonymous()) continue;
      dim.name = fmt::format("{}.{}", input.name, axis);
      while (taken.contains(dim.name)) dim.name += '_';
    }
  }
}

std::vector<std::string> open_dims(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueInfo& input : graph.inputs) {
    for (const Dim& dim : input.shape) {
      if (!dim.is_known() && std::find(names.begin(), names.end(), dim.name) == names.end())
        names.push_back(dim.name);
    }
  }
  return names;
}

namespace {

// The dimension at "x.0", an input and an axis; null if there is none
const Dim* dim_at(const Graph& graph, const std::string& place) {
  for (const ValueInfo& input : graph.inputs) {
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      if (fmt::format("{}.{}", input.name, axis) == place) return &input.shape[axis];
    }
  }
  return nullptr;
}

void fix(Graph& graph, std::string name, int64_t extent) {
  if (extent < 0) throw UserError("dimension \"{}\" cannot be {}", name, extent);
  const std::vector<std::string> names = open_dims(graph);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const Dim* dim = dim_at(graph, name);
    if (dim && dim->value == extent) return;
    if (dim && dim->is_known())
      throw UserError("dimension \"{}\" cannot be {}: the model says {}", name, extent, dim->value);
    if (!dim && names.empty())
      throw UserError("the model has no dimension \"{}\"", name).help("all its dimensions have numbers");
    if (!dim)
      throw UserError("the model has no open dimension \"{}\"", name)
          .help("{}", nearest_names_text(name, {names.begin(), names.end()}));
    name = dim->name;
  }
  for (ValueInfo& input : graph.inputs) {
    for (Dim& dim : input.shape) {
      if (!dim.is_known() && dim.name == name) dim = {extent, ""};
    }
  }
}

}  // namespace

void fix_dims(Model& model, const FixedDims& extents) {
  for (const auto& [name, extent] : extents) fix(model.graph, name, extent);
}

}  // namespace tilewright::frontend::onnx
