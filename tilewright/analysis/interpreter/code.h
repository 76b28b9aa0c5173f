// A program compiled for interpretation: expressions and statements with variables resolved to slots of a
// frame.
#pragma once
#include <deque>

#include "tilewright/analysis/interpreter.h"
#include "tilewright/analysis/interpreter/memory.h"

namespace tilewright::analysis {

class Program;
class ThreadGroup;

/// A buffer at run time.
struct View {
  std::shared_ptr<Memory> memory;
  int64_t offset = 0;  // offset of element [0, ...], in elements of the view's dtype
  std::vector<int64_t> shape, strides;
};

/// A range of values per dimension: the current value of a region in a block's T.reads or T.writes.
struct Bounds {
  int64_t min, extent;
};

enum class Signal : uint8_t { kNone, kBreak, kContinue, kReturn };

/// The state of one call.
struct Frame {
  std::vector<Scalar> slots;
  std::vector<View> views;
  std::vector<Bounds> bounds;  // the regions of the enclosing blocks
  // one per allocation, reused each time the allocation is executed
  std::vector<std::shared_ptr<Memory>> pool;
  const Strand* strand = nullptr;
  // inside of a kernel: the threads of the block, which of them this is, and (value, extent) of each axis
  ThreadGroup* group = nullptr;
  size_t thread = 0;
  std::vector<std::pair<int64_t, int64_t>> axis_values;
  uint64_t epoch = 0;                     // grows at each barrier
  const Strand* thread_strand = nullptr;  // of the thread in this epoch
  const Strand* sum_strand = nullptr;     // of the threads that add to one sum, inside of its block
  int speculative = 0;  // > 0: the value is not used, so only accesses outside of buffers are errors
  Signal signal = Signal::kNone;
  Scalar result;
  DataType result_dtype = DataType::void_();
  Program* program = nullptr;
};

/// A place in the program, for messages.
struct Site {
  ObjectRef node;  // the node under the caret
  std::vector<std::pair<std::string, size_t>>
      iterations;  // enclosing loop and axis variables, outermost first, with their slots
  /// " at i = 1, j = 2"; empty outside of loops.
  std::string at(const Frame& frame) const;
};
using SitePtr = std::shared_ptr<const Site>;

/// An expression.  Scalars of integer, bool and pointer types implement as_int, those of float types
/// as_float; all implement lanes.
struct Code {
  explicit Code(DataType dtype) : dtype(dtype) {}
  virtual ~Code() = default;
  virtual int64_t as_int(Frame& frame) const;
  virtual double as_float(Frame& frame) const;
  virtual void lanes(Frame& frame, Scalar* out) const = 0;
  size_t num_lanes() const { return dtype.lanes; }
  const DataType dtype;
};
using CodePtr = std::unique_ptr<const Code>;

template <class F>
struct IntCode final : Code {
  IntCode(DataType dtype, F f) : Code(dtype), f(std::move(f)) {}
  int64_t as_int(Frame& frame) const override { return f(frame); }
  void lanes(Frame& frame, Scalar* out) const override { *out = int_scalar(f(frame)); }
  F f;
};
template <class F>
struct FloatCode final : Code {
  FloatCode(DataType dtype, F f) : Code(dtype), f(std::move(f)) {}
  double as_float(Frame& frame) const override { return f(frame); }
  void lanes(Frame& frame, Scalar* out) const override { *out = float_scalar(f(frame)); }
  F f;
};
template <class F>
struct LanesCode final : Code {
  LanesCode(DataType dtype, F f) : Code(dtype), f(std::move(f)) {}
  void lanes(Frame& frame, Scalar* out) const override { f(frame, out); }
  F f;
};
template <class F>
CodePtr int_code(DataType dtype, F f) {
  return std::make_unique<IntCode<F>>(dtype, std::move(f));
}
template <class F>
CodePtr float_code(DataType dtype, F f) {
  return std::make_unique<FloatCode<F>>(dtype, std::move(f));
}
template <class F>
CodePtr lanes_code(DataType dtype, F f) {
  return std::make_unique<LanesCode<F>>(dtype, std::move(f));
}

/// Evaluates `code` and holds its lanes.
class Lanes {
 public:
  Lanes(const Code& code, Frame& frame) : size_(code.num_lanes()) {
    if (size_ > kInline) many_ = std::make_unique<Scalar[]>(size_);
    code.lanes(frame, data());
  }
  const Scalar& operator[](size_t n) const { return (many_ ? many_.get() : few_)[n]; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kInline = 16;
  Scalar* data() { return many_ ? many_.get() : few_; }
  size_t size_;
  Scalar few_[kInline];
  std::unique_ptr<Scalar[]> many_;
};

struct StmtCode {
  virtual ~StmtCode() = default;
  virtual void run(Frame& frame) const = 0;
};
using StmtCodePtr = std::unique_ptr<const StmtCode>;
template <class F>
struct StmtFunction final : StmtCode {
  explicit StmtFunction(F f) : f(std::move(f)) {}
  void run(Frame& frame) const override { f(frame); }
  F f;
};
template <class F>
StmtCodePtr stmt_code(F f) {
  return std::make_unique<StmtFunction<F>>(std::move(f));
}

/// A compiled function.
struct FunctionCode {
  PrimFunc func;
  size_t num_slots = 0, num_views = 0, num_bounds = 0, num_allocations = 0;
  std::vector<size_t> param_slots;
  std::vector<size_t> buffer_views;  // one per parameter; meaningless for parameters that are not buffers
  StmtCodePtr bind;                  // checks and binds the buffers' dimensions
  StmtCodePtr body;
};

/// The state shared by all calls of one run.
class Program {
 public:
  Program(IRModule module, const InterpretOptions& options);
  ~Program();
  const FunctionCode& function(const PrimFunc& func);
  const FunctionCode& function(std::string_view name, const ObjectRef& where);
  /// A new frame for `code`.
  Frame frame_of(const FunctionCode& code, const Strand* strand);
  /// Keeps `strand`, one level below its parent.
  const Strand* new_strand(Strand strand);
  /// The group with these axes, one for all kernels that have them.
  ThreadGroup& group_of(const Grid& threads);
  /// A copy of `grid` that lives as long as the program.
  const Grid& keep(const Grid& grid);
  /// Counts an iteration of a loop.
  void step(const Site& site);

  const IRModule module;
  const InterpretOptions& options;
  uint64_t num_runs = 0;
  int64_t num_steps = 0;

 private:
  std::vector<std::pair<PrimFunc, std::unique_ptr<FunctionCode>>> functions_;
  std::deque<Strand> strands_;
  std::vector<std::unique_ptr<ThreadGroup>> groups_;
  std::deque<Grid> grids_;
};

/// Compiles `func`; functions that it calls are looked up when the call runs.
std::unique_ptr<FunctionCode> compile_function(const PrimFunc& func, const InterpretOptions& options);

}  // namespace tilewright::analysis
