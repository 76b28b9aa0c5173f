// Ensembles of decision trees.  Source: onnx.ai/onnx/operators, ai.onnx.ml 1 to 5; where the text leaves a choice (two
// classes, one of which has weights), onnxruntime's.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tilewright/frontend/onnx/graphs/ml.h"
#include "tilewright/frontend/onnx/graphs/trees.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr LabelNames kLabels = {"classlabels_int64s", "classlabels_strings"};

// Attribute `name` with a number for each of `count` nodes; `otherwise` for all if it is left out and not required.
template <class T>
std::vector<T> for_each_node(const Node& node, std::string_view name, std::vector<T> given, size_t count,
                             std::optional<T> otherwise = {}) {
  if (given.empty() && otherwise) return std::vector<T>(count, *otherwise);
  if (given.size() != count)
    throw UserError("attribute \"{}\" has {} values for {} nodes of trees", name, given.size(), count);
  return given;
}
std::vector<int64_t> ints_of(const Node& node, std::string_view name, size_t count,
                             std::optional<int64_t> otherwise = {}) {
  return for_each_node(node, name, ints_attr(node, name, {}), count, otherwise);
}

TreeMode mode_of(const std::string& name) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF"};
  if (name == "LEAF") return TreeMode::kLeaf;
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    throw UserError("attribute \"nodes_modes\" has \"{}\"", name)
        .help("{}", nearest_names_text(name, {kNames.begin(), kNames.end()}));
  return static_cast<TreeMode>(found - kNames.begin());
}

/// Nodes by tree and number in it, as the operators before TreeEnsemble say.
class NumberedTrees {
 public:
  explicit NumberedTrees(const Node& node) : node_(node) {
    const Attribute* modes = node.find("nodes_modes");
    const size_t count = modes ? modes->texts.size() : 0;
    const std::vector<int64_t> trees = ints_of(node, "nodes_treeids", count),
                               numbers = ints_of(node, "nodes_nodeids", count),
                               features = ints_of(node, "nodes_featureids", count),
                               yes = ints_of(node, "nodes_truenodeids", count),
                               no = ints_of(node, "nodes_falsenodeids", count),
                               nan_is_yes = ints_of(node, "nodes_missing_value_tracks_true", count, 0);
    const std::vector<double> values =
        for_each_node(node, "nodes_values", floats_or_tensor_attr(node, "nodes_values"), count);
    for (size_t n = 0; n < count; ++n) {
      if (!places_.emplace(std::pair(trees[n], numbers[n]), static_cast<int64_t>(n)).second)
        throw UserError("tree {} has two nodes {}", trees[n], numbers[n]);
      if (seen_.insert(trees[n]).second) model.roots.push_back(static_cast<int64_t>(n));
    }
    for (size_t n = 0; n < count; ++n) {
      TreeNode& added = model.nodes.emplace_back();
      added.mode = mode_of(modes->texts[n]);
      if (added.mode == TreeMode::kLeaf) continue;
      added.feature = features[n];
      added.value = values[n];
      added.yes = place(trees[n], yes[n]);
      added.no = place(trees[n], no[n]);
      added.nan_is_yes = nan_is_yes[n] != 0;
    }
  }

  /// Adds the weights of leaves that attributes "target_..." or "class_..." say.
  void add_weights(const std::string& what) {
    const std::vector<int64_t> targets = ints_attr(node_, what + "_ids", {});
    const size_t count = targets.size();
    const std::vector<int64_t> trees = ints_of(node_, what + "_treeids", count),
                               numbers = ints_of(node_, what + "_nodeids", count);
    const std::vector<double> weights =
        for_each_node(node_, what + "_weights", floats_or_tensor_attr(node_, what + "_weights"), count);
    for (size_t n = 0; n < count; ++n)
      model.nodes[static_cast<size_t>(place(trees[n], numbers[n]))].weights.emplace_back(targets[n],
                                                                                         weights[n]);
  }

  TreeModel model;

 private:
  int64_t place(int64_t tree, int64_t number) const {
    const auto found = places_.find(std::pair(tree, number));
    if (found == places_.end()) throw UserError("tree {} has no node {}", tree, number);
    return found->second;
  }

  const Node& node_;
  std::map<std::pair<int64_t, int64_t>, int64_t> places_;
  std::set<int64_t> seen_;  // trees; the first node of each is its root
};

