#include "tilewright/analysis/warp_accesses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/target/gpu_costs.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

using target::GpuFeatures;

struct ThreadAxis {
  Var var;
  int64_t extent;
};

bool is_shared(const Buffer& buffer) { return buffer->scope().starts_with("shared"); }

/// Walks a kernel, with the values of lets and the conditions around.
class Reader {
 public:
  Reader(const GpuFeatures& gpu, std::vector<WarpAccess>* found) : gpu_(gpu), found_(*found) {}

  void stmt(const Stmt& stmt) {
    if (const auto* loop = stmt.as<ForNode>()) return this->loop(loop);
    if (const auto* let = stmt.as<LetStmtNode>()) {
      expr(let->value);
      values_[let->var.get()] = substitute(let->value, values_);
      return this->stmt(let->body);
    }
    if (const auto* branch = stmt.as<IfThenElseNode>()) {
      expr(branch->condition);
      under(branch->condition, [&] { this->stmt(branch->then_case); });
      if (branch->else_case) under(logical_not(branch->condition), [&] { this->stmt(branch->else_case); });
      return;
    }
    if (const auto* store = stmt.as<BufferStoreNode>()) {
      expr(store->value);
      for (const PrimExpr& index : store->indices) expr(index);
      if (store->indices.size() == 1) access(ObjectRef(store), store->buffer, store->indices[0], true);
      return;
    }
    for_each_part(
        stmt, [&](const PrimExpr& part) { expr(part); }, [&](const Stmt& part) { this->stmt(part); });
  }

 private:
  void loop(const ForNode* loop) {
    int64_t extent = 0;
    as_const_int(loop->extent, &extent);
    analyzer_.bind(loop->loop_var, make_range(loop->min, loop->extent));
    if (loop->for_kind == ForKind::kThreadBinding && loop->thread_tag.starts_with("threadIdx."))
      axes_[loop->thread_tag] = {loop->loop_var, std::max<int64_t>(extent, 1)};
    else
      firsts_[loop->loop_var.get()] = loop->min;
    stmt(loop->body);
  }

  template <class Body>
  void under(const PrimExpr& condition, const Body& body) {
    conditions_.push_back(condition);
    body();
    conditions_.pop_back();
  }

  void expr(const PrimExpr& expr) {
    walk(
        expr,
        [&](const CallNode* call) {
          if (!is_if_then_else(call)) return true;
          const auto condition = ir::ref_as<PrimExprNode>(call->args[0]);
          this->expr(condition);
          under(condition, [&] { this->expr(ir::ref_as<PrimExprNode>(call->args[1])); });
          under(logical_not(condition), [&] { this->expr(ir::ref_as<PrimExprNode>(call->args[2])); });
          return false;
        },
        [&](const BufferLoadNode* load) {
          if (load->indices.size() == 1) access(ObjectRef(load), load->buffer, load->indices[0], false);
          return true;
        });
  }

  // `value` in thread `lane` of the first warp.
  PrimExpr in_lane(const PrimExpr& value, int64_t lane) const {
    Substitution lanes;
    for (const auto& [tag, axis] : axes_) {
      lanes[axis.var.get()] = make_const_int(axis.var->dtype, lane % axis.extent);
      lane /= axis.extent;
    }
    return substitute(substitute(value, values_), lanes);
  }

  bool runs_in_lane(int64_t lane) {
    return std::none_of(conditions_.begin(), conditions_.end(), [&](const PrimExpr& condition) {
      return analyzer_.can_prove(logical_not(in_lane(condition, lane)));
    });
  }

  // The distance of the element of `lane` from `base`; none if it is not known even in the first iterations.
  std::optional<int64_t> distance(const PrimExpr& place, const PrimExpr& base) {
    int64_t value = 0;
    const PrimExpr difference = analyzer_.simplify(place - base);
    if (as_const_int(difference, &value)) return value;
    Substitution first = firsts_;
    PrimExpr there = substitute(difference, first);
    there = analyzer_.simplify(substitute(there, first));  // loops that begin at another one's value
    if (as_const_int(there, &value)) return value;
    return std::nullopt;
  }

  int64_t warp_lanes() const {
    int64_t threads = 1;
    for (const auto& [tag, axis] : axes_) threads *= axis.extent;
    return std::min(threads, gpu_.warp_size);
  }

  void access(const ObjectRef& node, const Buffer& buffer, const PrimExpr& index, bool is_write) {
    const bool is_global = buffer->scope() == "global";
    if (!is_global && !is_shared(buffer)) return;
    const auto* ramp = index.as<RampNode>();
    const PrimExpr start = ramp ? ramp->base : index;
    if (!start->dtype.is_scalar() || (ramp && !is_one(ramp->stride))) return;
    const int64_t element = std::max<int64_t>(buffer->dtype.num_bytes(), 1);
    std::vector<int64_t> offsets;  // in bytes
    PrimExpr base;
    for (int64_t lane = 0; lane < warp_lanes(); ++lane) {
      if (!runs_in_lane(lane)) continue;
      const PrimExpr place = in_lane(start, lane);
      if (!base) base = place;
      const std::optional<int64_t> offset = distance(place, base);
      if (!offset) return;
      offsets.push_back(*offset * element);
    }
    if (offsets.empty()) return;
    WarpAccess found{node, buffer, is_write};
    found.bytes_per_thread = element * (ramp ? index->dtype.lanes : 1);
    found.num_threads = static_cast<int64_t>(offsets.size());
    found.step_bytes = offsets.size() > 1 ? offsets[1] - offsets[0] : 0;
    if (is_global)
      count_sectors(offsets, first_byte(base, element), &found);
    else
      found.bank_ways = bank_ways(offsets, found.bytes_per_thread);
    found_.push_back(std::move(found));
  }

