// Compiles a PrimFunc to FunctionCode: assigns a slot to each variable and a view to each buffer.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "tilewright/analysis/interpreter/code.h"
#include "tilewright/analysis/interpreter/kernel.h"

namespace tilewright::analysis {

struct DeviceOp;

/// A region of a block that must contain an access, as positions in Frame::bounds.
struct RegionBounds {
  BufferRegion region;
  size_t first = 0;  // position of its first dimension
};

/// The declaration of one enclosing block about a buffer: one of `allowed` must contain the indices, after
/// they are shifted through the views in between.
struct RegionCheck {
  std::string block, function;  // name, "T.reads"
  std::vector<RegionBounds> allowed;
  std::vector<std::pair<size_t, size_t>>
      through;  // (first bounds of the viewed region, its number of dimensions)
};

/// An access to one element, ready to be checked and performed.
struct Access {
  Buffer buffer;
  size_t view = 0;
  DataType element;  // dtype of one lane
  int64_t buffer_lanes = 1;
  std::vector<CodePtr> indices;
  std::vector<RegionCheck> checks;
  bool is_write = false;
  bool is_of_sum = false;  // threads add to the buffer together
  SitePtr site;

  /// The offset in bits of the element at `index` (one value per dimension) in its memory, after all checks.
  /// With `is_there`, reading an element that was never written is not an error but sets it to false.  A `value` that
  /// will be written is no race of two threads if the element has it already.
  int64_t place(Frame& frame, const int64_t* index, bool* is_there = nullptr,
                const Scalar* value = nullptr) const;
  /// The start of the memory.
  char* data(Frame& frame) const { return frame.views[view].memory->data; }
  [[noreturn]] void fail_uninitialised(Frame& frame, const int64_t* index) const;

 private:
  void check_regions(Frame& frame, const int64_t* index) const;
  [[noreturn]] void fail_region(const RegionCheck& check, Frame& frame, const int64_t* index) const;
  [[noreturn]] void fail_race(const Parting& part, bool was_write, Frame& frame, const int64_t* index) const;
  std::string element_text(const int64_t* index) const;
};

/// True for the axes of blocks and threads, not for virtual threads.
bool is_kernel_axis(std::string_view tag);

/// The kernel that is being compiled.
struct Kernel {
  std::vector<std::string> tags;  // its axes, as Frame::axis_values has them
  // each statement of a sequence begins when all threads have ended the one before
  bool waits_between_stages = false;
  std::unordered_set<const tir::VarNode*> own;  // pointers of buffers of which each thread has its own
};

class Compiler {
 public:
  explicit Compiler(const InterpretOptions& options) : options_(options) {}
  std::unique_ptr<FunctionCode> function(const PrimFunc& func);