// `sums` plus attribute "base_values"; `count` of them are expected.
Expr with_base(Importer& importer, const Node& node, const Expr& sums, int64_t count) {
  const std::vector<double> base = floats_or_tensor_attr(node, "base_values");
  if (base.empty()) return sums;
  if (static_cast<int64_t>(base.size()) != count)
    throw UserError("attribute \"base_values\" has {} values, expected {}", base.size(), count);
  return importer.bind(node, "relax.add", {sums, constant_of(base, {count}, relax::dtype_of(sums))});
}

enum Aggregate : uint8_t { kAverage, kSum, kMin, kMax };

// What `function` makes of the leaves that rows reach.
Expr aggregated(Importer& importer, const Node& node, const Expr& x, const TreeModel& model,
                Aggregate function) {
  using topi::TreeJoin;
  const TreeJoin join = function == kMin   ? TreeJoin::kMin
                        : function == kMax ? TreeJoin::kMax
                                           : TreeJoin::kSum;
  const Expr sums = joined_trees(importer, node, x, model, join);
  if (function != kAverage) return sums;
  return importer.bind(node, "relax.multiply",
                       {sums, number(1 / static_cast<double>(std::max<size_t>(model.roots.size(), 1)),
                                     relax::dtype_of(sums))});
}

Aggregate aggregate_of(const Node& node) {
  static constexpr std::array<std::string_view, 4> kNames = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = string_attr(node, "aggregate_function", "SUM");
  require_known_text("aggregate_function", name, {kNames.begin(), kNames.end()});
  return static_cast<Aggregate>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

void regressor(Importer& importer, const Node& node) {
  NumberedTrees trees(node);
  trees.model.num_targets = int_attr(node, "n_targets", 1);
  trees.add_weights("target");
  const Expr x = rows_of(importer, node);
  const Expr sums = aggregated(importer, node, x, trees.model, aggregate_of(node));
  const Expr all = with_base(importer, node, sums, trees.model.num_targets);
  importer.define(node.outputs.at(0), bound_as(importer, transformed(importer, node, all), kFloat32));
}

// Two classes, of which leaves have weights for one: its score decides.  Numbers that are never negative are taken as
// probabilities.
void classify_two(Importer& importer, const Node& node, TreeModel model) {
  const std::vector<double> base = floats_or_tensor_attr(node, "base_values");
  bool has_negative = false;
  int64_t column = 0;
  for (TreeNode& each : model.nodes) {
    for (auto& [target, weight] : each.weights) {
      has_negative |= weight < 0;
      column = std::exchange(target, 0);
    }
  }
  if (base.size() > 1)
    throw Unsupported("attribute \"base_values\" has {} values, but leaves have weights for one class only",
                      base.size());
  model.num_targets = 1;
  Expr score = joined_trees(importer, node, rows_of(importer, node), model, topi::TreeJoin::kSum);
  if (column == 0) score = with_base(importer, node, score, 1);
  define_labels(importer, node, kLabels, is_above(importer, node, score, has_negative ? 0 : 0.5));
  if (node.outputs.size() < 2 || node.outputs[1].empty()) return;
  Expr scores;
  if (column == 0) {
    scores = scores_of_second(importer, node, score, !has_negative);
  } else {
    const Expr zero = importer.bind(node, "relax.multiply", {score, number(0, relax::dtype_of(score))});
    scores = transformed(
        importer, node,
        importer.bind(node, "relax.concat", {relax::TupleNode::make(std::vector<Expr>{zero, score})},
                      {{"axis", attr(int64_t{1})}}));
  }
  importer.define(node.outputs[1], bound_as(importer, scores, kFloat32));
}

void classifier(Importer& importer, const Node& node) {
  NumberedTrees trees(node);
  trees.model.num_targets = num_labels(node, kLabels);
  trees.add_weights("class");
  const std::vector<int64_t> classes = ints_attr(node, "class_ids", {});
  const bool has_one =
      std::all_of(classes.begin(), classes.end(), [&](int64_t each) { return each == classes[0]; });
  if (trees.model.num_targets == 2 && has_one && !classes.empty() && (classes[0] == 0 || classes[0] == 1))
    return classify_two(importer, node, std::move(trees.model));
  const Expr sums = joined_trees(importer, node, rows_of(importer, node), trees.model, topi::TreeJoin::kSum);
  const Expr scores = with_base(importer, node, sums, trees.model.num_targets);
  define_labels(importer, node, kLabels, best_class(importer, node, scores));
  if (node.outputs.size() > 1 && !node.outputs[1].empty())
    importer.define(node.outputs[1], bound_as(importer, transformed(importer, node, scores), kFloat32));
}

std::vector<double> tensor_attr(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  return attribute ? doubles_of(attribute->tensor, fmt::format("attribute \"{}\"", name))
                   : std::vector<double>{};
}

// The sets of nodes with mode kMember: a NaN ends each.
class Members {
 public:
  explicit Members(const Node& node) : values_(tensor_attr(node, "membership_values")) {}
  std::vector<double> next() {
    std::vector<double> result;
    while (at_ < values_.size() && !std::isnan(values_[at_])) result.push_back(values_[at_++]);
    if (at_ == values_.size())
      throw UserError("attribute \"membership_values\" has too few sets, each ends with NaN");
    ++at_;
    return result;
  }

 private:
  std::vector<double> values_;
  size_t at_ = 0;
};

// The operator of version 5: leaves are numbered apart from nodes, and here come after them.
TreeModel model_of_ensemble(const Node& node) {
  const std::vector<double> modes = tensor_attr(node, "nodes_modes");
  const size_t count = modes.size();
  const std::vector<int64_t> features = ints_of(node, "nodes_featureids", count),
                             yes = ints_of(node, "nodes_truenodeids", count),
                             no = ints_of(node, "nodes_falsenodeids", count),
                             yes_is_leaf = ints_of(node, "nodes_trueleafs", count),
                             no_is_leaf = ints_of(node, "nodes_falseleafs", count),
                             nan_is_yes = ints_of(node, "nodes_missing_value_tracks_true", count, 0),
                             targets = ints_attr(node, "leaf_targetids", {});
  const std::vector<double> values =
                                for_each_node(node, "nodes_splits", tensor_attr(node, "nodes_splits"), count),
                            weights = for_each_node(node, "leaf_weights", tensor_attr(node, "leaf_weights"),
                                                    targets.size());
  TreeModel model;
  model.num_targets = int_attr(node, "n_targets", 1);
  model.roots = ints_attr(node, "tree_roots", {});
  const auto place = [&](int64_t number, int64_t is_leaf) {
    const auto most = static_cast<int64_t>(is_leaf ? targets.size() : count);
    if (number < 0 || number >= most)
      throw UserError("{} {} is used, but there are {}", is_leaf ? "leaf" : "tree node", number, most);
    return is_leaf ? number + static_cast<int64_t>(count) : number;
  };
  for (int64_t root : model.roots) place(root, 0);
  Members members(node);
  for (size_t n = 0; n < count; ++n) {
    TreeNode& added = model.nodes.emplace_back();
    if (!(modes[n] >= 0 && modes[n] <= 6))
      throw UserError("attribute \"nodes_modes\" has {}, expected 0 to 6", modes[n]);
    added.mode = static_cast<TreeMode>(static_cast<int>(modes[n]));
    added.feature = features[n];
    added.value = values[n];
    if (added.mode == TreeMode::kMember) added.members = members.next();
    added.yes = place(yes[n], yes_is_leaf[n]);
    added.no = place(no[n], no_is_leaf[n]);
    added.nan_is_yes = nan_is_yes[n] != 0;
  }
  for (size_t n = 0; n < targets.size(); ++n) {
    TreeNode& leaf = model.nodes.emplace_back();
    leaf.weights.emplace_back(targets[n], weights[n]);
  }
  return model;
}

void ensemble(Importer& importer, const Node& node) {
  const TreeModel model = model_of_ensemble(node);
  const Expr given = importer.value(node, 0), x = rows_of(importer, node);
  const int64_t function = int_attr(node, "aggregate_function", kSum);
  const Expr sums = aggregated(importer, node, x, model, static_cast<Aggregate>(function));
  static constexpr std::array<const char*, 5> kTransforms = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                             "PROBIT"};
  Node named = node;
  for (Attribute& attribute : named.attributes) {
    if (attribute.name != "post_transform") continue;
    attribute.kind = Attribute::kString;
    attribute.text = kTransforms.at(static_cast<size_t>(attribute.integer));
  }
  importer.define(node.outputs.at(0),
                  bound_as(importer, transformed(importer, named, sums), relax::dtype_of(given)));
}

