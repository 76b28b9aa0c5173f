// Open dimensions of a model's inputs become numbers.
#include <algorithm>

#include "tilewright/frontend/onnx/model.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {

std::string shown_dim(const ValueInfo& input, size_t axis) {
  const Dim& dim = input.shape[axis];
  return dim.is_anonymous() ? fmt::format("{}.{}", input.name, axis) : dim.name;
}

std::vector<std::string> open_dims(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueInfo& input : graph.inputs) {
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      const std::string name = shown_dim(input, axis);
      if (!input.shape[axis].is_known() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  return names;
}

namespace {

// "x.0" of an axis that has a number or a name: what it is called, or the number
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
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      Dim& dim = input.shape[axis];
      if (!dim.is_known() && shown_dim(input, axis) == name) dim = {extent, ""};
    }
  }
}

}  // namespace

void fix_dims(Model& model, const FixedDims& extents) {
  for (const auto& [name, extent] : extents) fix(model.graph, name, extent);
}

}  // namespace tilewright::frontend::onnx