  // Where the first element lies in its sector, as far as its index says.
  int64_t first_byte(const PrimExpr& base, int64_t element) {
    const arith::ModularSet known = analyzer_.modular_set(analyzer_.simplify(base));
    const bool is_known = known.coeff * element % gpu_.sector_bytes == 0;
    return is_known ? (known.base * element % gpu_.sector_bytes + gpu_.sector_bytes) % gpu_.sector_bytes : 0;
  }

  void count_sectors(const std::vector<int64_t>& offsets, int64_t first, WarpAccess* found) const {
    const int64_t size = gpu_.sector_bytes;
    const int64_t least = *std::min_element(offsets.begin(), offsets.end());
    const int64_t shift = first + (least < 0 ? (-least + size - 1) / size * size : 0);
    std::set<int64_t> sectors;
    for (const int64_t offset : offsets) {
      const int64_t begin = offset + shift, end = begin + found->bytes_per_thread;
      for (int64_t sector = begin / size; sector * size < end; ++sector) sectors.insert(sector);
    }
    found->num_sectors = static_cast<int64_t>(sectors.size());
    found->least_sectors = (found->num_threads * found->bytes_per_thread + size - 1) / size;
  }

  // Threads whose words fill all banks go together: all of a warp with words of 4 bytes, 8 of them with 16.
  int64_t bank_ways(const std::vector<int64_t>& offsets, int64_t bytes) const {
    const int64_t least = *std::min_element(offsets.begin(), offsets.end());
    const auto together = static_cast<size_t>(
        std::max<int64_t>(1, gpu_.banks * gpu_.bank_bytes / std::max(bytes, gpu_.bank_bytes)));
    int64_t ways = 1;
    for (size_t begin = 0; begin < offsets.size(); begin += together) {
      std::map<int64_t, std::set<int64_t>> words;  // by bank
      for (size_t n = begin; n < std::min(begin + together, offsets.size()); ++n) {
        const int64_t first = offsets[n] - least, last = first + bytes - 1;
        for (int64_t word = first / gpu_.bank_bytes; word <= last / gpu_.bank_bytes; ++word)
          words[word % gpu_.banks].insert(word);
      }
      for (const auto& [bank, of_bank] : words) ways = std::max(ways, static_cast<int64_t>(of_bank.size()));
    }
    return ways;
  }

  const GpuFeatures& gpu_;
  std::vector<WarpAccess>& found_;
  arith::Analyzer analyzer_;
  std::map<std::string, ThreadAxis> axes_;  // x before y before z
  Substitution values_;                     // of let variables
  Substitution firsts_;                     // of loops that are not over threads: their first values
  std::vector<PrimExpr> conditions_;
};

}  // namespace

std::vector<WarpAccess> warp_accesses(const PrimFunc& kernel, const GpuFeatures& gpu) {
  std::vector<WarpAccess> found;
  Reader(gpu, &found).stmt(kernel->body);
  return found;
}

int64_t BlockSize::estimated_registers() const {
  constexpr int64_t kRegisterBytes = 4;
  return (local_bytes + kRegisterBytes - 1) / kRegisterBytes + target::kGpuCosts.other_registers;
}

BlockSize block_size(const PrimFunc& kernel) {
  BlockSize size;
  size.blocks = 1;
  walk(
      kernel->body,
      [&](const ForNode* loop) {
        if (loop->for_kind != ForKind::kThreadBinding) return;
        int64_t extent = 0;
        as_const_int(loop->extent, &extent);
        const auto axis = static_cast<size_t>(loop->thread_tag.back() - 'x');
        if (loop->thread_tag.starts_with("threadIdx.")) {
          size.block[axis] = std::max<int64_t>(extent, 1);
          size.threads *= size.block[axis];
        }
        if (loop->thread_tag.starts_with("blockIdx.")) {
          size.grid[axis] = loop->extent;
          size.blocks *= extent;
        }
      },
      [&](const AllocBufferNode* alloc) {
        int64_t bytes = alloc->buffer->dtype.num_bytes();
        for (const PrimExpr& extent : alloc->buffer->shape) {
          int64_t value = 0;
          as_const_int(extent, &value);
          bytes *= value;
        }
        if (!is_shared(alloc->buffer)) {
          size.local_bytes += bytes;
          return;
        }
        size.shared.push_back(alloc->buffer);
        size.shared_bytes += bytes;
      });
  return size;
}

}  // namespace tilewright::analysis