constexpr AttributeRule kRegressor[] = {{"aggregate_function", Attribute::kString},
                                        {"base_values", Attribute::kFloats},
                                        {"base_values_as_tensor", Attribute::kTensor},
                                        {"n_targets", Attribute::kInt, 1, kMostExtent},
                                        {"nodes_falsenodeids", Attribute::kInts},
                                        {"nodes_featureids", Attribute::kInts},
                                        {"nodes_hitrates", Attribute::kFloats},
                                        {"nodes_hitrates_as_tensor", Attribute::kTensor},
                                        {"nodes_missing_value_tracks_true", Attribute::kInts},
                                        {"nodes_modes", Attribute::kStrings},
                                        {"nodes_nodeids", Attribute::kInts},
                                        {"nodes_treeids", Attribute::kInts},
                                        {"nodes_truenodeids", Attribute::kInts},
                                        {"nodes_values", Attribute::kFloats},
                                        {"nodes_values_as_tensor", Attribute::kTensor},
                                        kPostTransform,
                                        {"target_ids", Attribute::kInts},
                                        {"target_nodeids", Attribute::kInts},
                                        {"target_treeids", Attribute::kInts},
                                        {"target_weights", Attribute::kFloats},
                                        {"target_weights_as_tensor", Attribute::kTensor}};
