// A[i, j]  ->  A[i * 128 + j]
// Every buffer becomes one-dimensional, with strides and offset folded into the index, in 64 bits where 32
// may not be enough.  Pointers of tvm_access_ptr become addresses of elements.
#include <limits>
#include <unordered_set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

bool reads_memory(const PrimExpr& expr) {
  bool found = false;
  walk(expr, [&](const BufferLoadNode*) { found = true; });
  return found;
}

// An index converted to a wider dtype, with sums and products computed in it; loop variables stay separate
// terms.
PrimExpr widened(const PrimExpr& index, DataType dtype) {
  const auto* node = index.as<BinaryOpNode>();
  const bool is_linear =
      node && (node->kind == Kind::kAdd || node->kind == Kind::kSub || node->kind == Kind::kMul);
  return is_linear && index->dtype.bits >= 32
             ? binary(node->kind, widened(node->a, dtype), widened(node->b, dtype), node->span)
             : tir::cast(dtype, index);
}

// The number of elements up to and including the last one; nullopt if it is not constant.
std::optional<int64_t> const_span(const Buffer& buffer) {
  int64_t offset = 0, elements = 1, last = 0;
  if (buffer->elem_offset && !as_const_int(buffer->elem_offset, &offset)) return std::nullopt;
  for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
    int64_t extent, stride = 0;
    if (!as_const_int(buffer->shape[axis], &extent)) return std::nullopt;
    if (!buffer->strides.empty() && !as_const_int(buffer->strides[axis], &stride)) return std::nullopt;
    // constants that overflow are larger than any 32-bit offset
    if (__builtin_mul_overflow(elements, extent, &elements) ||
        __builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), std::abs(stride), &stride) ||
        __builtin_add_overflow(last, stride, &last))
      return std::numeric_limits<int64_t>::max();
  }
  int64_t span = buffer->strides.empty() ? elements : last + 1;
  return __builtin_add_overflow(span, std::abs(offset), &span) ? std::numeric_limits<int64_t>::max() : span;
}

class Flattener {
 public:
  explicit Flattener(const PrimFunc& func) {
    for (const Buffer& buffer : func->buffers) {
      if (buffer) callers_.insert(buffer->data.get());
    }
  }

  Buffer flat(const Buffer& buffer) {
    auto [found, is_new] = flat_.try_emplace(buffer.get());
    if (!is_new) return found->second;
    PrimExpr num_elements = buffer->shape.empty() ? imm(1) : product(buffer->shape);
    // up to and including the last element
    if (!buffer->strides.empty() && !callers_.count(buffer->data.get())) {
      num_elements = imm(1);
      for (size_t axis = 0; axis < buffer->shape.size(); ++axis)
        num_elements = num_elements + (buffer->shape[axis] - 1) * buffer->strides[axis];
    }
    found->second = with(buffer, [&](BufferNode& changed) {
      changed.shape = {analyzer.simplify(num_elements)};
      changed.strides.clear();
      changed.elem_offset = nullptr;
      changed.axis_separators.clear();
      // memory of the caller is only aligned to its elements
      if (callers_.count(buffer->data.get()))
        changed.data_alignment = std::max<int64_t>(1, buffer->dtype.element().num_bytes());
    });
    kept_.push_back(buffer);
    return found->second;
  }

  std::vector<PrimExpr> index(const Buffer& buffer, std::vector<PrimExpr> indices) {
    widen(buffer, indices);
    PrimExpr offset = buffer->elem_offset ? buffer->elem_offset : imm(0);
    if (!buffer->strides.empty()) {
      for (size_t axis = 0; axis < indices.size(); ++axis)
        offset = offset + indices[axis] * buffer->strides[axis];
    } else if (!indices.empty()) {
      PrimExpr row_major = indices[0];
      for (size_t axis = 1; axis < indices.size(); ++axis)
        row_major = row_major * buffer->shape[axis] + indices[axis];
      offset = offset + row_major;
    }
    return {analyzer.simplify(offset)};
  }

