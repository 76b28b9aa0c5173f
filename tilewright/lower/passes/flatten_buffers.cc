// A[i, j]  ->  A[i * 128 + j]: every buffer becomes one-dimensional, with strides and offset worked into the
// index.  Pointers of tvm_access_ptr become addresses of elements.
#include <unordered_set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/passes/passes.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

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
    if (!buffer->strides.empty() && !callers_.count(buffer->data.get())) {  // up to and with the last element
      num_elements = imm(1);
      for (size_t axis = 0; axis < buffer->shape.size(); ++axis)
        num_elements = num_elements + (buffer->shape[axis] - 1) * buffer->strides[axis];
    }
    found->second = with(buffer, [&](BufferNode& changed) {
      changed.shape = {analyzer.simplify(num_elements)};
      changed.strides.clear();
      changed.elem_offset = nullptr;
      changed.axis_separators.clear();
      // memory of the caller is only as aligned as its elements
      if (callers_.count(buffer->data.get()))
        changed.data_alignment = std::max<int64_t>(1, buffer->dtype.element().num_bytes());
    });
    kept_.push_back(buffer);
    return found->second;
  }

  std::vector<PrimExpr> index(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
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
  std::unordered_map<const BufferNode*, Buffer> flat_;
  std::unordered_set<const VarNode*> callers_;
  std::vector<Buffer> kept_;  // keys of flat_ stay alive, so that addresses are not used twice
};

bool is_access_ptr(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  return op && op->name == "tir.tvm_access_ptr";
}

// tvm_access_ptr(type, data, offset, extent, mask)  =>  address_of(data[offset * lanes]) of elements
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

}  // namespace

PrimFunc flatten_buffers(const PrimFunc& func) {
  Flattener flattener(func);
  Stmt body = rewrite(
      func->body,
      [&](auto& self, const ForNode* node) -> Stmt {
        flattener.analyzer.bind(node->loop_var, make_range(node->min, node->extent));
        return self.children(node);
      },
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
  // the parameters keep their shapes: split_functions reads them to check the arguments
  return body == func->body ? func : with(func, [&](PrimFuncNode& changed) { changed.body = body; });
}

}  // namespace tilewright::lower
