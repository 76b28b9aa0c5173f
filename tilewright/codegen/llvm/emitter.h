// Translates lowered TIR (lower/lowered.h) to LLVM IR: one FunctionEmitter per function, sharing a
// ModuleEmitter.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/codegen/llvm/multiply_add.h"
#include "tilewright/codegen/llvm/native.h"
#include "tilewright/codegen/llvm/tile_nest.h"
#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::codegen {
using namespace tir;

/// True if values of `dtype` are kept in registers as their bits, without arithmetic: bfloat16 and float8.
bool is_bits_only(DataType dtype);
/// The LLVM type of a value of `dtype` in a register: bool is i1, bfloat16 its 16 bits, a handle `ptr`.
/// Raises Unsupported for types that cannot be compiled (sub-byte integers, scalable vectors).
llvm::Type* llvm_type(llvm::LLVMContext& context, DataType dtype);
/// The same in memory, where a bool is one byte.
llvm::Type* llvm_memory_type(llvm::LLVMContext& context, DataType dtype);

/// True if one instruction can load the vector `dtype` from elements that are `stride` apart, and is the
/// fastest way.
bool loads_by_stride(const NativeTarget& target, DataType dtype, int64_t stride);

/// Position of the function pointers in TilewrightHost, after its two 32-bit fields.
enum class HostMember { kParallelFor, kSetError, kWorkspaceAlloc, kWorkspaceFree, kCallPacked };

/// One LLVM module under construction.
class ModuleEmitter {
 public:
  ModuleEmitter(llvm::Module& module, const NativeTarget& target) : module(module), target(target) {}

  /// Declares every function of `lowered`, then defines those that have a body.
  void emit(const IRModule& lowered);

  /// The function `name` of the lowered module; raises InternalError if there is none.
  llvm::Function* function(const std::string& name) const;
  /// A C function of the process or of a library.
  llvm::FunctionCallee external(const std::string& name, llvm::Type* result, std::vector<llvm::Type*> params,
                                bool is_variadic = false);
  /// Address of constant text that ends with 0.
  llvm::Constant* text(const std::string& value);
  /// The `const TilewrightHost*` of this library, null under another host; and one of its functions.
  llvm::Value* load_host(llvm::IRBuilder<>& builder);
  llvm::Value* host_member(llvm::IRBuilder<>& builder, llvm::Value* host, HostMember member);
  /// The type size_t of C; and a number of bytes converted to it.
  llvm::IntegerType* size_type();
  llvm::Value* as_size(llvm::IRBuilder<>& builder, llvm::Value* bytes);
  // Functions of this module that use the host if there is one (helpers.cc).
  /// i32 raise(kind, message): returns -1 and sets the current error of the host or of tvm-ffi, if there is
  /// either.
  llvm::Function* raise_function();
  /// i32 raise_format(kind, format, ...): the same with values, formatted like printf.
  llvm::Function* raise_format_function(bool is_long);
  /// ptr alloc(i64 bytes, i64 alignment), null after an error;  void free(ptr).
  llvm::Function* workspace_alloc_function();
  llvm::Function* workspace_free_function();
  /// ptr dtype_text(i32 bits of a DLDataType): the name of the dtype.
  llvm::Function* dtype_text_function();
  /// i64 power(i64 x, i64 y): x^y of an unsigned y (integer_power.cc).
  llvm::Function* power_function();
  /// i32 check_registers(): 0 if the registers of SVE or RVV are as wide as the code requires, else -1 after
  /// an error (register_width.cc).
  llvm::Function* check_registers_function();
  /// i32 allow_tiles(): 0 if the process may use tile registers, else -1 after an error (matrix_tiles.cc).
  llvm::Function* allow_tiles_function();

  llvm::Module& module;
  const NativeTarget& target;

 private:
  void export_params(const std::string& name, const std::string& description);
  llvm::Function* declare(const std::string& name, const PrimFuncNode* func);
  void set_attributes(llvm::Function* function, const PrimFuncNode* func);
  /// Tells LLVM the minimum width of SVE and RVV registers (register_width.cc).
  void set_register_width(llvm::Function* function) const;
  /// Defines the functions that LLVM calls for float16 on CPUs without conversion instructions (half.cc).
  void define_half_conversions();
  llvm::Function* helper(const char* name, llvm::Type* result, std::vector<llvm::Type*> params,
                         bool is_variadic = false);
  std::unordered_map<std::string, llvm::Function*> functions_;
  std::unordered_map<std::string, llvm::Constant*> texts_;
};

/// Emits the body of one function.
class FunctionEmitter {
 public:
  FunctionEmitter(ModuleEmitter& module, llvm::Function* function, const PrimFuncNode* func);
  void run();