constexpr AttributeRule kClassifier[] = {{"base_values", Attribute::kFloats},
                                         {"base_values_as_tensor", Attribute::kTensor},
                                         {"class_ids", Attribute::kInts},
                                         {"class_nodeids", Attribute::kInts},
                                         {"class_treeids", Attribute::kInts},
                                         {"class_weights", Attribute::kFloats},
                                         {"class_weights_as_tensor", Attribute::kTensor},
                                         {"classlabels_int64s", Attribute::kInts},
                                         {"classlabels_strings", Attribute::kStrings},
                                         {"nodes_falsenodeids", Attribute::kInts},
                                         {"nodes_featureids", Attribute::kInts},
                                         {"nodes_hitrates", Attribute::kFloats},
                                         {"nodes_hitrates_as_tensor", Attribute::kTensor},
                                         {"nodes_missing_value_tracks_true", Attribute::kInts},
                                         {"nodes_modes", Attribute::kStrings},
                                         {"nodes_nodeids", Attribute::kInts},
                                         {"nodes_treeids", Attribute::kInts},
                                         {"nodes_truenodeids", Attribute::kInts},
                                         {"nodes_values", Attribute::kFloats},
                                         {"nodes_values_as_tensor", Attribute::kTensor},
                                         kPostTransform};
constexpr AttributeRule kEnsemble[] = {
    {"aggregate_function", Attribute::kInt, 0, 3},    required("leaf_targetids", Attribute::kInts),
    required("leaf_weights", Attribute::kTensor),     {"membership_values", Attribute::kTensor},
    {"n_targets", Attribute::kInt, 1, kMostExtent},   required("nodes_falseleafs", Attribute::kInts),
    required("nodes_falsenodeids", Attribute::kInts), required("nodes_featureids", Attribute::kInts),
    {"nodes_hitrates", Attribute::kTensor},           {"nodes_missing_value_tracks_true", Attribute::kInts},
    required("nodes_modes", Attribute::kTensor),      required("nodes_splits", Attribute::kTensor),
    required("nodes_trueleafs", Attribute::kInts),    required("nodes_truenodeids", Attribute::kInts),
    {"post_transform", Attribute::kInt, 0, 4},        required("tree_roots", Attribute::kInts)};

constexpr ConverterRow kRows[] = {
    {"ai.onnx.ml::TreeEnsemble", ensemble, 1, 1, kEnsemble, 1, 5},
    {"ai.onnx.ml::TreeEnsembleClassifier", classifier, 1, 1, kClassifier, 2, kFirstOpset, kLastOpset, 2},
    {"ai.onnx.ml::TreeEnsembleRegressor", regressor, 1, 1, kRegressor},
};

}  // namespace

extern constinit const ConverterTable ml_trees_info = {kRows};

}  // namespace tilewright::frontend::onnx
