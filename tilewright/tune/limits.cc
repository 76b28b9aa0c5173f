#include "tilewright/tune/limits.h"

#include <algorithm>

#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::tune {
namespace {

using namespace tir;
using schedule::Reason;

// L1 for instructions of every common core is 32 KiB or more (Intel's and AMD's optimisation manuals, Arm's technical
// reference manuals); a vector statement is a load, a multiply-add and their addresses, 8 bytes each.
constexpr int64_t kInstructionCacheBytes = 32 << 10, kStatementBytes = 32;
constexpr int64_t kMostVectorsOfStore = 8;

// Statements of a program after unrolling, and the largest tile in registers.
class Size {
 public:
  explicit Size(const CodeLimits& limits) : limits_(limits) {}

  int64_t statements(const Stmt& stmt) {
    if (const auto* seq = stmt.as<SeqStmtNode>()) {
      int64_t sum = 0;
      for (const Stmt& each : seq->seq) sum += statements(each);
      return sum;
    }
    if (const auto* loop = stmt.as<ForNode>()) return of_loop(loop);
    if (const auto* realize = stmt.as<BlockRealizeNode>()) return of_block(realize);
    if (const auto* branch = stmt.as<IfThenElseNode>())
      return statements(branch->then_case) + (branch->else_case ? statements(branch->else_case) : 0);
    return 1;
  }
  int64_t tile_bytes = 0, vector_bytes = 0;

 private:
  int64_t of_loop(const ForNode* loop) {
    int64_t extent = 1;
    const bool is_written_out =
        loop->for_kind == ForKind::kUnrolled || loop->for_kind == ForKind::kVectorized;
    if (!is_written_out || !as_const_int(loop->extent, &extent)) return statements(loop->body);
    written_out_.push_back(loop);
    const int64_t inside = statements(loop->body);
    written_out_.pop_back();
    return schedule::product(inside, loop->for_kind == ForKind::kUnrolled ? extent : 1);
  }

  int64_t of_block(const BlockRealizeNode* realize) {
    const BlockNode* block = realize->block.get();
    const auto* store = block->body.as<BufferStoreNode>();
    const int64_t init = block->init ? statements(block->init) : 0;
    if (!store) return init + statements(block->body);
    int64_t tile = store->buffer->dtype.num_bytes(), vector = tile;
    for (const ForNode* loop : written_out_) {
      int64_t extent = 1;
      as_const_int(loop->extent, &extent);
      if (loop->for_kind == ForKind::kVectorized) vector = schedule::product(vector, extent);
      for (size_t axis = 0; axis < block->iter_vars.size(); ++axis) {
        if (block->iter_vars[axis]->iter_type == IterType::kSpatial &&
            uses(realize->iter_values[axis], loop->loop_var.get()))
          tile = schedule::product(tile, extent);
      }
    }
    vector_bytes = std::max(vector_bytes, vector);
    if (store->buffer->scope() == "local") tile_bytes = std::max(tile_bytes, tile);
    return init + (vector - 1) / (limits_.most_vector_bytes / kMostVectorsOfStore) + 1;
  }

  const CodeLimits& limits_;
  std::vector<const ForNode*> written_out_;
};

}  // namespace

CodeLimits limits_of(const target::Features& features) {
  return {.most_statements = kInstructionCacheBytes / kStatementBytes,
          .most_vector_bytes = kMostVectorsOfStore * features.vector_bytes,
          .register_bytes = features.num_vector_registers * features.vector_bytes};
}

std::optional<Reason> why_beyond(const schedule::Schedule& sch, const CodeLimits& limits) {
  Size size(limits);
  int64_t statements = 0;
  for (const schedule::State::Func& func : sch.state().funcs()) {
    if (func.func) statements += size.statements(func.func->body);
  }
  if (statements > limits.most_statements)
    return Reason(Reason::kCost,
                  "it would be {} statements, more than the {} that the instruction cache holds", statements,
                  limits.most_statements);
  if (size.vector_bytes > limits.most_vector_bytes)
    return Reason(Reason::kCost, "a vector would have {} bytes, more than {}", size.vector_bytes,
                  limits.most_vector_bytes);
  if (size.tile_bytes > limits.register_bytes)
    return Reason(Reason::kCost, "a tile has {} bytes, but all vector registers {}", size.tile_bytes,
                  limits.register_bytes);
  return std::nullopt;
}

}  // namespace tilewright::tune
