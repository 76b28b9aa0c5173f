#include "tilewright/lower/common/written_params.h"

#include <unordered_map>

#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

constexpr size_t kPointerOfAccess = 1, kMaskOfAccess = 4;
constexpr int64_t kWriteBit = 2;

class Finder {
 public:
  explicit Finder(const PrimFunc& func) : written_(func->params.size()) {
    for (size_t n = 0; n < func->params.size(); ++n) {
      if (func->buffers[n])
        param_of_[func->buffers[n]->data.get()] = n;
      else if (func->params[n]->dtype.is_handle())
        param_of_[func->params[n].get()] = n;
    }
  }

  std::vector<bool> find(const Stmt& body) {
    visit(body);
    return std::move(written_);
  }

 private:
  void visit(const ObjectRef& root) {
    walk(
        root, [](const BufferNode*) { return false; },
        [&](const BufferStoreNode* node) { mark(node->buffer->data.get()); },
        [&](const LetStmtNode* node) { return alias(node); },
        [&](const CallNode* node) { return call(node); },
        // a pointer that is used in any other way may be written through
        [&](const VarNode* var) { mark(var); });
  }

  void mark(const VarNode* pointer) {
    const auto found = param_of_.find(pointer);
    if (found != param_of_.end()) written_[found->second] = true;
  }

  // p = A.data: writing through p writes A
  bool alias(const LetStmtNode* node) {
    const auto* value = node->value.as<VarNode>();
    const auto found = value ? param_of_.find(value) : param_of_.end();
    if (found == param_of_.end()) return true;
    param_of_.emplace(node->var.get(), found->second);
    visit(node->body);
    return false;
  }

  // True if the arguments must still be visited.
  bool call(const CallNode* node) {
    const auto* op = node->op.as<OpNode>();
    if (!op) return true;
    if (op->name == "tir.isnullptr") return false;
    if (op->name == "tir.address_of") {
      if (const auto* element = node->args[0].as<BufferLoadNode>()) mark(element->buffer->data.get());
    }
    int64_t mask = 0;
    if (op->name != "tir.tvm_access_ptr" || node->args.size() <= kMaskOfAccess ||
        !as_const_int(node->args[kMaskOfAccess], &mask) || (mask & kWriteBit) != 0)
      return true;
    for (size_t n = 0; n < node->args.size(); ++n) {
      if (n != kPointerOfAccess) visit(node->args[n]);
    }
    return false;
  }

  std::vector<bool> written_;
  std::unordered_map<const VarNode*, size_t> param_of_;
};

}  // namespace

std::vector<bool> written_params(const PrimFunc& func) { return Finder(func).find(func->body); }

}  // namespace tilewright::lower