  arith::Analyzer analyzer;

 private:
  // Widens indices so that sums and products with extents fit: an index read from memory may have a narrow
  // dtype and refer to an element far away.
  void widen(const Buffer& buffer, std::vector<PrimExpr>& indices) {
    const std::optional<int64_t> span = const_span(buffer);
    const bool is_far = span && *span > std::numeric_limits<int32_t>::max();
    for (PrimExpr& index : indices) {
      const bool is_wide = is_far || (!span && reads_memory(index));
      const DataType least = (is_wide ? kInt64 : kInt32).with_lanes(index->dtype.lanes);
      if (index->dtype.bits < least.bits) index = widened(index, least);
    }
  }

  std::unordered_map<const BufferNode*, Buffer> flat_;
  std::unordered_set<const VarNode*> callers_;
  std::vector<Buffer> kept_;  // keeps the keys of flat_ alive, so that addresses are not reused
};

bool is_access_ptr(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  return op && op->name == "tir.tvm_access_ptr";
}

// tvm_access_ptr(type, data, offset, extent, mask)  =>  address_of(data[offset * lanes]), in elements
PrimExpr element_pointer(const CallNode* call) {
  const auto* data = call->args[1].as<VarNode>();
  if (!data) throw UserError(call, "tvm_access_ptr takes the pointer of a buffer, as in A.data");
  const DataType type = call->args[0]->dtype;
  TILEWRIGHT_CHECK(!type.is_scalable(), "tvm_access_ptr to scalable vectors ({})", type.str());
  Buffer view = BufferNode::make(Var(data), type.element(), std::vector<PrimExpr>{call->args[3]},
                                 std::vector<PrimExpr>{}, PrimExpr(), data->name_hint, int64_t{1}, int64_t{0},
                                 std::vector<int64_t>{});
  PrimExpr offset = call->args[2] * static_cast<int64_t>(type.lanes);
  return tir::call(DataType::handle(), "tir.address_of", {load(view, {offset})});
}

PrimFunc flatten_buffers(const PrimFunc& func) {
  Flattener flattener(func);
  Stmt body = rewrite(
      func->body,
      [&](auto& self, const ForNode* node) -> Stmt { return rewrite_loop(self, node, flattener.analyzer); },
      [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
        std::vector<PrimExpr> indices = self(node->indices);
        return BufferLoadNode::make(flattener.flat(node->buffer), flattener.index(node->buffer, indices),
                                    self(node->predicate));
      },
      [&](auto& self, const BufferStoreNode* node) -> Stmt {
        std::vector<PrimExpr> indices = self(node->indices);
        return BufferStoreNode::make(flattener.flat(node->buffer), self(node->value),
                                     flattener.index(node->buffer, indices), self(node->predicate));
      },
      [&](auto& self, const CallNode* node) -> PrimExpr {
        PrimExpr call = self.children(node);
        return is_access_ptr(node) ? element_pointer(call.as<CallNode>()) : call;
      },
      [&](auto& self, const AllocBufferNode* node) -> Stmt {
        return AllocBufferNode::make(flattener.flat(node->buffer), node->annotations, self(node->body));
      },
      [&](auto& self, const DeclBufferNode* node) -> Stmt {
        return DeclBufferNode::make(flattener.flat(node->buffer), self(node->body));
      });
  // the parameters keep their shapes: split_functions uses them to check the arguments
  return body == func->body ? func : with(func, [&](PrimFuncNode& changed) { changed.body = body; });
}

}  // namespace

extern constinit const StepInfo flatten_buffers_info = {
    .name = "flatten_buffers",
    .doc = "all buffers have one dimension",
    .without = kBlocks,
    .ends = kManyDimensions,
    .run = without_options<flatten_buffers>,
};

}  // namespace tilewright::lower
