// The form of a block that rules decide by: how its accesses run along its axes.
#pragma once
#include <optional>

#include "tilewright/arith/likely.h"
#include "tilewright/schedule/default/choices.h"
#include "tilewright/schedule/default/reason.h"
#include "tilewright/schedule/schedule.h"
#include "tilewright/target/costs.h"
#include "tilewright/target/features.h"

namespace tilewright::schedule {
using target::Features;
using target::kLoopCosts;
using target::kTileCosts;

/// How an access moves when an axis takes its next value.
enum class Along {
  kStays,       // to the same element
  kContiguous,  // to the next one in memory
  kStrided,     // elsewhere
};
/// How much `index` grows when `axis` takes its next value.
PrimExpr step_along(const PrimExpr& index, const Var& axis);
/// The last dimension of an extent other than 1, or the first one; of a buffer that has dimensions.
size_t last_dimension(const Buffer& buffer);
/// True if the columns along `axis` lie in panels, [axis // width, ..., axis % width]: the next element is the
/// next one in memory within a panel.  Where a vector reaches over a panel's end it is gathered.
bool is_in_panels(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Var& axis);
/// The indices of an access to `buffer` along `axis`.
Along along(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Var& axis);

/// A block as its definition: one store of one value, plus an init if it is a reduction.
struct BlockShape {
  BlockRef ref;
  Block block;  // keeps what the others point into
  const BufferStoreNode* store = nullptr;
  std::vector<const BufferLoadNode*> loads;  // in the value, without those of the stored buffer
  ir::AttrMap likely_sizes;                  // of the function (arith/likely.h)

  const Buffer& output() const { return store->buffer; }
  bool is_reduction() const { return block->init != nullptr; }
  /// The constant extent of an axis, or `otherwise`.
  int64_t extent(size_t axis, int64_t otherwise = 0) const;
  /// The constant or likely extent of an axis, or `otherwise`.
  int64_t likely_extent(size_t axis, int64_t otherwise = kLoopCosts.likely_extent) const;
  /// The bytes of `buffer`, an extent that is not known having its likely value, or `open_extent`; the largest
  /// number if that is too much.
  int64_t num_bytes(const Buffer& buffer, int64_t open_extent = 1) const;
  /// The axis that is the stored buffer's last dimension (of an extent other than 1); nothing if that is no
  /// axis.
  std::optional<size_t> last_axis() const;
  /// How many times the statement runs, if axes have their likely extents.
  int64_t num_instances() const;
  /// Calls of exp, tanh and the like make a value expensive.
  bool is_expensive() const;
  /// The value of a decision (default/choices.h), or `by_rules`.
  int64_t planned(std::string_view name, int64_t by_rules) const {
    return schedule::planned(block, name, by_rules);
  }
};

/// How a load of `shape` moves along one of its axes.
inline Along along(const BlockShape& shape, const BufferLoadNode* load, size_t axis) {
  return along(load->buffer, load->indices, shape.block->iter_vars[axis]->var);
}

/// The name of an axis.
const std::string& axis_name(const BlockShape& shape, size_t axis);
/// The axis whose value `index` is; nothing if it is another expression.
std::optional<size_t> axis_of(const BlockShape& shape, const PrimExpr& index);
/// Why there is no last_axis.
Reason why_no_last_axis(const BlockShape& shape);
/// The reason of a rule that needs the extent of `axis`, which is known only at run time.
Reason open_extent(const BlockShape& shape, size_t axis);
/// The reason of a rule that needs `axis` in whole `parts` of `size`, which its extent does not fill: "the 13
/// terms of axis vk fill 13 of 16 places (81 %) in groups of 4, and all must be filled".
Reason partly_filled(const BlockShape& shape, size_t axis, std::string_view what, int64_t size,
                     std::string_view parts);

/// How many terms each result of a reduction has, if axes have their likely extents.
int64_t num_steps(const BlockShape& sum);

/// The distance of what two neighbours along `axis` read; nothing if it is not constant.
std::optional<int64_t> stride_bytes(const BlockShape& shape, const BufferLoadNode* load, size_t axis);

/// True if `shape` reads `buffer`.
bool reads(const BlockShape& shape, const Buffer& buffer);

/// True if `shape` copies a buffer with a border around it, if_then_else(inside, A[...], value), and every
/// place of its last axis is inside or none.
bool is_padding(const BlockShape& shape);

/// True if `shape` reads more than `bytes` of one buffer.
bool reads_beyond(const BlockShape& shape, int64_t bytes);

/// Where sizes are added or compared more is as much as this, so that a few times as much is still a number.
inline constexpr int64_t kMostBytes = int64_t{1} << 50;

/// The product of two numbers >= 0, or the largest number.
int64_t product(int64_t a, int64_t b);

/// The shape of `block`, or why it is another kind of block.
OrReason<BlockShape> shape_of(const Schedule& sch, BlockRef block);

/// The one of `shapes` whose block has this part (tir/block_roles.h); null if there is none, or more than
/// one.
const BlockShape* block_in_role(const std::vector<BlockShape>& shapes, std::string_view role);

/// The loops of `block` inside of `outer` (all, if there is none), outermost first.
std::vector<LoopRef> loops_inside(Schedule& sch, BlockRef block, std::optional<LoopRef> outer);
/// The loops of `loops` whose variable is in the value of `axis`.
std::vector<LoopRef> loops_of_axis(const Schedule& sch, BlockRef block, size_t axis,
                                   const std::vector<LoopRef>& loops);
/// True if loops give the value of `axis`; an axis of one value may be a number instead.
bool has_loop(const Schedule& sch, BlockRef block, size_t axis);

}  // namespace tilewright::schedule