 private:
  // ---- expressions (expr.cc)
  llvm::Value* emit(const PrimExpr& expr);
  /// The same as part of an address: int32 and int64 arithmetic does not wrap.
  llvm::Value* emit_index(const PrimExpr& expr);
  /// The same, in 64 bits.
  llvm::Value* emit_offset(const PrimExpr& expr);
  llvm::Value* emit_binary(const BinaryOpNode* node);
  llvm::Value* emit_multiply_add(const BinaryOpNode* node);  // multiply_add.cc
  std::optional<Factors> emit_factors(const PrimExpr& expr);
  llvm::Value* emit_division(const BinaryOpNode* node, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_floor_division(const BinaryOpNode* node, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_float_remainder(llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_remainder(llvm::Value* a, llvm::Value* b);  // remainder.cc
  llvm::Value* emit_truncated(const BinaryOpNode* node, bool is_div, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_compare(Kind kind, DataType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_min_max(const BinaryOpNode* node, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_nan_min_max(Kind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_logic(const BinaryOpNode* node);
  llvm::Value* emit_cast(DataType from, DataType to, llvm::Value* value);
  /// Conversions between the bits of small floats and other values (small_float.cc).
  llvm::Value* widen_float(llvm::Value* bits, DataType from);
  llvm::Value* narrow_float(llvm::Value* value, DataType from, DataType to);
  /// bfloat16 of select(abs(x) < 2^-126, x * 0, x) by an instruction that flushes denormals to 0; null if
  /// there is none.
  llvm::Value* emit_flushed_bfloat16(const CastNode* cast);
  llvm::Value* emit_ramp(const RampNode* node);
  llvm::Value* emit_shuffle(const ShuffleNode* node);
  llvm::Value* emit_let(const LetNode* node);
  llvm::Value* splat(llvm::Value* value, int lanes);

  // ---- memory (memory.cc)
  llvm::Value* emit_load(const BufferLoadNode* node);
  // strided_loads.cc
  llvm::Value* load_by_stride(const Buffer& buffer, const RampNode* ramp, int64_t stride, llvm::Type* type,
                              llvm::Value* mask);
  llvm::Value* strided_load(const Buffer& buffer, const RampNode* ramp, int64_t stride, llvm::Type* type,
                            llvm::Value* mask);
  void emit_store(const BufferStoreNode* node);
  llvm::Value* pointer_of(const Buffer& buffer);
  // may_leave  the element may lie outside of the buffer, in which case a mask disables the access
  llvm::Value* element_pointer(const Buffer& buffer, const PrimExpr& index, bool may_leave = false);
  llvm::Value* element_pointer(const Buffer& buffer, llvm::Value* offset, bool may_leave = false);
  /// Converts a register value to its form in memory, and back: a bool is widened to a byte.
  llvm::Value* to_memory(llvm::Value* value, DataType dtype);
  llvm::Value* from_memory(llvm::Value* value, DataType dtype);
  void emit_alloc(const AllocBufferNode* node);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, uint64_t count, uint64_t alignment, const char* name);

  // ---- calls (calls.cc)
  llvm::Value* emit_call(const CallNode* node);
  llvm::Value* emit_builtin(const CallNode* node, std::string_view name);
  llvm::Value* emit_math(const CallNode* node, std::string_view name);
  llvm::Value* emit_polynomial(const CallNode* node, std::string_view name);
  llvm::Value* emit_one_plus(const BinaryOpNode* sum);  // one_plus.cc
  llvm::Value* emit_classify(const CallNode* node, std::string_view name);
  llvm::Value* emit_libm(const CallNode* node, std::string_view name);
  llvm::Value* emit_libm(DataType dtype, std::string_view name, const std::vector<llvm::Value*>& args);
  llvm::Value* emit_sine(const CallNode* node, bool is_cosine);
  llvm::Value* emit_power(const CallNode* node);  // power.cc
  llvm::Value* emit_small_power(llvm::Value* x, double y);
  /// Selects one of two values; only the selected one is computed.
  llvm::Value* emit_branches(llvm::Value* condition, const std::function<llvm::Value*()>& if_true,
                             const std::function<llvm::Value*()>& if_false);
  llvm::Value* emit_integer_op(const CallNode* node, std::string_view name);
  llvm::Value* emit_integer_power(const CallNode* node);  // integer_power.cc
  llvm::Value* emit_if_then_else(const CallNode* node);
  llvm::Value* emit_extern(const CallNode* node);
  llvm::Value* emit_intrinsic(const CallNode* node);
  llvm::Value* emit_vector_halves(const CallNode* node, std::string_view name);
  llvm::Value* emit_dot_add(const CallNode* node);  // dot_add.cc
  llvm::Align member_align(DataType dtype) const;
  llvm::Value* emit_peek(const CallNode* node);
  llvm::Value* emit_poke(const CallNode* node);
  llvm::Value* emit_prefetch(const CallNode* node);
  std::vector<llvm::Value*> emit_args(const CallNode* node, size_t begin);

  // ---- host services (host.cc)
  llvm::Value* emit_call_parallel(const CallNode* node);
  llvm::Function* parallel_trampoline(llvm::Function* body, llvm::StructType* closure);
  llvm::Value* emit_call_function(const CallNode* node, const GlobalVarNode* callee);
  llvm::Value* emit_call_packed(const CallNode* node);
  llvm::Value* emit_tensor_argument(const CallNode* node);
  llvm::Value* emit_packed_args(const CallNode* node);
  llvm::Value* read_packed_result(DataType dtype, llvm::Value* result);
  llvm::Value* emit_raise(const CallNode* node);
  llvm::Value* workspace_alloc(llvm::Value* bytes, uint64_t alignment);
  void workspace_free(llvm::Value* pointer);
  /// Leaves the function with -1 if `status` is not 0.
  void return_if_failed(llvm::Value* status);
  /// Frees the workspaces allocated here and returns.
  void emit_return(llvm::Value* status);

  // ---- statements (stmt.cc)
  void emit(const Stmt& stmt);
  void emit_for(const ForNode* node);
  void emit_loop(const ForNode* node, const std::function<void()>& emit_body);
  void hint_loop(llvm::BranchInst* latch, const ForNode* node);
  void emit_while(const WhileNode* node);
  void emit_if(const IfThenElseNode* node);
  void emit_assert(const AssertStmtNode* node);
  void emit_let_stmt(const LetStmtNode* node);
  llvm::BasicBlock* new_block(const char* name);
  /// Branches to `target` unless the current block has ended already.
  void branch_to(llvm::BasicBlock* target);
  bool has_ended() const { return builder_.GetInsertBlock()->getTerminator() != nullptr; }
  void free_above(size_t depth);
  llvm::Value* emit_loop_control(std::string_view name);
  llvm::BranchInst* branch_rarely(llvm::Value* condition, llvm::BasicBlock* rare, llvm::BasicBlock* usual);

  // ---- nests of matrix tiles (matrix_tiles.cc)
  void find_tile_nests();
  void configure_tiles();
  void load_tile_config(const std::vector<TileRegister>& shapes);
  void release_tiles();
  void emit_tile_nest(const TileNest& nest);
  void find_zeros(const Stmt& stmt, const Stmt& next);
  void begin_sums(const TileNest& nest, const std::function<void()>& load);
  void fetch_next_columns(const TileNest& nest, llvm::Value* columns);
  void emit_idle_store(const Var& loop_var, int64_t interval, uint8_t number);

  // ---- hints of loops (memory.cc)
  static constexpr uint32_t kL2Cache = 2, kAllCaches = 3;
  /// Prefetches the line at `pointer` into L2, or into L1 as well; exclusively, if it is going to be written.
  void fetch_line(llvm::Value* pointer, uint32_t place, bool is_written = false);
  /// Prefetches ahead of `pointer`, from which `load` reads, if its loop requests it.
  void prefetch_ahead(llvm::Value* pointer, const BufferLoadNode* load);
  /// Applies the annotations of a loop, whose variable has a value, to its body.
  void begin_hints(const ForNode* node);

  /// A request to prefetch vectors at some distance from vectors that move along a loop.
  struct Prefetch {
    const VarNode* loop_var = nullptr;
    llvm::Value* distance = nullptr;                  // prefetch distance in bytes
    uint32_t place = kAllCaches;                      // cache level
    uint64_t bytes = 0;                               // for the next panel: bytes to prefetch from there on
    std::vector<const BufferLoadNode*> fetched = {};  // loads of vectors that are prefetched already
  };
  /// The number of the current iteration among those that read the same panel.
  struct PanelIteration {
    llvm::Value* number = nullptr;
    uint64_t count = 1;
  };
  struct LoopContext {
    llvm::BasicBlock *next, *exit;
    size_t workspace_depth;
  };

  ModuleEmitter& module_;
  llvm::Function* function_;
  const PrimFuncNode* func_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  llvm::IntegerType *i8_, *i32_, *i64_;
  llvm::PointerType* ptr_;
  std::unordered_map<const VarNode*, llvm::Value*> values_;
  std::vector<llvm::Value*> workspaces_;  // allocated and not yet freed, innermost last
  std::vector<LoopContext> loops_;
  Prefetch near_, writes_, next_panel_;  // requests of the innermost loop that has one
  PanelIteration panel_iteration_;
  uint64_t stack_bytes_ = 0;
  bool in_index_ = false;
  bool may_not_count_ = false;  // inside a value of a Select that may not be selected
  std::unordered_map<const ForNode*, TileNest> tile_nests_;  // by their outermost loop
  std::unordered_set<const Object*> left_out_;               // statements that such a nest replaces
  bool uses_tiles_ = false, has_one_tile_config_ = false;
  llvm::AllocaInst* idle_tile_ = nullptr;  // memory that is written and never read
  bool has_vectors_ = false;               // a schedule vectorised the function
};

}  // namespace tilewright::codegen
