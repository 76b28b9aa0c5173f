#include "tilewright/lower/common/thread_reduction.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

int64_t size_of(const std::vector<std::pair<Var, int64_t>>& axes) {
  int64_t size = 1;
  for (const auto& [var, extent] : axes) size *= extent;
  return size;
}

PrimExpr place_in(const std::vector<std::pair<Var, int64_t>>& axes) {
  PrimExpr place = imm(0);
  for (const auto& [var, extent] : axes) place = place * extent + tir::cast(kInt32, var);
  return place;
}

std::vector<PrimExpr> loads(const std::vector<Buffer>& buffers, const std::vector<PrimExpr>& place) {
  std::vector<PrimExpr> values;
  for (const Buffer& buffer : buffers) values.push_back(load(buffer, place));
  return values;
}

class Combiner {
 public:
  Combiner(const analysis::Update& update, const std::vector<Buffer>& partial,
           const std::vector<PrimExpr>& place, const Sharers& sharers, Combination& how)
      : update_(update),
        partial_(partial),
        place_(place),
        group_(sharers),
        warp_size_(how.warp_size),
        is_for_all_(how.is_for_all),
        shared_(how.shared) {}

  Stmt run() {
    const int64_t parts = group_.num_parts();
    if (parts == 1) return seq({});
    if (can_shuffle(parts)) {
      if (parts <= warp_size_) return shuffled(parts, is_for_all_);
      return between_warps(parts / warp_size_);
    }
    return by_memory(parts);
  }

 private:
  // Lanes exchange registers of 32 and 64 bits; the threads of a group must be lanes side by side.
  bool can_shuffle(int64_t parts) const {
    const bool is_power = std::has_single_bit(static_cast<uint64_t>(parts));
    const bool fits = std::all_of(partial_.begin(), partial_.end(), [](const Buffer& buffer) {
      return buffer->dtype.bits == 32 || buffer->dtype.bits == 64;
    });
    return warp_size_ > 0 && group_.is_fastest && is_power && fits && parts <= warp_size_ * warp_size_;
  }

  // part_n = op(part_n, that of the lane `step` further), for each step; lane 0 of `width` then has the result, which
  // all take if they need it.
  Stmt shuffled(int64_t width, bool is_for_all) const {
    std::vector<Stmt> steps;
    for (int64_t step = width / 2; step > 0; step /= 2) {
      std::vector<PrimExpr> others;
      for (const Buffer& buffer : partial_)
        others.push_back(of_lane("tvm_warp_shuffle_down", buffer, step, width));
      steps.push_back(taken_in(others));
    }
    std::vector<Stmt> results;
    for (const Buffer& buffer : is_for_all ? partial_ : std::vector<Buffer>())
      results.push_back(store(buffer, of_lane("tvm_warp_shuffle", buffer, 0, width), place_));
    steps.push_back(seq(std::move(results)));
    return seq(std::move(steps));
  }
  PrimExpr of_lane(std::string_view operation, const Buffer& buffer, int64_t lane, int64_t width) const {
    const PrimExpr mask = imm(std::numeric_limits<uint32_t>::max(), DataType::uint(32));
    return call(buffer->dtype, operation,
                {mask, load(buffer, place_), imm(lane), imm(width), imm(warp_size_)});
  }

  // Values from other lanes get names, so that all lanes give theirs before any takes one in; one that is used once is
  // given where it is taken.
  Stmt taken_in(const std::vector<PrimExpr>& others) const {
    if (others.size() == 1 && analysis::is_commutative(update_.results[0]->kind, others[0]->dtype))
      return update_stmt(update_, partial_, place_, others);
    std::vector<Var> names;
    std::vector<PrimExpr> terms;
    for (size_t n = 0; n < others.size(); ++n) {
      names.push_back(make_var("other_" + partial_[n]->name, others[n]->dtype));
      terms.push_back(names.back());
    }
    Stmt stmt = update_stmt(update_, partial_, place_, terms);
    for (size_t n = names.size(); n-- > 0;) stmt = LetStmtNode::make(others[n], names[n], stmt);
    return stmt;
  }

  // Each warp puts its parts together, and then each takes the results of all.
  Stmt between_warps(int64_t num_warps) {
    const PrimExpr thread = place_in(group_.parts), other = place_in(group_.others);
    allocate(group_.num_others() * num_warps);
    const std::vector<PrimExpr> own = {other * num_warps + floordiv(thread, warp_size_)};
    const std::vector<PrimExpr> given = {other * num_warps + floormod(thread, num_warps)};
    std::vector<Stmt> written, read;
    for (size_t n = 0; n < partial_.size(); ++n) {
      written.push_back(store(shared_[n], load(partial_[n], place_), own));
      read.push_back(store(partial_[n], load(shared_[n], given), place_));
    }
    return seq({shuffled(warp_size_, false),
                IfThenElseNode::make(equal(floormod(thread, warp_size_), imm(0)), seq(std::move(written))),
                seq(std::move(read)), shuffled(num_warps, is_for_all_)});
  }

  // In shared memory, half of the threads take in the parts of the other half, until one is left.
  Stmt by_memory(int64_t parts) {
    // neighbouring threads have neighbouring elements
    const PrimExpr thread = place_in(group_.parts);
    const int64_t apart = group_.has_neighbours ? 1 : group_.num_others();
    const PrimExpr begin = place_in(group_.others) * (group_.has_neighbours ? parts : 1);
    allocate(group_.num_others() * parts);
    const std::vector<PrimExpr> own = {begin + thread * apart};
    std::vector<Stmt> stmts;
    for (size_t n = 0; n < partial_.size(); ++n)
      stmts.push_back(store(shared_[n], load(partial_[n], place_), own));
    for (auto step = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(parts)) / 2); step > 0;
         step /= 2) {
      const PrimExpr takes = thread < std::min(step, parts - step);
      const Stmt sum = update_stmt(update_, shared_, own, loads(shared_, {begin + (thread + step) * apart}));
      // the first thread has the result without waiting
      const bool is_result = step == 1 && !is_for_all_;
      stmts.push_back(IfThenElseNode::make(takes, is_result ? seq({sum, taken_from(own)}) : sum));
    }
    if (is_for_all_) stmts.push_back(taken_from({begin}));
    return seq(std::move(stmts));
  }

  Stmt taken_from(const std::vector<PrimExpr>& place) const {
    std::vector<Stmt> results;
    for (size_t n = 0; n < partial_.size(); ++n)
      results.push_back(store(partial_[n], load(shared_[n], place), place_));
    return seq(std::move(results));
  }

  void allocate(int64_t num_elements) {
    for (const Buffer& buffer : partial_)
      shared_.push_back(make_buffer(buffer->name + "_shared", {imm(num_elements)}, buffer->dtype, "shared"));
  }

  const analysis::Update& update_;
  const std::vector<Buffer>& partial_;
  const std::vector<PrimExpr>& place_;
  const Sharers& group_;
  const int64_t warp_size_;
  const bool is_for_all_;
  std::vector<Buffer>& shared_;
};

}  // namespace

int64_t Sharers::num_parts() const { return size_of(parts); }
int64_t Sharers::num_others() const { return size_of(others); }

Stmt combine_parts(const analysis::Update& update, const std::vector<Buffer>& partial,
                   const std::vector<PrimExpr>& place, const Sharers& sharers, Combination* how) {
  return Combiner(update, partial, place, sharers, *how).run();
}

}  // namespace tilewright::lower
