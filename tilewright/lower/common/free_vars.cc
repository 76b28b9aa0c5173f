#include "tilewright/lower/common/free_vars.h"

#include <unordered_set>

#include "tilewright/ir/walk.h"

namespace tilewright::lower {
namespace {

class Finder {
 public:
  std::vector<Var> found;

  void visit(const Object* node) {
    const ObjectRef ref(node);
    if (const auto* var = ref.as<VarNode>()) return use(Var(var));
    if (const auto* loop = ref.as<ForNode>()) defined_.insert(loop->loop_var.get());
    if (const auto* let = ref.as<LetStmtNode>()) defined_.insert(let->var.get());
    if (const auto* let = ref.as<LetNode>()) defined_.insert(let->var.get());
    if (const auto* alloc = ref.as<AllocBufferNode>()) defined_.insert(alloc->buffer->data.get());
    if (const auto* load = ref.as<BufferLoadNode>()) use(load->buffer->data);
    if (const auto* store = ref.as<BufferStoreNode>()) use(store->buffer->data);
    for_each_child(node, this,
                   [](void* self, const Object* child, bool) { static_cast<Finder*>(self)->visit(child); });
  }

 private:
  // in lowered code, definitions come before their uses in field order
  void use(const Var& var) {
    if (!defined_.count(var.get()) && seen_.insert(var.get()).second) found.push_back(var);
  }
  std::unordered_set<const VarNode*> defined_, seen_;
};

}  // namespace

std::vector<Var> free_vars(const Stmt& body) {
  Finder finder;
  finder.visit(body.get());
  return std::move(finder.found);
}

}  // namespace tilewright::lower
