#include "tilewright/relax/memory/memory_layout.h"

#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/vdevices.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

int64_t fixed(const PrimExpr& value) {
  int64_t number;
  return tir::as_const_int(value, &number) ? number : -1;
}

// A tensor in a storage, at a fixed offset.
struct Placed {
  const Owner* owner;
  size_t storage;
  int64_t begin, end;
};

class Layout {
 public:
  Layout(const Function& func, const Liveness& liveness, size_t num_devices) : liveness_(liveness) {
    result_.bounds = upper_bounds(func);
    result_.fixed_bytes.assign(num_devices, 0);
  }

  MemoryLayout run() {
    for (const Owner& owner : liveness_.owners) {
      const std::string_view name = op_name(owner.call);
      if (name == kVmAllocStorage) add_storage(owner);
      if (name == kVmAllocTensor) add_tensor(owner);
    }
    for (size_t n = 0; n < placed_.size(); ++n) {
      for (size_t other = 0; other < n; ++other) check_pair(placed_[other], placed_[n]);
    }
    std::vector<Lifetime>& tensors = result_.plan.tensors;
    for (const Placed& tensor : placed_) {
      tensors.push_back(
          {tensor.owner->var->name_hint, tensor.end - tensor.begin, tensor.owner->first, tensor.owner->last});
      result_.plan.offsets.push_back(result_.storages[tensor.storage].begin + tensor.begin);
    }
    // the sums of all devices
    for (size_t device = 0; device < result_.fixed_bytes.size(); ++device) {
      std::vector<Lifetime> here;
      for (size_t n = 0; n < placed_.size(); ++n) {
        if (result_.storages[placed_[n].storage].device == device) here.push_back(tensors[n]);
      }
      result_.plan.peak_bytes += result_.fixed_bytes[device];
      result_.plan.lower_bound_bytes += most_alive_bytes(here, kMemoryAlignment);
    }
    return std::move(result_);
  }

 private:
  void add_storage(const Owner& owner) {
    const StorageAlloc alloc = storage_alloc(owner.call);
    StoragePlace storage{owner.var, owner.call, alloc.num_bytes(), fixed(alloc.num_bytes())};
    storage.device = placement(owner.call, alloc.device, alloc.scope);
    if (storage.fixed_bytes >= 0) {
      int64_t& end = result_.fixed_bytes[storage.device];
      storage.begin = end;
      const int64_t most = INT64_MAX - kMemoryAlignment - end;
      if (storage.fixed_bytes > most) throw UserError(owner.call, "the storages are larger than memory");
      end += (storage.fixed_bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    }
    result_.storages.push_back(std::move(storage));
  }

  // The number of the device.
  size_t placement(const CallNode* call, const Expr& device, const Expr& scope) const {
    const size_t number = memory_device(call, device, result_.fixed_bytes.size());
    const auto* text = scope.as<StringValueNode>();
    if (text && text->value != "global")
      throw Unsupported(call, "memory of the scope \"{}\": graphs have global memory", text->value);
    return number;
  }

  void add_tensor(const Owner& owner) {
    const PlacedAlloc alloc = placed_alloc(owner.call);
    const size_t index = storage_of(owner, alloc.storage);
    const StoragePlace& storage = result_.storages[index];
    result_.storage_of[owner.var] = index;
    const int64_t offset = fixed(alloc.offset_bytes());
    if (offset < 0 && is<IntImmNode>(alloc.offset_bytes()))
      throw UserError(owner.call, "tensor {} begins {} bytes before its storage", owner.var->name_hint,
                      -offset);
    if (offset % kMemoryAlignment != 0 && offset >= 0)
      throw UserError(owner.call, "tensor {} begins at byte {} of its storage, which is no multiple of {}",
                      owner.var->name_hint, offset, kMemoryAlignment);
    const auto type = ref_as<TensorTypeNode>(owner.call->type);
    const std::optional<int64_t> bytes = most_bytes(type, result_.bounds);
    if (offset < 0 || !bytes) return;
    if (storage.fixed_bytes >= 0 && (*bytes > storage.fixed_bytes || offset > storage.fixed_bytes - *bytes))
      throw UserError(owner.call, "tensor {} takes the bytes {} to {} of a storage of {}",
                      owner.var->name_hint, offset, offset + *bytes, storage.fixed_bytes)
          .note(storage.call, "the storage is {}", storage.var->name_hint);
    if (storage.fixed_bytes >= 0) placed_.push_back({&owner, index, offset, offset + *bytes});
  }

  // The storage that `expr` is, also under another name.
  size_t storage_of(const Owner& tensor, const Expr& expr) const {
    std::vector<size_t> found;
    if (const VarBaseNode* var = expr.as<VarBaseNode>()) {
      const auto held = liveness_.held.find(var);
      for (size_t n = 0; held != liveness_.held.end() && n < result_.storages.size(); ++n) {
        const bool is_held = std::any_of(held->second.begin(), held->second.end(), [&](size_t id) {
          return liveness_.owners[id].var == result_.storages[n].var;
        });
        if (is_held) found.push_back(n);
      }
    }
    if (found.size() != 1)
      throw UserError(tensor.call, "the storage of {} is not allocated in this function",
                      tensor.var->name_hint)
          .help("a storage cannot be passed through parameters, tuples of several values or branches");
    return found[0];
  }

  static void check_pair(const Placed& a, const Placed& b) {
    const bool apart = a.storage != b.storage || a.end <= b.begin || b.end <= a.begin;
    if (apart || a.owner->last < b.owner->first) return;
    UserError error(b.owner->call, "tensor {} overlaps tensor {}, which is used afterwards",
                    b.owner->var->name_hint, a.owner->var->name_hint);
    error.note(a.owner->call, "{} has the bytes {} to {} of the storage, {} the bytes {} to {}",
               a.owner->var->name_hint, a.begin, a.end, b.owner->var->name_hint, b.begin, b.end);
    if (a.owner->last_call) error.note(a.owner->last_call, "{} is used last here", a.owner->var->name_hint);
    throw error;
  }

  const Liveness& liveness_;
  MemoryLayout result_;
  std::vector<Placed> placed_;
};

// Checks that no killed value is used, in program order.
class KillCheck {
 public:
  explicit KillCheck(const Liveness& liveness) : liveness_(liveness) {}

