#include "tilewright/frontend/onnx/graphs/trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tilewright/frontend/onnx/graphs/ml.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The arrays of topi::Trees.  Every test is x <= value: x < v is x <= the number before v, the others take the
/// children the other way round, and x == v is x <= v, then x <= the number before.
class FlatTrees {
 public:
  FlatTrees(const TreeModel& model, DataType dtype, double no_weight)
      : model_(model),
        is_double_(dtype == kFloat64),
        no_weight_(no_weight),
        is_reached_(model.nodes.size()) {}

  /// Adds the trees, those of about the same depth beside each other.
  void add_all() {
    std::vector<std::pair<int64_t, int64_t>> trees;  // depth, root
    for (int64_t root : model_.roots) {
      const int64_t place = num_nodes();
      trees.emplace_back(add(root), place);
    }
    std::sort(trees.begin(), trees.end());
    const int64_t nothing = add_leaf({});
    while (trees.size() % topi::kTreesAtOnce != 0) trees.emplace_back(0, nothing);
    for (size_t n = 0; n < trees.size(); ++n) {
      roots.push_back(trees[n].second);
      if (n % topi::kTreesAtOnce == 0) depths.push_back(0);
      depths.back() = std::max(depths.back(), trees[n].first);
    }
  }

  std::vector<int64_t> roots, depths, features, children, targets;
  std::vector<double> values, weights;
  std::vector<std::pair<int64_t, std::pair<int64_t, double>>> other_weights;  // of leaves with several
  bool has_nan_children = false;

  int64_t num_nodes() const { return static_cast<int64_t>(features.size()); }

 private:
  static constexpr size_t kChildren = 3;

  /// A node of the model that is still to be added, and the places of its number in `children`.
  struct Open {
    int64_t node;
    std::vector<size_t> places;
    int64_t depth;
  };

  double before(double value) const {
    return is_double_ ? std::nextafter(value, -kInfinity)
                      : std::nextafter(static_cast<float>(value), -std::numeric_limits<float>::infinity());
  }

  int64_t add_node(int64_t feature, double value) {
    const int64_t place = num_nodes();
    features.push_back(feature);
    values.push_back(value);
    children.insert(children.end(), kChildren, place);
    targets.push_back(0);
    weights.push_back(no_weight_);
    return place;
  }

  int64_t add_leaf(const std::vector<std::pair<int64_t, double>>& own) {
    const int64_t place = add_node(0, 0);
    if (own.size() == 1) {
      targets.back() = own[0].first;
      weights.back() = own[0].second;
    }
    if (own.size() > 1) {
      for (const auto& each : own) other_weights.emplace_back(place, each);
    }
    return place;
  }

  static size_t child(int64_t place, size_t which) { return static_cast<size_t>(place) * kChildren + which; }

  // Adds the tree at `root` of the model; returns its depth.
  int64_t add(int64_t root) {
    int64_t depth = 0;
    std::vector<Open> open{{root, {}, 0}};
    for (size_t n = 0; n < open.size(); ++n) {
      const Open item = open[n];
      if (item.node < 0 || item.node >= static_cast<int64_t>(model_.nodes.size()))
        throw UserError("tree node {} is used, but there are {}", item.node, model_.nodes.size());
      const TreeNode& node = model_.nodes[static_cast<size_t>(item.node)];
      const int64_t place = num_nodes();
      for (size_t at : item.places) children[at] = place;
      depth = std::max(depth, item.depth);
      if (node.mode == TreeMode::kLeaf) {
        add_leaf(node.weights);
        continue;
      }
      if (is_reached_[static_cast<size_t>(item.node)])
        throw UserError("tree node {} is reached in two ways", item.node);
      is_reached_[static_cast<size_t>(item.node)] = true;
      add_branch(node, item.depth, &open);
    }
    return depth;
  }

  void add_branch(const TreeNode& node, int64_t depth, std::vector<Open>* open) {
    std::vector<size_t> yes, no;
    const auto set = [&](int64_t place, std::vector<size_t>& below, std::vector<size_t>& above) {
      below.push_back(child(place, 0));
      above.push_back(child(place, 1));
      (node.nan_is_yes ? yes : no).push_back(child(place, 2));
      has_nan_children |= (&above == &yes) != node.nan_is_yes;
    };
    switch (node.mode) {
      case TreeMode::kLessEqual: set(add_node(node.feature, node.value), yes, no); break;
      case TreeMode::kLess: set(add_node(node.feature, before(node.value)), yes, no); break;
      case TreeMode::kGreater: set(add_node(node.feature, node.value), no, yes); break;
      case TreeMode::kGreaterEqual: set(add_node(node.feature, before(node.value)), no, yes); break;
      case TreeMode::kEqual: depth = add_equal(node, {node.value}, depth, &yes, &no); break;
      case TreeMode::kNotEqual: depth = add_equal(node, {node.value}, depth, &no, &yes); break;
      case TreeMode::kMember: depth = add_equal(node, node.members, depth, &yes, &no); break;
      case TreeMode::kLeaf: break;
    }
    open->push_back({node.yes, std::move(yes), depth + 1});
    open->push_back({node.no, std::move(no), depth + 1});
  }

