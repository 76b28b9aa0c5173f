#include "tilewright/schedule/schedule.h"

#include "tilewright/analysis/verify.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/schedule/nearest.h"
#include "tilewright/schedule/same_numbers.h"
#include "tilewright/support/near.h"

namespace tilewright::schedule {
namespace {

// Values in the order of the table from a call's arguments.
std::vector<ArgValue> bind_arguments(const PrimitiveInfo& primitive, std::vector<ArgValue> positional,
                                     const std::vector<Schedule::NamedArg>& named) {
  const std::vector<ArgInfo> infos = primitive.args();
  std::vector<ArgValue> values;
  std::vector<bool> given(infos.size(), false);
  for (const ArgInfo& info : infos) values.push_back(info.default_value);
  if (!infos.empty() && infos[0].is_variadic &&
      !(positional.size() == 1 && positional[0].as<ArgValue::List>())) {
    if (!positional.empty()) positional = {ArgValue(ArgValue::List(positional))};
  }
  if (positional.size() > infos.size())
    throw UserError("{}: {} arguments are given, but there are {}", primitive.name, positional.size(),
                    infos.size());
  for (size_t n = 0; n < positional.size(); ++n) {
    values[n] = std::move(positional[n]);
    given[n] = true;
  }
  for (const auto& [name, value] : named) {
    size_t n = 0;
    while (n < infos.size() && infos[n].name != name) ++n;
    if (n == infos.size()) {
      std::vector<std::string_view> names;
      for (const ArgInfo& info : infos) names.push_back(info.name);
      throw UserError("{}: there is no argument \"{}\"", primitive.name, name)
          .help("{}", nearest_names_text(name, names));
    }
    if (given[n]) throw UserError("{}: argument {} is given twice", primitive.name, name);
    values[n] = value;
    given[n] = true;
  }
  for (size_t n = 0; n < infos.size(); ++n) {
    if (infos[n].is_required && !given[n])
      throw UserError("{}: argument {} is missing", primitive.name, infos[n].name)
          .help("{}: {}", infos[n].name, infos[n].doc);
  }
  return values;
}

// Seeds are given out as numbers that fit everywhere: positive, 31 bits.
constexpr uint64_t kMaxSeed = (uint64_t{1} << 31) - 1;

// Loops are cut and moved on purpose, so an axis need not have its loop's range.
constexpr analysis::VerifyOptions kVerifyOptions{.axes_match_loops = false};

// Checks the result of a step: the tree fits the program, and the program is well formed.
void verify_step(const State& state) {
  state.verify_tree();
  try {
    analysis::VerifyOptions options = kVerifyOptions;
    options.regions_cover_accesses = state.regions_are_complete;
    analysis::verify(state.module(), options);
  } catch (const UserError& error) {
    throw InternalError(error.span(), "the step made a program that is not well formed: {}", error.text());
  }
}

// `value` as it goes into a node: sampled values are numbers in it.
ArgValue with_numbers(const State& state, const ArgValue& value) {
  if (const auto* sampled = value.as<ExprRef>()) return state[*sampled];
  const auto* list = value.as<ArgValue::List>();
  if (!list) return value;
  ArgValue::List numbers;
  for (const ArgValue& item : *list) numbers.push_back(with_numbers(state, item));
  return ArgValue(std::move(numbers));
}

std::vector<PrimFunc> functions_of(const State& state) {
  std::vector<PrimFunc> functions;
  for (const State::Func& each : state.funcs()) functions.push_back(each.func);
  return functions;
}

}  // namespace

Schedule::Schedule(IRModule module, Options options)
    : original_(module), state_(std::move(module), options.seed), options_(options) {
  if (options_.verify_steps) analysis::verify(state_.module(), kVerifyOptions);
}

Result Schedule::run_by_name(std::string_view name, std::vector<ArgValue> positional,
                             const std::vector<NamedArg>& named) {
  const PrimitiveInfo& primitive = find_primitive(name);
  return run(primitive, bind_arguments(primitive, std::move(positional), named));
}

Result Schedule::run(const PrimitiveInfo& primitive, std::vector<ArgValue> args) {
  const std::vector<ArgInfo> infos = primitive.args();
  TILEWRIGHT_CHECK(args.size() == infos.size(), "{} takes {} arguments", primitive.name, infos.size());
  runtime::check_interrupt();
  const size_t num_handles = state_.num_handles();
  const auto num_steps = static_cast<long>(trace_.steps.size());
  try {
    for (size_t n = 0; n < args.size(); ++n) {
      blocks_by_name(infos[n], &args[n]);
      require_alive(args[n]);
    }
    state_.begin_step(static_cast<int32_t>(trace_.steps.size()) + 1);
    Instruction step{&primitive, std::move(args), {}};
    std::vector<std::pair<size_t, ArgValue>> sampled;  // the trace keeps the handles
    for (size_t n = 0; n < infos.size(); ++n) {
      if (infos[n].type != "object") continue;
      sampled.emplace_back(n, step.args[n]);
      step.args[n] = with_numbers(state_, step.args[n]);
    }
    // look-ups leave the program as it is, and most steps are look-ups; a checked schedule keeps what was
    // before
    const bool is_checked = options_.verify_steps || options_.verify_numbers;
    const std::vector<PrimFunc> before = is_checked ? functions_of(state_) : std::vector<PrimFunc>();
    step.result = run_explained(primitive, &step.args);
    for (auto& [n, value] : sampled) step.args[n] = std::move(value);
    const bool is_changed = is_checked && functions_of(state_) != before;
    if (options_.verify_steps && is_changed) verify_step(state_);
    if (options_.verify_numbers && is_changed)
      require_same_numbers(original_, state_.module(), {.samples = 1, .seed = options_.seed},
                           fmt::format("step {}, {}", trace_.steps.size() + 1, step.call()));
    trace_.steps.push_back(step);
    return {std::move(step.result)};
  } catch (Error& error) {
    state_.drop_handles(num_handles);
    trace_.steps.erase(trace_.steps.begin() + num_steps,
                       trace_.steps.end());  // a block that was looked up by name
    error.add_prefix(primitive.name);
    error.show_neighbours();
    if (error.kind() == Error::Kind::kUser && options_.errors == ErrorDetail::kFast)
      throw UserError("{}", error.text());
    if (error.kind() == Error::Kind::kUser && options_.errors == ErrorDetail::kNone)
      throw UserError("{} is refused", primitive.name);
    throw;
  }
}

// Runs the primitive; if it refuses without a help line, looks for similar calls that it would accept.
ArgValue Schedule::run_explained(const PrimitiveInfo& primitive, std::vector<ArgValue>* args) {
  if (options_.errors != ErrorDetail::kDetail) return primitive.run(state_, args);
  const std::vector<ArgValue> given = *args;
  try {
    return primitive.run(state_, args);
  } catch (UserError& error) {
    if (error.help_text().empty()) error.set_help(nearest_legal_calls(state_, primitive.name, given));
    throw;
  }
}

Compared Schedule::verify(const Sampling& sampling) const {
  return require_same_numbers(original_, state_.module(), sampling, "verify");
}

void Schedule::blocks_by_name(const ArgInfo& info, ArgValue* value) {
  if (info.type.find("Block") == std::string_view::npos) return;
  if (auto* list = std::get_if<ArgValue::List>(&value->data)) {
    for (ArgValue& item : *list) blocks_by_name(info, &item);
  } else if (const auto* name = value->as<std::string>()) {
    *value = run_by_name("get_block", {*name}).value;
  }
}

void Schedule::fail_stale(std::string_view kind, const std::string& handle, const TreeNode& node) const {
  const Instruction& step = trace_.steps.at(static_cast<size_t>(node.removed_by) - 1);
  const std::string results = step.results();
  const bool several = results.find(',') != std::string::npos;
  throw UserError(
      "{} handle {} ({}) was consumed by step {}, {}{}", kind, handle, node.name, node.removed_by,
      step.call(),
      results.empty() ? "" : fmt::format("; its result{} {}", several ? "s are" : " is", results));
}

void Schedule::require_alive(LoopRef loop) const {
  if (state_.special_place(loop)) return;
  const NodeId id = state_.node_of_handle(loop);
  if (id == kNoNode) throw UserError("{} is no loop of this schedule", handle_name(loop));
  if (!state_.node(id).stmt) fail_stale("loop", handle_name(loop), state_.node(id));
}

void Schedule::require_alive(BlockRef block) const {
  const NodeId id = state_.node_of_handle(block);
  if (id == kNoNode) throw UserError("{} is no block of this schedule", handle_name(block));
  if (!state_.node(id).stmt) fail_stale("block", handle_name(block), state_.node(id));
}

void Schedule::require_alive(const ArgValue& value) const {
  for_each_handle(value, [&](auto handle) {
    if constexpr (std::is_same_v<decltype(handle), ExprRef>) {
      if (!state_.is_known(handle)) throw UserError("{} is no value of this schedule", handle_name(handle));
    } else
      require_alive(handle);
  });
}

void Schedule::work_on(const std::string& func_name) {
  std::vector<std::string_view> names;
  for (const State::Func& func : state_.funcs()) {
    if (func.root == kNoNode) continue;
    if (func.name->name_hint == func_name) {
      state_.working_on = func_name;
      return;
    }
    names.push_back(func.name->name_hint);
  }
  throw UserError("work_on: the module has no function \"{}\" with blocks", func_name)
      .help("{}", nearest_names_text(func_name, names));
}

uint64_t Schedule::fork_seed() { return state_.random()() & kMaxSeed; }

void Schedule::set_seed(uint64_t seed) {
  options_.seed = seed;
  state_.random().seed(seed);
}

Schedule Schedule::copy() { return fork(fork_seed()); }

Schedule Schedule::fork(uint64_t seed) const {
  Schedule copy = *this;
  copy.set_seed(seed);
  return copy;
}

Schedule Schedule::unproved(uint64_t seed) const {
  Schedule copy = fork(seed);
  copy.options_.errors = ErrorDetail::kNone;
  copy.state_.proves_steps = false;
  return copy;
}

Schedule Schedule::proved(uint64_t seed) const {
  Schedule copy = fork(seed);
  copy.options_.errors = ErrorDetail::kFast;
  copy.state_.proves_steps = true;
  return copy;
}

For Schedule::get(LoopRef loop) const {
  require_alive(loop);
  return ref_as<ForNode>(state_.node(state_[loop]).stmt);
}

Block Schedule::get(BlockRef block) const {
  require_alive(block);
  return state_.node(state_[block]).realize()->block;
}

int64_t Schedule::get(ExprRef expr) const {
  require_alive(ArgValue(expr));
  return state_[expr];
}

void Schedule::forget(const ArgValue& handle) {
  require_alive(handle);
  for_each_handle(handle, [&](auto ref) { state_.forget_handle(ref.id); });
}

bool Schedule::is_alive(PlaceRef place) const {
  if (const auto* loop = std::get_if<LoopRef>(&place); loop && state_.special_place(*loop)) return false;
  const NodeId id = std::visit([&](auto ref) { return state_.node_of_handle(ref); }, place);
  return id != kNoNode && state_.node(id).stmt;
}

}  // namespace tilewright::schedule
