// Structural equality up to renaming, driven by field tables; reports the path of the first difference.
#include <cmath>
#include <unordered_map>

#include "tilewright/ir/field.h"
#include "tilewright/ir/identity.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/services.h"

namespace tilewright::ir {
namespace {

class Comparer {
 public:
  explicit Comparer(const EqualOptions& options) : options_(options) {}

  bool nodes(const Object* a, const Object* b, Mode mode) {
    // a node that both programs share is equal as long as every variable so far corresponds to itself
    if (a == b && (!a || (num_renamed_ == 0 && !options_.map_free_vars))) return true;
    if (!a || !b) return fail(a, b, a ? "only the left has a node here" : "only the right has a node here");
    if (a->kind != b->kind)
      return fail(a, b, fmt::format("{} against {}", info_of(*a)->name, info_of(*b)->name));
    if (has_identity(a->kind)) return identities(a, b, mode);
    if (const auto* var = ref_of(a).as<GlobalVarNode>())
      return var->name_hint == ref_of(b).as<GlobalVarNode>()->name_hint || fail(a, b, "another function");
    if (const auto* module = ref_of(a).as<IRModuleNode>())
      return modules(*module, *ref_of(b).as<IRModuleNode>());
    return BaseFuncNode::classof(*a) ? functions(a, b, mode) : all_fields(a, b, mode);
  }

  std::optional<Mismatch> mismatch;

 private:
  static ObjectRef ref_of(const Object* object) { return ObjectRef(object); }

  // Functions are compared by name; the order in which they were added does not count.
  bool modules(const IRModuleNode& a, const IRModuleNode& b) {
    for (const GlobalVar& var : b.global_vars) {
      if (!a.find(var->name_hint))
        return fail(&a, &b, fmt::format("only the right has a function \"{}\"", var->name_hint));
    }
    for (size_t n = 0; n < a.functions.size(); ++n) {
      const std::string& name = a.global_vars[n]->name_hint;
      const BaseFunc other = b.find(name);
      if (!other) return fail(&a, &b, fmt::format("only the left has a function \"{}\"", name));
      if (nodes(a.functions[n].get(), other.get(), Mode::kUse)) continue;
      prepend(fmt::format("functions[\"{}\"]", name));
      return false;
    }
    return attrs(a.attrs, b.attrs, &a, &b) && attrs(a.global_infos, b.global_infos, &a, &b);
  }

  // Definitions end with their function: another function may define the same variable again, with another
  // counterpart.
  bool functions(const Object* a, const Object* b, Mode mode) {
    const size_t num_outer = defined_.size();
    const bool are_equal = all_fields(a, b, mode);
    for (; defined_.size() > num_outer; defined_.pop_back()) {
      const auto [var_a, var_b] = defined_.back();
      to_b_.erase(var_a);
      to_a_.erase(var_b);
      if (var_a != var_b) --num_renamed_;
    }
    return are_equal;
  }

  // Variables and buffers must correspond one to one.
  bool identities(const Object* a, const Object* b, Mode mode) {
    auto in_a = to_b_.find(a);
    auto in_b = to_a_.find(b);
    if (in_a != to_b_.end() || in_b != to_a_.end()) {
      if (in_a != to_b_.end() && in_b != to_a_.end() && in_a->second == b) return true;
      return fail(a, b, "another variable");
    }
    const bool defines = mode != Mode::kUse;
    if (!defines && !options_.map_free_vars && a != b) return fail(a, b, "different free variables");
    to_b_[a] = b;
    to_a_[b] = a;
    if (a != b) ++num_renamed_;
    if (defines) defined_.emplace_back(a, b);
    // the variable's fields: dtype, and for a buffer its pointer and shape
    return all_fields(a, b, mode);
  }

  bool all_fields(const Object* a, const Object* b, Mode mode) {
    for (const FieldInfo& field : info_of(*a)->fields) {
      if (field.role == Role::kIgnore) continue;
      if (!one_field(field, a, b, inner_mode(mode, field.role))) {
        prepend(std::string(field.name));
        return false;
      }
    }
    return true;
  }

