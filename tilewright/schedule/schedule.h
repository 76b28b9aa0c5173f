// A module and the steps that transform it.
//   Schedule sch(module);
//   BlockRef block = sch.call("get_block", "Y").block();
//   auto [i, j, k] = sch.call("get_loops", block).loops<3>();
//   auto [j0, j1] = sch.call("split", j, Factors{None{}, int64_t{4}}).loops<2>();
// steps.h has the same as functions with types.
// A copy is independent, understands the same handles and shares all IR.
#pragma once
#include <algorithm>
#include <array>

#include "tilewright/schedule/same_numbers.h"
#include "tilewright/schedule/trace.h"

namespace tilewright::schedule {

using Factors = std::vector<Factor>;

/// The result of a primitive.
struct Result {
  ArgValue value;
  BlockRef block() const { return one<BlockRef>("a block"); }
  LoopRef loop() const { return one<LoopRef>("a loop"); }
  ExprRef expr() const { return one<ExprRef>("a value"); }
  std::vector<BlockRef> blocks() const { return list<BlockRef>("blocks"); }
  std::vector<LoopRef> loops() const { return list<LoopRef>("loops"); }
  std::vector<ExprRef> exprs() const { return list<ExprRef>("values"); }
  /// Exactly kCount loops, for structured bindings.
  template <size_t kCount>
  std::array<LoopRef, kCount> loops() const {
    const std::vector<LoopRef> found = loops();
    if (found.size() != kCount)
      throw UserError("{} loops are expected, but there are {}", kCount, found.size());
    std::array<LoopRef, kCount> result;
    std::copy(found.begin(), found.end(), result.begin());
    return result;
  }

 private:
  template <class T>
  T one(std::string_view expected) const {
    if (const T* found = value.as<T>()) return *found;
    throw UserError("the result is not {}", expected);
  }
  template <class T>
  std::vector<T> list(std::string_view expected) const {
    const auto* items = value.as<ArgValue::List>();
    if (!items) throw UserError("the result is not a list of {}", expected);
    std::vector<T> found;
    for (const ArgValue& item : *items) found.push_back(Result{item}.one<T>(expected));
    return found;
  }
};

/// How much the error of a refused step says.
enum class ErrorDetail {
  kDetail,  // the reason, the place in the program, notes and help
  kFast,    // the reason: the program is not printed to find the place
  kNone,    // only which primitive refused
};

class Schedule {
 public:
  struct Options {
    uint64_t seed = 0;            // of what sample_* primitives draw
    bool verify_steps = false;    // check that the program is well formed, before and after every step
    bool verify_numbers = false;  // run the program before and after every step and compare the results
    ErrorDetail errors = ErrorDetail::kDetail;
  };
  explicit Schedule(IRModule module) : Schedule(std::move(module), Options{}) {}
  /// Raises UserError if `module` is not well formed and options.verify_steps is set.
  Schedule(IRModule module, Options options);

  /// The program as it is now.
  IRModule module() const { return state_.module(); }
  /// The program as it was given.
  const IRModule& original() const { return original_; }
  /// Runs the program as it was given and as it is now on random arguments and raises UserError at the first
  /// element that differs, and what require_same_numbers raises.
  Compared verify(const Sampling& sampling = {}) const;
  /// Runs `primitive` on values in the order of its table; the trace gets a step.  A block may be given by
  /// its name. What fails leaves the schedule unchanged; its text begins with the primitive's name.
  Result run(const PrimitiveInfo& primitive, std::vector<ArgValue> args);
  using NamedArg = std::pair<std::string, ArgValue>;
  /// The same by name, with arguments by position and by name as in a Python call.
  Result run_by_name(std::string_view name, std::vector<ArgValue> positional,
                     const std::vector<NamedArg>& named = {});
  template <class... Args>
  Result call(std::string_view name, Args&&... args) {
    return run_by_name(name, {ArgValue(std::forward<Args>(args))...});
  }

  const Trace& trace() const { return trace_; }
  const State& state() const { return state_; }
  /// From now on blocks are looked for in function `func_name` only.  Raises UserError if there is none.
  void work_on(const std::string& func_name);
  /// A new seed, drawn from this schedule's random numbers.
  uint64_t fork_seed();
  /// Samples are drawn from `seed` from now on.
  void set_seed(uint64_t seed);
  /// A copy that draws its own samples.
  Schedule copy();
  /// A copy whose samples are drawn from `seed`.
  Schedule fork(uint64_t seed) const;
  /// The same, for steps that are taken to be legal (State::proves_steps); errors say only which primitive refused.
  Schedule unproved(uint64_t seed) const;
  /// The same with proofs, and errors that say the reason alone.
  Schedule proved(uint64_t seed) const;

  /// The loop, block or value that a handle stands for now.  Raise UserError when it is stale.
  For get(LoopRef loop) const;
  Block get(BlockRef block) const;
  int64_t get(ExprRef expr) const;
  /// From now on the handle is none of this schedule.  Raises UserError if it is none, or stale.
  void forget(const ArgValue& handle);
  /// True if the loop or block of a handle still exists.
  bool is_alive(PlaceRef place) const;

 private:
  ArgValue run_explained(const PrimitiveInfo& primitive, std::vector<ArgValue>* args);
  void require_alive(const ArgValue& value) const;
  void require_alive(LoopRef loop) const;
  void require_alive(BlockRef block) const;
  [[noreturn]] void fail_stale(std::string_view kind, const std::string& handle, const TreeNode& node) const;
  void blocks_by_name(const ArgInfo& info, ArgValue* value);

  IRModule original_;
  State state_;
  Trace trace_;
  Options options_;
};

/// The steps of a trace on a schedule, some at a time: a copy goes on from where this one is.
struct Replay {
  Schedule sch;

  explicit Replay(Schedule schedule) : sch(std::move(schedule)) {}
  /// Runs the steps before step `end` that were not run yet.  Handles of the trace are none of `sch`.  An error
  /// names its step, and leaves the steps before it done.
  void run(const Trace& trace, size_t end);

 private:
  size_t next_ = 0;
  std::unordered_map<int64_t, ArgValue> handles_;  // of the trace -> of the schedule
};

}  // namespace tilewright::schedule
