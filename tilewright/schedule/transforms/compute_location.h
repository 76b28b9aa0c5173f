// Shared by compute_at and reverse_compute_at: where a block may go and where in a loop body it is put.
#pragma once
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {

/// The arguments of compute_at and reverse_compute_at.
struct MoveArgs {
  BlockRef block;
  LoopRef loop;
  bool preserve_unit_loops = false;
  int64_t index = -1;
  static constexpr auto fields() {
    return std::tuple{
        field<&MoveArgs::block>("block", "what is moved"),
        field<&MoveArgs::loop>("loop", "where it goes: a loop, or what sample_compute_location gave"),
        field<&MoveArgs::preserve_unit_loops>("preserve_unit_loops",
                                              "make loops of extent 1 for axes that take one value"),
        field<&MoveArgs::index>(
            "index", "place in the body of loop: -1 last possible, -2 first possible, else the position")};
  }
};

/// If `args.loop` stands for a place that is no loop, does what it says: leaves the block where it is, or
/// inlines it with `inline_primitive`.
bool moved_to_special_place(State& state, const MoveArgs& args, std::string_view inline_primitive);

/// Raises UserError unless block and loop are of one scope and the loop is not around the block.
void require_same_scope(const State& state, NodeId block, NodeId loop);

/// The position among the statements of `loop` where a block goes: index -1 the last possible, -2 the first
/// possible, else the position itself.  It comes after `producers` and before `consumers`, blocks of which
/// some are in the loop.
size_t insert_position(const State& state, NodeId loop, int64_t index, const std::vector<NodeId>& producers,
                       const std::vector<NodeId>& consumers);

/// `loop` with `stmt` put at `position` of its body.
Stmt with_inserted(const ForNode* loop, size_t position, const Stmt& stmt);

}  // namespace tilewright::schedule