  bool one_field(const FieldInfo& field, const Object* a, const Object* b, Mode mode) {
    switch (field.type) {
      case FieldType::kNode: return nodes(field.node(a, 0), field.node(b, 0), mode);
      case FieldType::kNodeList: return lists(field, a, b, mode);
      case FieldType::kAttrs:
        return attrs(std::get<AttrMap>(field.get(a)), std::get<AttrMap>(field.get(b)), a, b);
      case FieldType::kTensor:
        return same_contents(std::get<runtime::Tensor>(field.get(a)),
                             std::get<runtime::Tensor>(field.get(b))) ||
               fail(a, b, "different constants");
      case FieldType::kFloat: {
        const double x = std::get<double>(field.get(a)), y = std::get<double>(field.get(b));
        // -0.0 and 0.0 differ, and NaN equals NaN: programs are compared, not values
        return (x == y && std::signbit(x) == std::signbit(y)) || (std::isnan(x) && std::isnan(y)) ||
               fail(a, b, fmt::format("{} against {}", x, y));
      }
      case FieldType::kInt:
      case FieldType::kBool:
      case FieldType::kString:
      case FieldType::kDType:
      case FieldType::kEnum:
      case FieldType::kIntList:
      case FieldType::kStringList:
        return same_plain(field.get(a), field.get(b)) || fail(a, b, "different values");
      case FieldType::kSpan: return true;
    }
    return false;
  }

  static bool same_plain(const FieldValue& a, const FieldValue& b) {
    if (auto* value = std::get_if<int64_t>(&a)) return *value == std::get<int64_t>(b);
    if (auto* value = std::get_if<bool>(&a)) return *value == std::get<bool>(b);
    if (auto* value = std::get_if<std::string>(&a)) return *value == std::get<std::string>(b);
    if (auto* value = std::get_if<DataType>(&a)) return *value == std::get<DataType>(b);
    if (auto* value = std::get_if<std::vector<int64_t>>(&a))
      return *value == std::get<std::vector<int64_t>>(b);
    if (auto* value = std::get_if<std::vector<std::string>>(&a))
      return *value == std::get<std::vector<std::string>>(b);
    return false;
  }

  bool lists(const FieldInfo& field, const Object* a, const Object* b, Mode mode) {
    const size_t num_a = field.num_nodes(a), num_b = field.num_nodes(b);
    if (num_a != num_b) return fail(a, b, fmt::format("{} against {} {}", num_a, num_b, field.name));
    for (size_t n = 0; n < num_a; ++n) {
      if (!nodes(field.node(a, n), field.node(b, n), mode)) {
        prepend(fmt::format("[{}]", n));
        return false;
      }
    }
    return true;
  }

  bool attrs(const AttrMap& a, const AttrMap& b, const Object* owner_a, const Object* owner_b) {
    auto in_b = b.begin();
    for (const auto& [key, value] : a) {
      if (in_b == b.end() || in_b->first != key)
        return fail(owner_a, owner_b, fmt::format("attribute \"{}\"", key));
      if (!nodes(value.get(), in_b->second.get(), Mode::kUse)) {
        prepend(fmt::format("[\"{}\"]", key));
        return false;
      }
      ++in_b;
    }
    return in_b == b.end() || fail(owner_a, owner_b, fmt::format("attribute \"{}\"", in_b->first));
  }

  bool fail(const Object* a, const Object* b, std::string reason) {
    mismatch = Mismatch{"", ObjectRef(a), ObjectRef(b), std::move(reason)};
    return false;
  }
  void prepend(const std::string& step) {
    std::string& path = mismatch->path;
    path = path.empty() || path[0] == '[' ? step + path : step + "." + path;
  }

  const EqualOptions& options_;
  std::unordered_map<const Object*, const Object*> to_b_, to_a_;
  std::vector<std::pair<const Object*, const Object*>> defined_;  // in the enclosing functions, in order
  size_t num_renamed_ = 0;                                        // pairs of two different variables
};

}  // namespace

std::optional<Mismatch> first_mismatch(const ObjectRef& a, const ObjectRef& b, const EqualOptions& options) {
  Comparer comparer(options);
  if (comparer.nodes(a.get(), b.get(), Mode::kUse)) return std::nullopt;
  return std::move(comparer.mismatch);
}

bool structural_equal(const ObjectRef& a, const ObjectRef& b, const EqualOptions& options) {
  return !first_mismatch(a, b, options).has_value();
}

}  // namespace tilewright::ir
