#include "tilewright/te/topi/trees.h"

#include "tilewright/te/extern.h"

namespace tilewright::topi {
namespace {

// Rows that one task takes; a group of trees stays in the cache meanwhile.
constexpr int64_t kRowsOfTask = 32;

class Walk {
 public:
  Walk(const Tensor& x, const Trees& trees, int64_t num_targets, TreeJoin join, double init)
      : inputs_{x, trees.roots, trees.depths, trees.features, trees.values, trees.children, trees.weights},
        num_targets_(num_targets),
        join_(join),
        init_(init),
        has_nan_child_(!is_same_extent(trees.children.shape()[0], trees.features.shape()[0] * 2)) {
    if (trees.targets.get()) inputs_.push_back(trees.targets);
    for (const Tensor& input : inputs_)
      buffers_.push_back(make_buffer(input.name(), input.shape(), input.dtype()));
    const PrimExpr rows = x.shape()[0];
    out_ = make_buffer("T_trees", {rows, make_const_int(rows->dtype, num_targets)}, trees.weights.dtype());
    node_ = make_buffer("node", {imm(kTreesAtOnce)}, kInt32);
  }

  Tensor result() const {
    const PrimExpr rows = inputs_[0].shape()[0];
    const Var task = make_var("task", rows->dtype);
    const PrimExpr first = task * kRowsOfTask;
    const PrimExpr count = tir::min(rows - first, make_const_int(rows->dtype, kRowsOfTask));
    const Stmt groups = for_each("group", inputs_[2].shape()[0], [&](const Var& group) {
      return for_each("row", count, [&](const Var& row) { return add_group(group, first + row); });
    });
    const Stmt begin = for_each("row", count, [&](const Var& row) {
      return for_each("target", make_const_int(rows->dtype, num_targets_), [&](const Var& target) {
        return store(out_, make_const(out_->dtype, init_), {first + row, target});
      });
    });
    const Stmt body = AllocBufferNode::make(node_, AttrMap{}, seq({begin, groups}));
    const Stmt whole =
        loop(task, tir::ceildiv(rows, make_const_int(rows->dtype, kRowsOfTask)), body, ForKind::kParallel);
    return te::external("T_trees", {inputs_, buffers_, {out_}, whole})[0];
  }

 private:
  static bool is_same_extent(const PrimExpr& a, const PrimExpr& b) {
    int64_t left = 0, right = 1;
    return as_const_int(a, &left) && as_const_int(b, &right) && left == right;
  }

  template <class Body>
  static Stmt for_each(const char* name, const PrimExpr& extent, const Body& body,
                       ForKind kind = ForKind::kSerial) {
    const Var var = make_var(name, extent->dtype);
    return loop(var, extent, body(var), kind);
  }
  template <class Body>
  static Stmt for_each_tree(const Body& body) {
    return for_each("tree", imm(kTreesAtOnce), body, ForKind::kUnrolled);
  }

  PrimExpr element(size_t input, PrimExpr index) const { return load(buffers_[input], {std::move(index)}); }

  PrimExpr child(const PrimExpr& node, const PrimExpr& row) const {
    const PrimExpr x = load(buffers_[0], {row, tir::cast(row->dtype, element(3, node))});
    const PrimExpr is_above = tir::cast(kInt32, tir::logical_not(x <= element(4, node)));
    if (!has_nan_child_) return element(5, node * 2 + is_above);
    const PrimExpr is_nan = tir::call(kBoolType, "isnan", {x});
    return element(5, node * 3 + tir::select(is_nan, imm(2), is_above));
  }

  PrimExpr joined(const PrimExpr& a, const PrimExpr& b) const {
    return join_ == TreeJoin::kSum ? a + b : join_ == TreeJoin::kMin ? tir::min(a, b) : tir::max(a, b);
  }

  Stmt add_to(const PrimExpr& row, const PrimExpr& target, const PrimExpr& weight) const {
    return store(out_, joined(load(out_, {row, target}), weight), {row, target});
  }

  // The weights of the leaves that stand in node_.
  Stmt add_leaves(const PrimExpr& row) const {
    const auto leaf = [&](const PrimExpr& tree) { return load(node_, {tree}); };
    if (num_targets_ == 1 && buffers_.size() == 8) {
      PrimExpr total = element(6, leaf(imm(0)));
      for (int64_t n = 1; n < kTreesAtOnce; ++n) total = joined(total, element(6, leaf(imm(n))));
      return add_to(row, make_const_int(row->dtype, 0), total);
    }
    return for_each_tree([&](const Var& tree) {
      if (buffers_.size() == 8)
        return add_to(row, tir::cast(row->dtype, element(7, leaf(tree))), element(6, leaf(tree)));
      return for_each("target", make_const_int(row->dtype, num_targets_), [&](const Var& target) {
        return add_to(row, target, load(buffers_[6], {tir::cast(row->dtype, leaf(tree)), target}));
      });
    });
  }

  Stmt add_group(const PrimExpr& group, const PrimExpr& row) const {
    const auto node = [&](const Var& tree) { return load(node_, {tree}); };
    const Stmt begin = for_each_tree([&](const Var& tree) {
      return store(node_, element(1, group * kTreesAtOnce + tir::cast(group->dtype, tree)), {tree});
    });
    const Stmt steps = for_each("step", element(2, group), [&](const Var&) {
      return for_each_tree([&](const Var& tree) { return store(node_, child(node(tree), row), {tree}); });
    });
    return seq({begin, steps, add_leaves(row)});
  }

  std::vector<Tensor> inputs_;   // x, roots, depths, features, values, children, weights, targets
  std::vector<Buffer> buffers_;  // of the inputs
  int64_t num_targets_;
  TreeJoin join_;
  double init_;
  bool has_nan_child_;
  Buffer out_, node_;
};

}  // namespace

Tensor joined_trees(const Tensor& x, const Trees& trees, int64_t num_targets, TreeJoin join, double init) {
  return Walk(x, trees, num_targets, join, init).result();
}

}  // namespace tilewright::topi