 private:
  // compile_expr.cc
  CodePtr expr(const PrimExpr& expr);
  std::vector<CodePtr> exprs(const std::vector<PrimExpr>& list);
  CodePtr variable(const tir::VarNode* var);
  CodePtr int_literal(DataType dtype, int64_t value);
  CodePtr binary(const BinaryOpNode* op);
  CodePtr int_operator(const BinaryOpNode* op, CodePtr a, CodePtr b);
  CodePtr vector_operator(const BinaryOpNode* op, CodePtr a, CodePtr b);
  CodePtr cast(const CastNode* cast);
  CodePtr select(const PrimExpr& condition, const PrimExpr& then_value, const PrimExpr& else_value,
                 bool evaluates_both, DataType dtype);
  CodePtr let(const LetNode* let);
  CodePtr vector(const PrimExpr& expr);
  // compile_access.cc
  std::shared_ptr<Access> access(const Buffer& buffer, const std::vector<PrimExpr>& indices, bool is_write,
                                 const ObjectRef& node);
  bool is_of_sum(const Buffer& buffer, const std::vector<PrimExpr>& indices, bool is_write) const;
  CodePtr load(const BufferLoadNode* load);
  StmtCodePtr store(const BufferStoreNode* store);
  StmtCodePtr chosen_copy(const BufferStoreNode* store);
  StmtCodePtr copy(const BufferStoreNode* store, const BufferLoadNode* load);
  std::vector<RegionCheck> region_checks(const Buffer& buffer, bool is_write);
  // compile_call.cc
  CodePtr call(const tir::CallNode* call);
  CodePtr pointer_call(const tir::CallNode* call, std::string_view name);
  CodePtr function_call(const tir::CallNode* call);
  CodePtr parallel_call(const tir::CallNode* call);
  CodePtr foreign_call(const tir::CallNode* call, std::string_view name);
  CodePtr intrinsic_call(const tir::CallNode* call);
  CodePtr dot_call(const tir::CallNode* call);
  CodePtr elementwise_call(const tir::CallNode* call, std::string_view name);
  CodePtr device_call(const tir::CallNode* call, const DeviceOp& op);
  CodePtr control_call(const tir::CallNode* call, std::string_view name);
  // compile_stmt.cc
  StmtCodePtr stmt(const Stmt& stmt);
  StmtCodePtr loop(const ForNode* loop);
  StmtCodePtr loop_code(const tir::Var& var, CodePtr min, CodePtr extent, bool is_concurrent,
                        const ObjectRef& node, const Stmt& body);
  StmtCodePtr launch(const AttrStmtNode* attr);
  StmtCodePtr branch(const IfThenElseNode* branch);
  StmtCodePtr while_loop(const WhileNode* loop);
  StmtCodePtr sequence(const SeqStmtNode* list);
  StmtCodePtr assertion(const AssertStmtNode* node);
  StmtCodePtr let_stmt(const LetStmtNode* let);
  StmtCodePtr allocate(const Buffer& buffer);
  StmtCodePtr declare(const DeclBufferNode* decl);
  StmtCodePtr bind_parameter(const Buffer& buffer, size_t param_slot, const ObjectRef& node);
  // compile_kernel.cc
  StmtCodePtr kernel(const Stmt& stmt);
  StmtCodePtr bound_loop(const tir::Var& var, const std::string& tag, const PrimExpr& extent,
                         const ObjectRef& node, const Stmt& body);
  void private_views(const Stmt& stmt, std::vector<size_t>* of_blocks, std::vector<OwnBuffer>* of_threads);
  // compile_block.cc
  StmtCodePtr block(const BlockRealizeNode* realize);
  StmtCodePtr axes(const BlockRealizeNode* realize);
  StmtCodePtr regions(const BlockNode* block, std::vector<RegionBounds>* reads,
                      std::vector<RegionBounds>* writes);
  StmtCodePtr evaluate_region(const RegionBounds& bounds);
  StmtCodePtr match_buffer(const MatchBufferRegionNode* match, const RegionBounds& source);
  uint32_t thread_axes_of(const PrimExpr& value) const;
  uint32_t enter_axes(const BlockRealizeNode* realize);
  // A view to which threads add together, and if each of them has its own.
  struct SummedView {
    size_t view;
    bool is_own;
  };
  std::vector<SummedView> enter_sum(const BlockNode* block);

  size_t new_slot(const tir::VarNode* var);
  size_t slot_of(const tir::VarNode* var) const;
  size_t new_view(const Buffer& buffer);
  size_t view_of(const Buffer& buffer, const ObjectRef& where) const;
  RegionBounds new_bounds(const BufferRegion& region);
  /// The place of `node` with the enclosing loops.
  SitePtr site(const ObjectRef& node) const;
  /// The largest number of bits that divides all accesses to this memory.
  int64_t unit_of(const tir::VarNode* data) const;

  struct OpenBlock {
    const BlockNode* block;
    std::vector<RegionBounds> reads, writes;
    std::unordered_map<const BufferNode*, RegionBounds> matched;  // views that the block creates
    bool declares_regions;
  };
  const InterpretOptions& options_;
  std::unordered_map<const tir::VarNode*, size_t> slots_;
  std::unordered_map<const BufferNode*, size_t> views_;
  std::unordered_map<const tir::VarNode*, int64_t> units_;
  std::unordered_map<const BufferNode*, size_t>
      depth_of_;  // number of open blocks where it is allocated or declared
  std::vector<OpenBlock> blocks_;
  std::vector<std::pair<std::string, size_t>> iterations_;
  std::unordered_set<const BufferNode*> allocated_outside_;  // of kernels
  Kernel* kernel_ = nullptr;                                 // null outside of kernels
  // the variables of the enclosing loops over threads of a block, and the block axes made of them: bit n is axis n
  std::vector<std::pair<const tir::VarNode*, uint32_t>> thread_vars_;
  std::vector<const tir::VarNode*> sums_;  // pointers of the buffers to which threads add together here
  bool is_inside_stage_ = false;           // a sequence here belongs to one stage, and does not wait
  // buffers private to one iteration, by loop
  std::unordered_map<const StmtNode*, std::vector<Buffer>> privates_;
  size_t num_slots_ = 0, num_views_ = 0, num_bounds_ = 0, num_allocations_ = 0;
};

}  // namespace tilewright::analysis
