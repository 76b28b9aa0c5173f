// Attribute maps, deletion of nodes, and the table of all node kinds.
#include "tilewright/ir/node.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <vector>

#include "tilewright/ir/expr.h"
#include "tilewright/ir/field.h"
#include "tilewright/support/error.h"

namespace tilewright::ir {

#define NODE(Name) extern const NodeInfo k##Name##Info;
#include "tilewright/ir/nodes.inc"

namespace {
constexpr const NodeInfo* kTable[] = {
#define NODE(Name) &k##Name##Info,
#define GROUP_BEGIN(Name) nullptr,
#define GROUP_END(Name) nullptr,
#include "tilewright/ir/nodes.inc"
};
}  // namespace

const NodeInfo* node_info(Kind kind) { return kTable[static_cast<size_t>(kind)]; }

const NodeInfo* find_node_info(std::string_view name) {
  for (const NodeInfo* info : kTable) {
    if (info && info->name == name) return info;
  }
  return nullptr;
}

namespace {

/// Nodes without references; the one added last is deleted first.
class Unreferenced {
 public:
  // Returns false if there is no memory to store another node.
  bool push(const Object* object) {
    if (num_first_ < std::size(first_)) {
      first_[num_first_++] = object;
      return true;
    }
    try {
      more_.push_back(object);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  const Object* pop() {
    if (more_.empty()) return num_first_ == 0 ? nullptr : first_[--num_first_];
    const Object* last = more_.back();
    more_.pop_back();
    return last;
  }

 private:
  const Object* first_[32];  // enough for most deletions, so that nothing is allocated
  size_t num_first_ = 0;
  std::vector<const Object*> more_;
};

}  // namespace

// Must not throw: destructors call it, also when memory has run out.
void release_last(const Object* object) {
  // Deleting a node releases its children; a queue instead of recursion keeps long chains off the call stack.
  static thread_local Unreferenced* queue = nullptr;
  if (queue) {
    if (!queue->push(object)) node_info(object->kind)->destroy(object);
    return;
  }
  Unreferenced unreferenced;
  queue = &unreferenced;
  for (const Object* next = object; next; next = unreferenced.pop()) node_info(next->kind)->destroy(next);
  queue = nullptr;
}

namespace {
auto lower_bound(auto& entries, std::string_view key) {
  return std::lower_bound(entries.begin(), entries.end(), key,
                          [](const AttrMap::Entry& entry, std::string_view k) { return entry.first < k; });
}
template <class N>
const N* typed(const AttrMap& map, std::string_view key, std::string_view expected) {
  ObjectRef value = map.get(key);
  if (!value) return nullptr;
  const N* node = value.as<N>();
  if (!node)
    throw UserError("attribute \"{}\" must be {}, but is of type {}", key, expected, info_of(*value)->name);
  return node;
}
}  // namespace

ObjectRef AttrMap::get(std::string_view key) const {
  auto it = lower_bound(entries_, key);
  return it != entries_.end() && it->first == key ? it->second : nullptr;
}

void AttrMap::set(std::string key, ObjectRef value) {
  auto it = lower_bound(entries_, key);
  if (it != entries_.end() && it->first == key)
    it->second = std::move(value);
  else
    entries_.insert(it, {std::move(key), std::move(value)});
}

void AttrMap::erase(std::string_view key) {
  auto it = lower_bound(entries_, key);
  if (it != entries_.end() && it->first == key) entries_.erase(it);
}

int64_t AttrMap::get_int(std::string_view key, int64_t otherwise) const {
  const auto* node = typed<IntImmNode>(*this, key, "an integer");
  return node ? node->value : otherwise;
}

bool AttrMap::get_bool(std::string_view key, bool otherwise) const {
  const auto* node = typed<IntImmNode>(*this, key, "a bool");
  return node ? node->value != 0 : otherwise;
}

double AttrMap::get_float(std::string_view key, double otherwise) const {
  ObjectRef value = get(key);
  if (const auto* integer = value.as<IntImmNode>()) return static_cast<double>(integer->value);
  const auto* node = typed<FloatImmNode>(*this, key, "a number");
  return node ? node->value : otherwise;
}

std::string AttrMap::get_string(std::string_view key, std::string_view otherwise) const {
  const auto* node = typed<StringImmNode>(*this, key, "a string");
  return node ? node->value : std::string(otherwise);
}

std::vector<int64_t> AttrMap::get_ints(std::string_view key, std::vector<int64_t> otherwise) const {
  const auto* node = typed<ArrayNode>(*this, key, "a list of integers");
  if (!node) return otherwise;
  std::vector<int64_t> values;
  for (const ObjectRef& item : node->items) {
    const auto* integer = item.as<IntImmNode>();
    if (!integer)
      throw UserError("attribute \"{}\" must be a list of integers, but holds one of type {}", key,
                      info_of(*item)->name);
    values.push_back(integer->value);
  }
  return values;
}

}  // namespace tilewright::ir
