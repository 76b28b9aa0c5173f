#include "tilewright/te/extern.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/analysis/regions.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/operation.h"
#include "tilewright/te/shape.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/uses.h"

namespace tilewright::te {
namespace {

// The access mask bit of tvm_access_ptr for a function that only reads a tensor.
constexpr int64_t kReads = 1;

// Matches an extent, stride or offset of a buffer of the body with `actual`: a variable is mapped to it in
// *values; any other expression must be equal to it.
void match(const std::string& op, const Buffer& buffer, const PrimExpr& own, const PrimExpr& actual,
           Substitution* values) {
  if (const auto* var = own.as<VarNode>()) {
    const auto [known, is_new] = values->emplace(var, cast(var->dtype, actual));
    if (is_new || structural_equal(known->second, cast(var->dtype, actual))) return;
    throw UserError("{}: {} of buffer {} would be both {} and {}", op, var->name_hint, buffer->name,
                    expr_text(ref_as<PrimExprNode>(known->second)), expr_text(actual));
  }
  if (arith::Analyzer().can_prove(equal(substitute(own, *values), actual))) return;
  throw UserError("{}: buffer {} has {} where its tensor has {}", op, buffer->name, expr_text(own),
                  expr_text(actual));
}

// Matches the layout of `buffer` with that of a tensor, which is compact and has offset 0.
void match_layout(const std::string& op, const Buffer& buffer, const Shape& actual, DataType dtype,
                  Substitution* values) {
  if (buffer->dtype != dtype)
    throw UserError("{}: buffer {} is {}, its tensor {}", op, buffer->name, buffer->dtype.str(), dtype.str());
  if (buffer->shape.size() != actual.size())
    throw UserError("{}: buffer {} has {}, its tensor {}", op, buffer->name,
                    count_text(buffer->shape.size(), "dimension"), actual.size());
  for (size_t n = 0; n < actual.size(); ++n) match(op, buffer, buffer->shape[n], actual[n], values);
  PrimExpr stride = imm(1);
  for (size_t n = buffer->strides.size(); n-- > 0; stride = stride * actual[n])
    match(op, buffer, buffer->strides[n], stride, values);
  if (buffer->elem_offset) match(op, buffer, buffer->elem_offset, imm(0), values);
}

// The same without checks, for a buffer of the function that is known to fit.
void bind(const Buffer& own, const Buffer& actual, Substitution* values) {
  auto bind_var = [&](const PrimExpr& expr, const PrimExpr& value) {
    if (const auto* var = expr.as<VarNode>()) values->emplace(var, cast(var->dtype, value));
  };
  for (size_t n = 0; n < own->shape.size(); ++n) bind_var(own->shape[n], actual->shape[n]);
  PrimExpr stride = imm(1);
  for (size_t n = own->strides.size(); n-- > 0; stride = stride * actual->shape[n])
    bind_var(own->strides[n], stride);
  if (own->elem_offset) bind_var(own->elem_offset, imm(0));
  (*values)[own.get()] = actual;
  (*values)[own->data.get()] = actual->data;
}

// `body` with inputs that are passed as whole tensors marked as read only (T.tvm_access_ptr).
Stmt with_read_only_inputs(const Stmt& body, const std::vector<Buffer>& inputs) {
  return rewrite(body, [&](auto& self, const CallNode* node) -> PrimExpr {
    const Call changed = self.children(node);
    const auto* op = node->op.as<OpNode>();
    if (!op || op->name != "tir.tvm_stack_make_array") return changed;
    for (const Buffer& input : inputs) {
      if (changed->args[0] != input->data) continue;
      const PrimExpr type = call(input->dtype, "tir.type_annotation", {});
      const PrimExpr pointer = call(DataType::handle(), "tir.tvm_access_ptr",
                                    {type, input->data, imm(0), product(input->shape), imm(kReads)});
      return with(changed, [&](CallNode& n) { n.args[0] = pointer; });
    }
    return changed;
  });
}

std::vector<BufferRegion> whole(const std::vector<Buffer>& buffers) {
  std::vector<BufferRegion> regions;
  for (auto buffer = buffers.begin(); buffer != buffers.end(); ++buffer) {
    if (std::find(buffers.begin(), buffer, *buffer) == buffer) regions.push_back(full_region(*buffer));
  }
  return regions;
}

// True if `body` reads `buffer` before it writes it; the init of a block comes before its body.
bool begins_with_a_read(const Stmt& body, const Buffer& buffer) {
  std::optional<bool> is_read;
  auto loads = [&](const auto& expr) {
    walk(expr, [&](const BufferLoadNode* load) {
      if (load->buffer == buffer && !is_read) is_read = true;
    });
  };
  walk(
      body,
      [&](const BlockRealizeNode* realize) {
        const bool reads = has_region_of(realize->block->reads, buffer.get());
        if (!is_read && (reads || has_region_of(realize->block->writes, buffer.get()))) is_read = reads;
        return false;
      },
      [&](const BufferStoreNode* store) {
        loads(store->value);
        for (const PrimExpr& index : store->indices) loads(index);
        if (store->buffer == buffer && !is_read) is_read = false;
        return false;
      },
      [&](const BufferLoadNode* load) {
        loads(PrimExpr(load));
        return false;
      });
  return is_read.value_or(false);
}

// The root block, which only holds the allocations of a function; null if `body` has none.
const BlockNode* root_of(const Stmt& body) {
  const auto* realize = body.as<BlockRealizeNode>();
  const BlockNode* block = realize ? realize->block.get() : nullptr;
  const bool is_root = block && block->iter_vars.empty() && block->reads.empty() && block->writes.empty() &&
                       block->match_buffers.empty() && !block->init && is_one(realize->predicate);
  return is_root ? block : nullptr;
}

}  // namespace

std::vector<Tensor> external(std::string name, ExternSpec spec) {
  for (const Buffer& buffer : spec.output_buffers) require_shape(buffer->shape, buffer->name);
  if (spec.output_buffers.empty()) throw UserError("{}: there is no output", name);
  if (spec.inputs.size() != spec.input_buffers.size())
    throw UserError("{}: {} input buffers for {} input tensors", name, spec.input_buffers.size(),
                    spec.inputs.size());
  Substitution values;
  for (size_t n = 0; n < spec.inputs.size(); ++n)
    match_layout(name, spec.input_buffers[n], spec.inputs[n].shape(), spec.inputs[n].dtype(), &values);
  std::vector<Ref<TeTensorNode>> inputs(spec.inputs.begin(), spec.inputs.end());
  const Operation op = TeExternNode::make(std::move(name), std::move(inputs), std::move(spec.input_buffers),
                                          spec.output_buffers, std::move(spec.body), std::move(spec.attrs));
  const std::vector<Shape> shapes = output_shapes(op.as<TeExternNode>());
  std::vector<Tensor> outputs;
  for (size_t n = 0; n < shapes.size(); ++n) {
    const Buffer& buffer = spec.output_buffers[n];
    Substitution layout = values;
    match_layout(op->name, buffer, shapes[n], buffer->dtype, &layout);
    outputs.push_back(
        Ref<TeTensorNode>(TeTensorNode::make(op, static_cast<int64_t>(n), shapes[n], buffer->dtype)));
  }
  return outputs;
}

std::vector<Shape> output_shapes(const TeExternNode* op) {
  Substitution values;
  for (size_t n = 0; n < op->inputs.size(); ++n) {
    for (size_t dim = 0; dim < op->inputs[n]->shape.size(); ++dim) {
      if (const auto* var = op->input_buffers[n]->shape[dim].as<VarNode>())
        values.emplace(var, cast(var->dtype, op->inputs[n]->shape[dim]));
    }
  }
  std::vector<Shape> shapes;
  for (const Buffer& buffer : op->output_buffers) {
    shapes.emplace_back();
    for (const PrimExpr& extent : buffer->shape) shapes.back().push_back(substitute(extent, values));
  }
  return shapes;
}

void for_each_use(const TeExternNode* op, const std::function<void(const VarNode*)>& visit) {
  std::unordered_set<const VarNode*> known;
  auto define = [&](const Buffer& buffer) {
    known.insert(buffer->data.get());
    for (const auto* list : {&buffer->shape, &buffer->strides}) {
      for (const PrimExpr& expr : *list) known.insert(expr.as<VarNode>());
    }
    known.insert(buffer->elem_offset.as<VarNode>());
  };
  for (const auto* buffers : {&op->input_buffers, &op->output_buffers}) {
    for (const Buffer& buffer : *buffers) define(buffer);
  }
  walk(
      op->body, [&](const ForNode* node) { known.insert(node->loop_var.get()); },
      [&](const LetStmtNode* node) { known.insert(node->var.get()); },
      [&](const LetNode* node) { known.insert(node->var.get()); },
      [&](const AllocBufferNode* node) { known.insert(node->buffer->data.get()); },
      [&](const IterVarNode* node) { known.insert(node->var.get()); },
      [&](const MatchBufferRegionNode* node) { define(node->buffer); },
      [&](const BlockNode* node) {
        for (const Buffer& buffer : node->alloc_buffers) known.insert(buffer->data.get());
      },
      [&](const VarNode* var) {
        if (!known.contains(var)) visit(var);
      });
}

std::vector<Tensor> extern_primfunc(const std::vector<Tensor>& inputs, const PrimFunc& func, std::string name,
                                    AttrMap attrs) {
  std::vector<Buffer> known;
  for (const Buffer& buffer : func->buffers)
    if (buffer) known.push_back(buffer);
  const BlockNode* root = root_of(func->body);
  const Stmt& body = root ? root->body : func->body;
  const analysis::AccessRegions accesses = analysis::access_regions(body, known);
  ExternSpec spec{inputs, {}, {}, func->body, std::move(attrs)};
  for (size_t n = 0; n < func->params.size(); ++n) {
    const Buffer& buffer = func->buffers[n];
    if (!buffer)
      throw UserError("{}: parameter {} of the function is not a buffer", name, func->params[n]->name_hint);
    if (has_region_of(accesses.writes, buffer.get()) && begins_with_a_read(body, buffer))
      throw UserError("{}: the function reads {} and then writes it, but outputs must be new tensors", name,
                      buffer->name)
          .help("write the result to another buffer");
    (has_region_of(accesses.writes, buffer.get()) ? spec.output_buffers : spec.input_buffers)
        .push_back(buffer);
  }
  if (spec.inputs.size() != spec.input_buffers.size())
    throw UserError("{}: the function reads {}, but {} input tensor{} given", name,
                    count_text(spec.input_buffers.size(), "buffer"), inputs.size(),
                    inputs.size() == 1 ? " is" : "s are")
        .help("buffers that the function writes are its results");
  return external(std::move(name), std::move(spec));
}

Stmt extern_block(const TeExternNode* op, std::string name, const std::vector<Buffer>& inputs,
                  const std::vector<Buffer>& outputs) {
  Substitution values;
  for (size_t n = 0; n < inputs.size(); ++n) bind(op->input_buffers[n], inputs[n], &values);
  for (size_t n = 0; n < outputs.size(); ++n) bind(op->output_buffers[n], outputs[n], &values);
  Stmt body = with_read_only_inputs(fresh_copy(op->body, values), inputs);
  std::vector<Buffer> allocated;
  if (const auto* root = root_of(body)) allocated = root->alloc_buffers, body = root->body;
  const Block block =
      BlockNode::make(std::move(name), std::vector<IterVar>{}, allocated, whole(inputs), whole(outputs),
                      std::vector<MatchBufferRegion>{}, block_attrs(op->attrs), Stmt(), body);
  return BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(bool_imm(true)), block);
}

}  // namespace tilewright::te
