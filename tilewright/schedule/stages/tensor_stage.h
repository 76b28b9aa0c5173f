// A stage of a schedule of tensor expressions: one operation, its axes, and what was decided for its loops.
//   xo, xi = s[C].split(x, factor=4)      the stage of C has the leaves xo, xi, y
// Nothing is done here: replay.h turns the decisions of all stages into steps of a schedule of blocks.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "tilewright/te/operation.h"

namespace tilewright::schedule {
using namespace tir;

/// One of the two is null: the length of the inner loop, or the number of iterations of the outer one.
struct AxisSplit {
  IterVar parent, outer, inner;
  PrimExpr factor, nparts;
};
struct AxisFusion {
  IterVar outer, inner, fused;
};
/// The new order of the axes that it names, which take each other's places.
struct AxisOrder {
  std::vector<IterVar> axes;
};
using AxisStep = std::variant<AxisSplit, AxisFusion, AxisOrder>;

/// An intrinsic for a tile, by the names under which its parts are registered; a part may be missing.
struct TileIntrinsic {
  std::string name;    // as errors call it; empty: there is none
  std::string whole;   // computes everything
  std::string reset;   // of a reduction: the first values
  std::string update;  // of a reduction: adds terms
};

/// How the loop of an axis runs.
struct AxisMark {
  ForKind kind = ForKind::kSerial;
  std::string thread_tag;                                      // of a thread binding
  IterVar thread;                                              // the same
  TileIntrinsic intrinsic;                                     // of the tile that begins here
  std::vector<std::pair<std::string, ObjectRef>> annotations;  // in the order given
};

enum class Attachment : uint8_t { kRoot, kInline, kAt };

struct StorageAlign {
  int64_t axis, factor, offset;
};

class TensorStage {
 public:
  explicit TensorStage(te::Operation op);

  const te::Operation& op() const { return op_; }
  const te::Operation& first_op() const { return first_op_; }
  const std::string& name() const { return op_->name; }
  const std::vector<IterVar>& leaves() const { return leaves_; }
  /// Those of the operation: its own, then those of its reduction.
  std::vector<IterVar> roots() const;
  /// All that there ever were.
  const std::vector<IterVar>& axes() const { return axes_; }
  const std::vector<AxisStep>& steps() const { return steps_; }
  /// What was decided for `axis`; all fields have their defaults if nothing was.
  AxisMark mark(const IterVar& axis) const;

  /// Outer and inner axis.  Exactly one of factor and nparts is given.  Raises UserError unless `parent` is a leaf and
  /// the number is positive.
  std::pair<IterVar, IterVar> split(const IterVar& parent, const PrimExpr& factor, const PrimExpr& nparts);
  /// One axis instead of several that follow each other; of none, an axis of one iteration.
  IterVar fuse(const std::vector<IterVar>& axes);
  void reorder(const std::vector<IterVar>& axes);
  void set_kind(const IterVar& axis, ForKind kind, std::string_view verb);
  void bind(const IterVar& axis, const IterVar& thread);
  void annotate(const IterVar& axis, std::string key, ObjectRef value);
  /// Raises UserError if another axis has an intrinsic already.
  void tensorize(const IterVar& axis, TileIntrinsic intrinsic);

  /// From now on the stage computes `op`, whose axes are its leaves.
  void restart(te::Operation op);
  /// From now on the stage computes `op`, which has the same axes.
  void replace(te::Operation op) { op_ = std::move(op); }

  Attachment attachment = Attachment::kRoot;
  std::weak_ptr<const TensorStage> attach_stage;
  IterVar attach_axis;
  std::string
      scope;  // of the results; empty: that of their readers' threads, global for one that is attached nowhere
  bool is_double_buffered = false;
  bool is_output = false;
  std::vector<StorageAlign> alignments;
  std::vector<std::string>
      env_threads;  // of a scan: tags of the threads that are launched once for all steps

  /// The place of `axis` among the leaves.  Raises UserError, with `verb` as what was asked for, if it is none.
  size_t leaf(const IterVar& axis, std::string_view verb) const;

 private:
  AxisMark& change_mark(const IterVar& axis, std::string_view verb);
  IterType common_type(const std::vector<IterVar>& axes) const;
  IterVar new_axis(std::string name, IterType type, DataType dtype);

  te::Operation first_op_, op_;
  std::vector<IterVar> axes_, leaves_;
  std::vector<AxisStep> steps_;
  std::unordered_map<const Object*, AxisMark> marks_;  // by axis
};

}  // namespace tilewright::schedule
