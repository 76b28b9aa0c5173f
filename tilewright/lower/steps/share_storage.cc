// Buffers that are never live at the same time share memory.
//   A = alloc(64); B = alloc(64); C = alloc(64); {A = ..; B = f(A); C = g(B); out = h(C)}
//   ->  C uses A's memory
// A buffer is live from the first to the last statement of the sequence below its allocation that names it.
// Only buffers of equal dtype and scope share memory, which is as large as the largest of them.  Registers
// (scope "local") are left to the code generator; buffers without a constant size or with annotations do not
// share.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

struct Lifetime {
  Buffer buffer;
  size_t first = SIZE_MAX, last = 0;  // positions in the sequence
};

// Memory that several buffers use one after the other.
struct Storage {
  Buffer buffer;  // as large as the largest
  size_t last = 0;
  bool is_shared = false;
};

bool can_share(const AllocBufferNode* alloc) {
  const Buffer& buffer = alloc->buffer;
  return alloc->annotations.empty() && buffer->scope() != "local" && buffer->shape.size() == 1 &&
         is<IntImmNode>(buffer->shape[0]);
}

int64_t num_elements(const Buffer& buffer) { return buffer->shape[0].as<IntImmNode>()->value; }

// The allocations nested directly in one another, from `alloc` inwards, and the statement inside all of them.
std::pair<std::vector<const AllocBufferNode*>, Stmt> nest_of(const AllocBufferNode* alloc) {
  std::vector<const AllocBufferNode*> nest = {alloc};
  Stmt body = alloc->body;
  while (const auto* inner = body.as<AllocBufferNode>()) {
    nest.push_back(inner);
    body = inner->body;
  }
  return {nest, body};
}

std::vector<Lifetime> lifetimes_of(const std::vector<const AllocBufferNode*>& nest, const SeqStmtNode* body) {
  std::vector<Lifetime> lifetimes;
  std::unordered_map<const Object*, size_t> index;
  for (const AllocBufferNode* alloc : nest) {
    if (!can_share(alloc)) continue;
    index[alloc->buffer.get()] = index[alloc->buffer->data.get()] = lifetimes.size();
    lifetimes.push_back({alloc->buffer});
  }
  for (size_t n = 0; n < body->seq.size(); ++n) {
    auto meet = [&](const Object* object) {
      auto found = index.find(object);
      if (found == index.end()) return;
      Lifetime& lifetime = lifetimes[found->second];
      lifetime.first = std::min(lifetime.first, n);
      lifetime.last = n;
    };
    walk(
        body->seq[n],
        [&](const BufferNode* buffer) {  // the buffer itself, or a view that no statement declares
          meet(buffer);
          meet(buffer->data.get());
        },
        [&](const VarNode* var) { meet(var); },
        // another view's pointer is found inside it
        [&](const DeclBufferNode* view) { meet(view->buffer->data.get()); });
  }
  return lifetimes;
}

// The first memory of that kind that is free again, in order of first use.
Storage* find_free(std::vector<Storage>& storages, const Lifetime& lifetime) {
  for (Storage& storage : storages) {
    if (storage.last < lifetime.first && storage.buffer->dtype == lifetime.buffer->dtype &&
        storage.buffer->scope() == lifetime.buffer->scope())
      return &storage;
  }
  return nullptr;
}

Buffer enlarged(const Buffer& buffer, const Buffer& other) {
  return with(buffer, [&](BufferNode& changed) {
    if (num_elements(other) > num_elements(buffer)) changed.shape = other->shape;
    changed.data_alignment = std::max(buffer->data_alignment, other->data_alignment);
  });
}

// Views of memory that no statement declares, as calls of registered functions read: the same of the new memory.
void replace_views(const Stmt& body, Substitution& values) {
  std::unordered_set<const Object*> declared;
  walk(body, [&](const DeclBufferNode* view) { declared.insert(view->buffer.get()); });
  Substitution views;
  walk(body, [&](const BufferNode* view) {
    const auto memory = values.find(view->data.get());
    if (memory == values.end() || values.contains(view) || declared.contains(view)) return;
    views[view] =
        with(Buffer(view), [&](BufferNode& moved) { moved.data = ref_as<VarNode>(memory->second); });
  });
  values.insert(views.begin(), views.end());
}

Stmt share(const AllocBufferNode* outermost) {
  auto [nest, body] = nest_of(outermost);
  const auto* sequence = body.as<SeqStmtNode>();
  if (!sequence || nest.size() < 2) return Stmt(outermost);
  std::vector<Lifetime> lifetimes = lifetimes_of(nest, sequence);
  std::sort(lifetimes.begin(), lifetimes.end(),
            [](const Lifetime& a, const Lifetime& b) { return a.first < b.first; });
  std::vector<Storage> storages;
  std::unordered_map<const BufferNode*, size_t> storage_of;
  bool is_any_shared = false;
  for (const Lifetime& lifetime : lifetimes) {
    Storage* storage = find_free(storages, lifetime);
    if (storage) {
      storage->buffer = enlarged(storage->buffer, lifetime.buffer);
      storage->last = lifetime.last;
      storage->is_shared = is_any_shared = true;
    } else {
      storages.push_back({lifetime.buffer, lifetime.last});
      storage = &storages.back();
    }
    storage_of[lifetime.buffer.get()] = static_cast<size_t>(storage - storages.data());
  }
  if (!is_any_shared) return Stmt(outermost);

  Substitution values;
  for (const auto& [buffer, index] : storage_of) {
    const Buffer& memory = storages[index].buffer;
    if (!storages[index].is_shared) continue;
    values[buffer] = memory;
    if (buffer->data != memory->data) values[buffer->data.get()] = memory->data;
  }
  replace_views(body, values);
  Stmt shared = substitute(body, values);
  for (auto alloc = nest.rbegin(); alloc != nest.rend(); ++alloc) {
    const Buffer& buffer = (*alloc)->buffer;
    auto found = storage_of.find(buffer.get());
    if (found == storage_of.end()) {
      shared = AllocBufferNode::make(buffer, (*alloc)->annotations, shared);
      continue;
    }
    const Storage& storage = storages[found->second];
    if (storage.buffer->data == buffer->data)
      shared = AllocBufferNode::make(storage.buffer, AttrMap(), shared);
  }
  return shared;
}

PrimFunc share_storage(const PrimFunc& func) {
  return rewrite(func, [](auto& self, const AllocBufferNode* node) -> Stmt {
    const Stmt shared = share(node);
    if (shared.get() != node) {
      // buffers inside the allocations may share memory, too
      auto [nest, body] = nest_of(shared.as<AllocBufferNode>());
      Stmt inside = self(body);
      if (inside == body) return shared;
      for (auto alloc = nest.rbegin(); alloc != nest.rend(); ++alloc)
        inside = AllocBufferNode::make((*alloc)->buffer, (*alloc)->annotations, inside);
      return inside;
    }
    return self.children(node);
  });
}

}  // namespace

extern constinit const StepInfo share_storage_info = {
    .name = "share_storage",
    .doc = "buffers that do not live at the same time share memory",
    .without = kManyDimensions | kPartsOfBytes,
    .run = without_options<share_storage>,
};

}  // namespace tilewright::lower