  void sequence(const SeqExprNode* seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) bind(binding);
    }
    use(seq->body, nullptr);
  }

 private:
  void bind(const Binding& binding) {
    const auto* call = binding->value.as<CallNode>();
    if (const auto* branch = binding->value.as<IfNode>()) {
      use(branch->cond, nullptr);
      auto before = killed_;
      sequence(branch->true_branch.as<SeqExprNode>());
      std::swap(before, killed_);
      sequence(branch->false_branch.as<SeqExprNode>());
      killed_.merge(before);
    } else if (call) {
      if (is_kill(op_name(call))) return kill(call);
      if (VarBaseNode::classof(*call->op)) use(call->op, call);
      for (const Expr& arg : call->args) use(arg, call);
    } else {
      use(binding->value, nullptr);
    }
  }

  // A tensor may be killed after its storage.
  void kill(const CallNode* call) {
    const VarBaseNode* var = call->args[0].as<VarBaseNode>();
    if (!var) return;
    check(var, var, call);
    killed_.emplace(var, call);
  }

  void use(const Expr& expr, const CallNode* user) const {
    if (const auto* tuple = expr.as<TupleNode>()) {
      for (const Expr& element : tuple->elements) use(element, user);
    } else if (const auto* item = expr.as<TupleGetItemNode>()) {
      use(item->tuple, user);
    } else if (const VarBaseNode* var = expr.as<VarBaseNode>()) {
      use_var(var, user);
    }
  }

  void use_var(const VarBaseNode* var, const CallNode* user) const {
    check(var, var, user);
    const auto held = liveness_.held.find(var);
    if (held == liveness_.held.end()) return;
    for (size_t id : held->second) {
      const std::string_view name = op_name(liveness_.owners[id].call);
      // a value with its own memory stays valid through another name of it
      if (is_alloc_storage(name) || is_alloc_in_storage(name)) check(var, liveness_.owners[id].var, user);
    }
  }

  // `ended` is `var` itself, or a value that it holds.
  void check(const VarBaseNode* var, const VarBaseNode* ended, const CallNode* user) const {
    const auto kill = killed_.find(ended);
    if (kill == killed_.end()) return;
    const std::string what = ended == var ? "it" : ended->name_hint;
    if (!user)
      throw UserError(kill->second, "{} is killed here, but {} is used afterwards", ended->name_hint,
                      var->name_hint);
    throw UserError(user, "{} is used, but {} was killed before", var->name_hint, what)
        .note(kill->second, "{} is killed here", ended->name_hint);
  }

  const Liveness& liveness_;
  std::unordered_map<const Object*, const CallNode*> killed_;  // by variable
};

// Finds the variables that are dropped together with each killed value.
void find_names(const Function& func, const Liveness& liveness, MemoryLayout* layout) {
  std::unordered_map<const Object*, size_t> owner_of;
  for (size_t id = 0; id < liveness.owners.size(); ++id) owner_of[liveness.owners[id].var] = id;
  std::vector<std::vector<const BindingNode*>> names(liveness.owners.size());  // by owner, in program order
  std::vector<const BindingNode*> kills;
  walk(func, [&](const VarBindingNode* binding) {
    const auto* call = binding->value.as<CallNode>();
    const auto held = liveness.held.find(binding->var.get());
    if (held == liveness.held.end()) return;  // belongs to a local function
    if (call && is_kill(op_name(call))) kills.push_back(binding);
    for (size_t id : held->second) {
      if (liveness.owners[id].var != binding->var.get()) names[id].push_back(binding);
    }
  });
  for (const BindingNode* kill : kills) {
    const auto* call = kill->value.as<CallNode>();
    const auto owner = owner_of.find(call->args[0].get());
    if (owner == owner_of.end()) continue;
    const int64_t now = liveness.end_of.at(kill);
    for (const BindingNode* name : names[owner->second]) {
      const auto used = liveness.last_use.find(name->var.get());
      const int64_t last = used == liveness.last_use.end() ? liveness.end_of.at(name) : used->second;
      if (std::max(last, liveness.end_of.at(name)) <= now) layout->end_with[call].push_back(name->var.get());
    }
  }
}

}  // namespace

size_t memory_device(const CallNode* call, const Expr& device, size_t num_devices) {
  const auto* value = device.as<PrimValueNode>();
  int64_t number = 0;
  if (!value || !tir::as_const_int(value->value, &number)) return 0;
  if (number >= 0 && number < static_cast<int64_t>(num_devices)) return static_cast<size_t>(number);
  if (num_devices == 1) throw Unsupported(call, "memory of device {}: there is one device, 0", number);
  throw Unsupported(call, "memory of device {}: the module has devices 0 to {}", number, num_devices - 1);
}

MemoryLayout lay_out_memory(const Function& func, const IRModule& module) {
  const Liveness liveness = analyze_liveness(func, module, Holds::kCertainly);
  KillCheck(liveness).sequence(func->body.as<SeqExprNode>());
  MemoryLayout layout = Layout(func, liveness, num_devices(module)).run();
  find_names(func, liveness, &layout);
  return layout;
}

}  // namespace tilewright::relax
