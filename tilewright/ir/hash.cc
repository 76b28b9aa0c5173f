// The stable content hash: traverses like equality, but feeds a hasher.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>

#include "tilewright/ir/field.h"
#include "tilewright/ir/identity.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/services.h"

namespace tilewright::ir {
namespace {

class ContentHasher {
 public:
  void node(const Object* object, Mode mode) {
    if (!object) {
      hasher_.add(std::string_view("null"));
      return;
    }
    const NodeInfo* info = info_of(*object);
    hasher_.add(info->name);
    if (const auto* var = ObjectRef(object).as<GlobalVarNode>()) {
      hasher_.add(var->name_hint);
      return;
    }
    if (const auto* program = ObjectRef(object).as<IRModuleNode>()) return module(*program);
    if (has_identity(object->kind)) {
      auto [it, is_new] = position_.try_emplace(object, num_seen_);
      hasher_.add(it->second);
      if (!is_new) return;
      ++num_seen_;
      if (mode == Mode::kUse)
        free_name(object);
      else
        defined_.push_back(object);
    }
    const size_t num_outer = defined_.size();
    for (const FieldInfo& field : info->fields) {
      if (field.role != Role::kIgnore) one_field(field, object, inner_mode(mode, field.role));
    }
    if (BaseFuncNode::classof(*object)) leave_function(num_outer);
  }

  Hash128 finish() const { return hasher_.finish(); }

 private:
  // Functions in the order of their names; the order in which they were added does not count.
  void module(const IRModuleNode& program) {
    std::map<std::string_view, const Object*> functions;
    for (size_t n = 0; n < program.functions.size(); ++n)
      functions.emplace(program.global_vars[n]->name_hint, program.functions[n].get());
    for (const auto& [name, function] : functions) {
      hasher_.add(name);
      node(function, Mode::kUse);
    }
    attrs(program.attrs);
    attrs(program.global_infos);
  }

  // Definitions end with their function: another one may define the same variable again.
  void leave_function(size_t num_outer) {
    for (; defined_.size() > num_outer; defined_.pop_back()) position_.erase(defined_.back());
  }

  // A free variable is hashed by its name, not by its address.
  void free_name(const Object* object) {
    for (const FieldInfo& field : info_of(*object)->fields) {
      if (field.type == FieldType::kString) hasher_.add(std::get<std::string>(field.get(object)));
    }
  }

  void one_field(const FieldInfo& field, const Object* object, Mode mode) {
    switch (field.type) {
      case FieldType::kNode: return node(field.node(object, 0), mode);
      case FieldType::kNodeList: {
        const size_t count = field.num_nodes(object);
        hasher_.add(static_cast<uint64_t>(count));
        for (size_t n = 0; n < count; ++n) node(field.node(object, n), mode);
        return;
      }
      case FieldType::kAttrs: return attrs(std::get<AttrMap>(field.get(object)));
      case FieldType::kTensor: return tensor(std::get<runtime::Tensor>(field.get(object)));
      case FieldType::kSpan: return;
      default: return plain(field.get(object));
    }
  }

  void plain(const FieldValue& value) {
    if (auto* number = std::get_if<int64_t>(&value))
      hasher_.add(static_cast<uint64_t>(*number));
    else if (auto* flag = std::get_if<bool>(&value))
      hasher_.add(static_cast<uint64_t>(*flag));
    else if (auto* real = std::get_if<double>(&value))
      hasher_.add(bits_of(*real));
    else if (auto* text = std::get_if<std::string>(&value))
      hasher_.add(*text);
    else if (auto* dtype = std::get_if<DataType>(&value))
      hasher_.add(dtype->str());
    else if (auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
      hasher_.add(static_cast<uint64_t>(ints->size()));
      for (int64_t item : *ints) hasher_.add(static_cast<uint64_t>(item));
    } else if (auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      hasher_.add(static_cast<uint64_t>(texts->size()));
      for (const std::string& item : *texts) hasher_.add(item);
    }
  }

  static uint64_t bits_of(double value) {
    if (std::isnan(value)) return 0x7FF8000000000000ull;  // all NaNs are equal
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }

  void attrs(const AttrMap& map) {
    hasher_.add(static_cast<uint64_t>(map.size()));
    for (const auto& [key, value] : map) {
      hasher_.add(key);
      node(value.get(), Mode::kUse);
    }
  }

  void tensor(const runtime::Tensor& data) {
    const bool defined = static_cast<bool>(data);
    hasher_.add(static_cast<uint64_t>(defined));
    if (!defined) return;
    const runtime::Tensor compact = data.compact();
    hasher_.add(compact.dtype().str());
    for (int64_t extent : compact.shape()) hasher_.add(static_cast<uint64_t>(extent));
    hasher_.add(
        std::string_view(static_cast<const char*>(compact.data()), static_cast<size_t>(compact.num_bytes())));
  }

  Hasher hasher_;
  std::unordered_map<const Object*, uint64_t> position_;
  uint64_t num_seen_ = 0;               // variables and buffers so far
  std::vector<const Object*> defined_;  // in the enclosing functions, in order
};

}  // namespace

Hash128 structural_hash(const ObjectRef& node) {
  ContentHasher hasher;
  hasher.node(node.get(), Mode::kUse);
  return hasher.finish();
}

bool same_contents(const runtime::Tensor& a, const runtime::Tensor& b) {
  if (!a || !b) return !a && !b;
  const runtime::Tensor x = a.compact(), y = b.compact();
  if (x.dtype() != y.dtype() || x.num_bytes() != y.num_bytes()) return false;
  if (!std::equal(x.shape().begin(), x.shape().end(), y.shape().begin(), y.shape().end())) return false;
  return std::memcmp(x.data(), y.data(), static_cast<size_t>(x.num_bytes())) == 0;
}

}  // namespace tilewright::ir
