// Functions: slots of parameters, dimensions of their buffers.
#include <numeric>

#include "tilewright/analysis/block_info.h"
#include "tilewright/analysis/empty_reductions.h"
#include "tilewright/analysis/interpreter/compiler.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {

std::string Site::at(const Frame& frame) const {
  std::string text;
  for (const auto& [name, slot] : iterations)
    text += fmt::format("{}{} = {}", text.empty() ? " at " : ", ", name, frame.slots[slot].i);
  return text;
}

size_t Compiler::new_slot(const tir::VarNode* var) {
  const size_t slot = num_slots_;
  num_slots_ += std::max<size_t>(var->dtype.lanes & ~DataType::kScalable, 1);
  slots_[var] = slot;
  return slot;
}

size_t Compiler::slot_of(const tir::VarNode* var) const {
  auto found = slots_.find(var);
  if (found == slots_.end())
    throw UserError(var, "variable {} is used, but nothing gives it a value", var->name_hint);
  return found->second;
}

size_t Compiler::new_view(const Buffer& buffer) { return views_[buffer.get()] = num_views_++; }

size_t Compiler::view_of(const Buffer& buffer, const ObjectRef& where) const {
  auto found = views_.find(buffer.get());
  if (found == views_.end())
    throw UserError(where, "buffer {} is used where it does not exist", buffer->name);
  return found->second;
}

SitePtr Compiler::site(const ObjectRef& node) const {
  auto site = std::make_shared<Site>();
  site->node = node;
  site->iterations = iterations_;
  return site;
}

int64_t Compiler::unit_of(const tir::VarNode* data) const {
  auto found = units_.find(data);
  return found == units_.end() ? 8 : found->second;
}

namespace {

// For each pointer, the size in bits of the smallest element that it is accessed with.
std::unordered_map<const tir::VarNode*, int64_t> units(const PrimFunc& func) {
  std::unordered_map<const tir::VarNode*, int64_t> result;
  auto meet = [&](const BufferNode* buffer) {
    const int64_t size = bits_of(buffer->dtype);
    auto [entry, is_new] = result.try_emplace(buffer->data.get(), size);
    // sizes are powers of two, or a vector of three; the common divisor works for any mixture
    if (!is_new) entry->second = std::gcd(entry->second, size);
  };
  for (const Buffer& buffer : func->buffers) {
    if (buffer) meet(buffer.get());
  }
  walk(func->body, [&](const BufferNode* buffer) { meet(buffer); });
  return result;
}

}  // namespace

// Binds the dimensions of a parameter's buffer: a variable that is a dimension by itself takes the argument's
// extent (if known); all other dimensions must agree with the argument.
StmtCodePtr Compiler::bind_parameter(const Buffer& buffer, size_t param_slot, const ObjectRef& node) {
  const size_t view = views_.at(buffer.get()), data = slots_.at(buffer->data.get());
  struct Dimension {
    CodePtr value;
    bool is_stride;
    size_t dim;
  };
  std::vector<Dimension> dimensions;
  auto add = [&](const std::vector<PrimExpr>& list, bool is_stride) {
    for (size_t dim = 0; dim < list.size(); ++dim) dimensions.push_back({expr(list[dim]), is_stride, dim});
  };
  add(buffer->shape, false);
  add(buffer->strides, true);
  CodePtr offset = buffer->elem_offset ? expr(buffer->elem_offset) : nullptr;
  SitePtr where = site(node);
  return stmt_code(
      [=, dimensions = std::move(dimensions), offset = std::move(offset), buffer = buffer](Frame& frame) {
        View& made = frame.views[view];
        const Scalar& pointer = frame.slots[param_slot];
        frame.slots[data] = pointer;
        if (!made.memory) {  // only a pointer is given: the declaration defines the rest
          if (!pointer.memory) throw UserError(where->node, "buffer {} is a null pointer", buffer->name);
          made.memory = std::shared_ptr<Memory>(std::shared_ptr<void>(), pointer.memory);
          made.offset = pointer.i * 8 / bits_of(buffer->dtype);
          made.shape.assign(buffer->shape.size(), 0);
          for (const Dimension& dimension : dimensions) {
            if (!dimension.is_stride) made.shape[dimension.dim] = dimension.value->as_int(frame);
          }
          made.strides.assign(made.shape.size(), 1);
          for (size_t dim = made.shape.size(); dim-- > 1;)
            made.strides[dim - 1] = made.strides[dim] * made.shape[dim];
          for (const Dimension& dimension : dimensions) {
            if (dimension.is_stride) made.strides[dimension.dim] = dimension.value->as_int(frame);
          }
          if (offset) made.offset += offset->as_int(frame);
          return;
        }
        for (const Dimension& dimension : dimensions) {
          const int64_t expected = dimension.value->as_int(frame),
                        actual = (dimension.is_stride ? made.strides : made.shape)[dimension.dim];
          const bool is_free =
              // the stride of a single element does not matter
              dimension.is_stride && made.shape[dimension.dim] == 1;
          const PrimExpr& declared = (dimension.is_stride ? buffer->strides : buffer->shape)[dimension.dim];
          if (expected != actual && !is_free)
            throw UserError(where->node, "argument {}: {} {} is {}, expected {}", buffer->name,
                            dimension.is_stride ? "stride" : "dimension", dimension.dim, actual,
                            is<IntImmNode>(declared) ? fmt::format("{}", expected)
                                                     : fmt::format("{} = {}", expr_text(declared), expected));
        }
      });
}

