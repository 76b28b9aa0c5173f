// The state while the body of a PrimFunc is parsed.
#pragma once
#include <functional>
#include <map>
#include <unordered_set>

#include "tilewright/script/parser/macros.h"
#include "tilewright/script/parser/parser.h"

namespace tilewright::script {

/// The statements of one level.  Statements that hold for all that follow (let,
/// allocation, attribute) have `wrap`.
class StmtList {
 public:
  void add(tir::Stmt stmt);
  void open(std::function<tir::Stmt(tir::Stmt)> wrap) { items_.push_back({nullptr, std::move(wrap)}); }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  /// All statements as one; T.evaluate(0) if there are none.
  tir::Stmt close();

 private:
  struct Item {
    tir::Stmt stmt;
    std::function<tir::Stmt(tir::Stmt)> wrap;
  };
  std::vector<Item> items_;
};

struct LoopInfo {
  PrimExpr min, extent;
  Span span;  // of the iterator
};

/// A block axis as it was written, checked against its loop when the block is complete.
struct AxisWritten {
  IterVar axis;
  PrimExpr value;
  Span span;
};

struct BlockState {
  std::string name;
  Span span;
  std::vector<AxisWritten> axes;
  std::optional<std::vector<BufferRegion>> reads, writes;
  std::vector<Buffer> alloc_buffers;
  std::vector<MatchBufferRegion> match_buffers;
  AttrMap annotations;
  tir::Stmt init;
  PrimExpr predicate;
};

struct TirState {
  std::string name;
  std::vector<tir::Var> params;
  std::vector<Buffer> buffers;
  AttrMap attrs;
  ir::Type ret_type;
  std::vector<Buffer> root_buffers;
  StmtList* out = nullptr;          // receives the statements
  std::vector<BlockState*> blocks;  // the innermost is last
  bool has_blocks = false;          // the text has T.block or T.sblock: T.alloc_buffer belongs to a block
  bool check_well_formed = true;    // refuse unintended programs (ParseOptions and the decorator)
  bool is_sblock_era = false;       // T.sblock is written: T.alloc_buffer is a statement
  std::map<std::string, tir::Var, std::less<>> dims;  // variables of dimensions written as strings
  std::unordered_map<const tir::VarNode*, LoopInfo> loops;
  std::unordered_map<const tir::VarNode*, IterVar> env_threads;
  // the last outermost block, and which of its regions were inferred, not written: a root block keeps neither
  tir::Block top_block;
  bool top_reads_found = false, top_writes_found = false;
  std::vector<std::pair<tir::Var, Span>> declared;  // n = T.int64(): must be defined later
  std::unordered_set<const tir::VarNode*> defined;
  std::unordered_set<const ir::Object*> fresh;  // new variables that no name refers to yet
  MacroCalls macros;
};

/// The buffer described by the arguments from position `first` on: shape, dtype, data, strides, elem_offset,
/// scope, align, offset_factor, buffer_type, axis_separators.  Without `data` it gets a new pointer.
Buffer buffer_from_args(Parser& parser, Args& args, size_t first, std::string name,
                        const Buffer& defaults = {});

}  // namespace tilewright::script