  // Tests for each of `members`, the largest first: above it is not one, at it is one, else the next is tried.
  // Returns the depth of the last test.
  int64_t add_equal(const TreeNode& node, std::vector<double> members, int64_t depth,
                    std::vector<size_t>* equal, std::vector<size_t>* other) {
    std::erase_if(members, [](double member) { return std::isnan(member); });
    std::sort(members.rbegin(), members.rend());
    std::vector<size_t>& at_nan = node.nan_is_yes == (equal_is_yes(node)) ? *equal : *other;
    has_nan_children = true;
    int64_t last = add_node(node.feature, members.empty() ? kInfinity : members[0]);
    other->push_back(child(last, 1));
    at_nan.push_back(child(last, 2));
    for (size_t n = 0; n < members.size(); ++n) {
      const int64_t exact = add_node(node.feature, before(members[n]));
      children[child(last, 0)] = exact;
      equal->push_back(child(exact, 1));
      at_nan.push_back(child(exact, 2));
      ++depth;
      last = exact;
      if (n + 1 == members.size()) continue;
      const int64_t next = add_node(node.feature, members[n + 1]);
      children[child(exact, 0)] = next;
      other->push_back(child(next, 1));
      at_nan.push_back(child(next, 2));
      ++depth;
      last = next;
    }
    other->push_back(child(last, 0));
    return depth;
  }
  static bool equal_is_yes(const TreeNode& node) { return node.mode != TreeMode::kNotEqual; }

  const TreeModel& model_;
  const bool is_double_;
  const double no_weight_;
  std::vector<bool> is_reached_;
};

double start_of(topi::TreeJoin join) {
  return join == topi::TreeJoin::kSum ? 0 : join == topi::TreeJoin::kMin ? kInfinity : -kInfinity;
}

// A column for each target; several weights of a leaf for one target are joined.
std::vector<double> dense_weights(const FlatTrees& flat, int64_t num_targets, topi::TreeJoin join) {
  constexpr double kMostNumbers = 1 << 26;
  if (static_cast<double>(flat.num_nodes()) * static_cast<double>(num_targets) > kMostNumbers)
    throw Unsupported("{} nodes of trees with leaves for several of {} targets: each gets a row of weights",
                      flat.num_nodes(), num_targets);
  std::vector<double> dense(static_cast<size_t>(flat.num_nodes() * num_targets), start_of(join));
  const auto add = [&](int64_t place, int64_t target, double weight) {
    double& own = dense[static_cast<size_t>(place * num_targets + target)];
    own = join == topi::TreeJoin::kSum   ? own + weight
          : join == topi::TreeJoin::kMin ? std::min(own, weight)
                                         : std::max(own, weight);
  };
  for (int64_t place = 0; place < flat.num_nodes(); ++place)
    add(place, flat.targets[static_cast<size_t>(place)], flat.weights[static_cast<size_t>(place)]);
  for (const auto& [place, weight] : flat.other_weights) add(place, weight.first, weight.second);
  return dense;
}

void check(Importer& importer, const Node& node, const Expr& x, const TreeModel& model) {
  int64_t most = -1;
  for (const TreeNode& each : model.nodes) {
    if (each.mode != TreeMode::kLeaf && each.feature < 0)
      throw UserError("a tree node compares column {}, expected at least 0", each.feature);
    if (each.mode != TreeMode::kLeaf) most = std::max(most, each.feature);
    for (const auto& [target, weight] : each.weights) {
      if (target < 0 || target >= model.num_targets)
        throw UserError("a leaf has a weight for target {} of {}", target, model.num_targets);
    }
  }
  const ir::PrimExpr columns = shape_of(node, x)[1];
  importer.require(node, tir::operator<(relax::extent_imm(most), columns),
                   "trees compare column {}, but the input has {}", relax::extent_imm(most), columns);
}

}  // namespace

Expr joined_trees(Importer& importer, const Node& node, const Expr& x, const TreeModel& model,
                  topi::TreeJoin join) {
  check(importer, node, x, model);
  const DataType dtype = relax::dtype_of(x);
  FlatTrees flat(model, dtype, start_of(join));
  flat.add_all();
  TILEWRIGHT_CHECK(flat.num_nodes() < std::numeric_limits<int32_t>::max() / 4, "trees of {} nodes",
                   flat.num_nodes());
  const std::vector<int64_t> nodes{flat.num_nodes()};
  std::vector<int64_t> children;
  for (size_t n = 0; n < flat.children.size(); ++n) {
    if (n % 3 < 2 || flat.has_nan_children) children.push_back(flat.children[n]);
  }
  const auto integers = [](const std::vector<int64_t>& values) {
    return constant_of(values, {static_cast<int64_t>(values.size())}, kInt32);
  };
  std::vector<Expr> args{x,
                         integers(flat.roots),
                         integers(flat.depths),
                         integers(flat.features),
                         constant_of(flat.values, nodes, dtype),
                         integers(children)};
  const bool is_dense = !flat.other_weights.empty();
  if (is_dense) {
    args.push_back(constant_of(dense_weights(flat, model.num_targets, join),
                               {flat.num_nodes(), model.num_targets}, dtype));
  } else {
    args.push_back(constant_of(flat.weights, nodes, dtype));
    args.push_back(integers(flat.targets));
  }
  const relax::TeFunction compute = [&](const std::vector<te::Tensor>& in) {
    const topi::Trees trees{in[1], in[2], in[3], in[4], in[5], in[6], is_dense ? te::Tensor() : in[7]};
    return std::vector<te::Tensor>{topi::joined_trees(in[0], trees, model.num_targets, join, start_of(join))};
  };
  return importer.builder.emit_te("trees", compute, args);
}

}  // namespace tilewright::frontend::onnx
