// The entry point: binds arguments to memory, runs the call, checks the outputs.
#include "tilewright/analysis/interpreter/code.h"
#include "tilewright/analysis/interpreter/kernel.h"

#include <fmt/format.h>

#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::analysis {

const FunctionCode& Program::function(const PrimFunc& func) {
  for (const auto& [known, code] : functions_) {
    if (known == func) return *code;
  }
  functions_.emplace_back(func, compile_function(func, options));
  return *functions_.back().second;
}

const FunctionCode& Program::function(std::string_view name, const ObjectRef& where) {
  if (!module) throw UserError(where, "function {} is called, but the program is a single function", name);
  BaseFunc found = module->lookup(name);
  if (!is<PrimFuncNode>(found)) throw UserError(where, "function {} is not a loop program", name);
  return function(ref_as<PrimFuncNode>(found));
}

Frame Program::frame_of(const FunctionCode& code, const Strand* strand) {
  Frame frame;
  frame.slots.resize(code.num_slots);
  frame.views.resize(code.num_views);
  frame.bounds.resize(code.num_bounds);
  frame.pool.resize(code.num_allocations);
  frame.strand = strand;
  frame.program = this;
  return frame;
}

Program::Program(IRModule module, const InterpretOptions& options)
    : module(std::move(module)), options(options) {}

Program::~Program() = default;

const Strand* Program::new_strand(Strand strand) {
  strand.depth = strand.parent ? strand.parent->depth + 1 : 1;
  strands_.push_back(strand);
  return &strands_.back();
}

ThreadGroup& Program::group_of(const Grid& threads) {
  for (const auto& group : groups_) {
    if (group->threads().axes == threads.axes) return *group;
  }
  return *groups_.emplace_back(std::make_unique<ThreadGroup>(*this, threads));
}

const Grid& Program::keep(const Grid& grid) { return grids_.emplace_back(grid); }

void Program::step(const Site& site) {
  constexpr int64_t kStepsBetweenChecks = 1 << 14;  // some milliseconds
  if (++num_steps > options.max_steps)
    throw UserError(site.node, "the program ran for more than {} loop iterations", options.max_steps)
        .help("max_steps allows more");
  if (num_steps % kStepsBetweenChecks == 0) runtime::check_interrupt();
}