std::unique_ptr<FunctionCode> Compiler::function(const PrimFunc& func) {
  auto code = std::make_unique<FunctionCode>();
  code->func = func;
  units_ = units(func);
  privates_ = private_buffers(func);
  for (const tir::Var& param : func->params) code->param_slots.push_back(new_slot(param.get()));
  struct Free {
    size_t view, dim, slot;
    int source;  // 0: extent, 1: stride, 2: the offset (always 0)
  };
  std::vector<Free> free;
  auto bind_free = [&](const PrimExpr& expr, size_t view, size_t dim, int source) {
    const auto* var = expr.as<tir::VarNode>();
    if (var && !slots_.contains(var)) free.push_back({view, dim, new_slot(var), source});
  };
  for (const Buffer& buffer : func->buffers) {
    code->buffer_views.push_back(buffer ? new_view(buffer) : 0);
    if (!buffer) continue;
    if (!slots_.contains(buffer->data.get())) new_slot(buffer->data.get());
    for (size_t dim = 0; dim < buffer->shape.size(); ++dim)
      bind_free(buffer->shape[dim], code->buffer_views.back(), dim, 0);
    for (size_t dim = 0; dim < buffer->strides.size(); ++dim)
      bind_free(buffer->strides[dim], code->buffer_views.back(), dim, 1);
    bind_free(buffer->elem_offset, code->buffer_views.back(), 0, 2);
  }
  std::vector<StmtCodePtr> binds;
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (func->buffers[n])
      binds.push_back(bind_parameter(func->buffers[n], code->param_slots[n], ObjectRef(func)));
  }
  code->bind = stmt_code(
      [free = std::move(free), binds = std::move(binds), where = site(ObjectRef(func))](Frame& frame) {
        for (const Free& entry : free) {
          const View& view = frame.views[entry.view];
          const std::vector<int64_t>& values = entry.source == 1 ? view.strides : view.shape;
          if (entry.source == 2)
            frame.slots[entry.slot] = int_scalar(0);
          else if (!view.memory)
            throw UserError(
                where->node,
                "a function whose buffers have symbolic shapes is called with pointers, which have no shape");
          else
            frame.slots[entry.slot] = int_scalar(values[entry.dim]);
        }
        for (const StmtCodePtr& bind : binds) bind->run(frame);
      });
  code->body = stmt(func->body);
  code->num_slots = num_slots_;
  code->num_views = num_views_;
  code->num_bounds = num_bounds_;
  code->num_allocations = num_allocations_;
  return code;
}

std::unique_ptr<FunctionCode> compile_function(const PrimFunc& func, const InterpretOptions& options) {
  return Compiler(options).function(init_empty_reductions(func));
}

}  // namespace tilewright::analysis