namespace {

// The memory of a tensor, up to its last element.
std::shared_ptr<Memory> memory_of(const runtime::Tensor& tensor, const Buffer& buffer) {
  auto memory = std::make_shared<Memory>();
  const runtime::Shape strides = tensor.strides();
  int64_t reach = tensor.num_elements() ? 1 : 0;
  for (int dim = 0; dim < tensor.ndim(); ++dim) {
    if (strides[static_cast<size_t>(dim)] < 0)
      throw Unsupported("the interpreter does not support the negative stride of argument {}", buffer->name);
    if (reach) reach += (tensor.shape()[static_cast<size_t>(dim)] - 1) * strides[static_cast<size_t>(dim)];
  }
  memory->name = buffer->name;
  memory->data = static_cast<char*>(tensor.data());
  memory->num_bytes = (reach * bits_of(buffer->dtype) + 7) / 8;
  memory->unit = buffer->dtype.bits;
  memory->read_only = tensor.is_read_only();
  memory->keeps = std::make_shared<runtime::Tensor>(tensor);
  return memory;
}

void bind_tensor(const PrimFunc& func, size_t n, const runtime::Value& value, View* view) {
  const Buffer& buffer = func->buffers[n];
  const std::string what = fmt::format("argument {} ({})", n, buffer->name);
  const runtime::Tensor tensor = value.as_tensor(what);
  if (!tensor.device().is_cpu())
    throw UserError("{} lies on {}, the interpreter runs on the CPU", what, tensor.device().str());
  const DataType element = buffer->dtype;
  if (tensor.dtype() != element)
    throw UserError("{} holds {}, expected {}", what, tensor.dtype().str(), element.str());
  if (static_cast<size_t>(tensor.ndim()) != buffer->shape.size())
    throw UserError("{} is {}-dimensional, expected {}-dimensional", what, tensor.ndim(),
                    buffer->shape.size());
  if (buffer->strides.empty() && !tensor.is_contiguous())
    throw UserError("{} has gaps between its elements, but the function takes compact memory", what)
        .help("pass tensor.compact()");
  view->memory = memory_of(tensor, buffer);
  view->offset = 0;
  view->shape.assign(tensor.shape().begin(), tensor.shape().end());
  view->strides = tensor.strides();
}

// Binds a parameter that is a pointer: lowered functions take the data of tensors.
Scalar bind_pointer(size_t n, const runtime::Value& value, const tir::Var& param,
                    std::vector<std::shared_ptr<Memory>>* kept) {
  const runtime::Tensor tensor = value.as_tensor(fmt::format("argument {} ({})", n, param->name_hint));
  const Buffer buffer = make_buffer(param->name_hint, {}, tensor.dtype());
  if (!tensor.is_contiguous())
    throw UserError("argument {} ({}) has gaps between its elements, but the function takes compact memory",
                    n, param->name_hint);
  kept->push_back(memory_of(tensor, buffer));
  kept->back()->unit = 8;
  Scalar pointer;
  pointer.memory = kept->back().get();
  return pointer;
}

void check_written(const View& view, const Buffer& buffer) {
  const int64_t size = bits_of(buffer->dtype);
  std::vector<int64_t> index(view.shape.size(), 0);
  for (const int64_t extent : view.shape) {
    if (extent == 0) return;
  }
  while (true) {
    int64_t position = view.offset;
    for (size_t dim = 0; dim < index.size(); ++dim) position += index[dim] * view.strides[dim];
    if (!view.memory->is_written(position * size, size))
      throw UserError("{}[{}] is never written", buffer->name, fmt::join(index, ", "));
    size_t dim = index.size();
    while (dim > 0 && ++index[dim - 1] == view.shape[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

// Reports the number of iterations however the run ends.
struct StepCount {
  const Program& program;
  ~StepCount() {
    if (program.options.num_steps) *program.options.num_steps += program.num_steps;
  }
};

runtime::Value run(Program& program, const PrimFunc& func, runtime::Args args) {
  const StepCount counted{program};
  if (args.size() != func->params.size())
    throw UserError(func, "the function takes {}, found {}", count_text(func->params.size(), "argument"),
                    args.size());
  const FunctionCode& code = program.function(func);
  Frame frame = program.frame_of(code, nullptr);
  std::vector<std::shared_ptr<Memory>> kept;
  for (size_t n = 0; n < args.size(); ++n) {
    const tir::Var& param = func->params[n];
    Scalar& slot = frame.slots[code.param_slots[n]];
    if (func->buffers[n]) {
      View& view = frame.views[code.buffer_views[n]];
      bind_tensor(func, n, args[n], &view);
      slot.memory = view.memory.get();
    } else if (param->dtype.is_handle()) {
      slot = bind_pointer(n, args[n], param, &kept);
    } else {
      const std::string what = fmt::format("argument {} ({})", n, param->name_hint);
      if (param->dtype.is_float())
        slot = float_scalar(round_to(args[n].as_float(what), param->dtype));
      else
        slot = int_scalar(args[n].as_int(what));
    }
  }
  for (const size_t n : program.options.outputs) {
    if (n >= args.size() || !func->buffers[n])
      throw UserError("argument {} is not a buffer and cannot be an output", n);
    Memory& memory = *frame.views[code.buffer_views[n]].memory;
    memory.written.assign(static_cast<size_t>(memory.num_units()), 0);
  }
  code.bind->run(frame);
  code.body->run(frame);
  for (const size_t n : program.options.outputs)
    check_written(frame.views[code.buffer_views[n]], func->buffers[n]);
  if (frame.result_dtype.is_void()) return {};
  return frame.result_dtype.is_float() ? runtime::Value(frame.result.f) : runtime::Value(frame.result.i);
}

}  // namespace

runtime::Value interpret(const PrimFunc& func, runtime::Args args, const InterpretOptions& options) {
  Program program(nullptr, options);
  return run(program, func, args);
}

runtime::Value interpret(const IRModule& module, std::string_view name, runtime::Args args,
                         const InterpretOptions& options) {
  Program program(module, options);
  BaseFunc func = module->lookup(name);
  if (!is<PrimFuncNode>(func)) throw UserError(func, "function {} is not a loop program", name);
  return run(program, ref_as<PrimFuncNode>(func), args);
}

}  // namespace tilewright::analysis
