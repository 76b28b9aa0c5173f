// Memory: the arena with the storages of the function, tensors in it, tensors with their own memory.
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/support/error.h"

namespace tilewright::relax::vm {
namespace {

const Shape& shape_of_call(const CallNode* call) {
  const Shape* shape = known_shape(call->type.as<TensorTypeNode>());
  if (!shape)
    throw Unsupported(call, "a tensor of unknown shape")
        .help("give the extents, or bind the shape with R.match_cast");
  return *shape;
}

}  // namespace

// Places storages of fixed size first, at constant offsets; those of symbolic size follow.  Each device has an arena.
void FunctionCompiler::reserve_arena() {
  std::vector<rt::Operand> ends;
  for (const int64_t bytes : layout_.fixed_bytes) ends.push_back(rt::imm(bytes));
  std::vector<bool> is_used(ends.size());
  for (const StoragePlace& storage : layout_.storages) {
    rt::Operand& end = ends[storage.device];
    is_used[storage.device] = true;
    if (storage.fixed_bytes >= 0) {
      storage_begin_.push_back(rt::imm(storage.begin));
      continue;
    }
    walk(storage.num_bytes, [&](const tir::VarNode* var) {
      if (!dims_.count(var))
        throw Unsupported(storage.call, "a storage whose size depends on {}, which no parameter has",
                          var->name_hint)
            .help("allocate its tensors with R.builtin.alloc_tensor");
    });
    storage_begin_.push_back(end);
    const PrimExpr aligned = tir::floordiv(storage.num_bytes + (kMemoryAlignment - 1), kMemoryAlignment) *
                             extent_imm(kMemoryAlignment);
    end = sum(end, int_register(aligned));
  }
  for (size_t device = 0; device < ends.size(); ++device) {
    code_.on_device(device);
    if (is_used[device]) code_.arena(ends[device]);
  }
}

rt::Operand FunctionCompiler::sum(const rt::Operand& a, const rt::Operand& b) {
  const bool both_known = a.kind == rt::Operand::Kind::kImmediate && b.kind == rt::Operand::Kind::kImmediate;
  if (both_known) return rt::imm(a.bits + b.bits);
  auto in_register = [&](const rt::Operand& value) {
    return value.kind == rt::Operand::Kind::kImmediate ? code_.set_int(value.bits)
                                                       : rt::IntRegister{value.index};
  };
  const rt::IntRegister first = in_register(a);
  return code_.binary(rt::Opcode::kAdd, first, in_register(b));
}

rt::Register FunctionCompiler::alloc_own(const CallNode* call) {
  const rt::Operands dims = sizes(shape_of_call(call));
  code_.on_device(memory_device(call, tensor_alloc(call).device, num_devices(module_)));
  return code_.new_tensor(call->type.as<TensorTypeNode>()->dtype, dims);
}

rt::Register FunctionCompiler::alloc_in_storage(const CallNode* call, const VarBaseNode* var) {
  TILEWRIGHT_CHECK(var, "alloc_tensor stands inside another expression; normalize first");
  const size_t storage = layout_.storage_of.at(var);
  const rt::Operands dims = sizes(shape_of_call(call));
  check_begins(call, var->name_hint);
  check_fits(call, layout_.storages[storage], var->name_hint);
  code_.on_device(layout_.storages[storage].device);
  const rt::Operand offset = sum(storage_begin_[storage], size(placed_alloc(call).offset_bytes()));
  const rt::Register result = code_.arena_tensor(offset, call->type.as<TensorTypeNode>()->dtype, dims);
  in_arena_.insert(result.index);
  return result;
}

// Checks an offset that is not constant at run time.
void FunctionCompiler::check_begins(const CallNode* call, const std::string& name) {
  const PrimExpr offset = placed_alloc(call).offset_bytes();
  if (is<IntImmNode>(offset)) return;  // checked with the layout
  const rt::IntRegister begin = int_register(offset);
  code_.check_equal(code_.binary(rt::Opcode::kMax, begin, code_.set_int(0)), begin,
                    fmt::format("the larger of 0 and the offset of tensor {}", name));
  code_.check_divisible(begin, code_.set_int(kMemoryAlignment), fmt::format("the offset of tensor {}", name));
}

// Checks at run time that the tensor ends within its storage, unless that is known.
void FunctionCompiler::check_fits(const CallNode* call, const StoragePlace& storage,
                                  const std::string& name) {
  const PrimExpr end =
      arith::simplify(placed_alloc(call).offset_bytes() + num_bytes(ref_as<TensorTypeNode>(call->type)));
  if (is<IntImmNode>(end) && storage.fixed_bytes >= 0) return;  // checked with the layout
  arith::Analyzer analyzer;
  for (const auto& [dim, place] : dims_) {
    const auto bound = layout_.bounds.find(dim->name_hint);
    if (bound == layout_.bounds.end())
      analyzer.require(tir::Var(dim) >= 0);
    else
      analyzer.bind(tir::Var(dim), tir::RangeNode::make(tir::make_const_int(dim->dtype, 0),
                                                        tir::make_const_int(dim->dtype, bound->second + 1)));
  }
  if (analyzer.can_prove(tir::operator<=(end, storage.num_bytes))) return;
  const rt::IntRegister has = int_register(storage.num_bytes), needs = int_register(end);
  code_.check_equal(code_.binary(rt::Opcode::kMax, has, needs), has,
                    fmt::format("the larger of the end of tensor {} and the size of storage {}", name,
                                storage.var->name_hint));
}

// Drops a value, and the other names of it that nothing uses any more.
void FunctionCompiler::kill(const CallNode* call) {
  if (const auto* var = call->args[0].as<VarBaseNode>()) end(var);
  const auto names = layout_.end_with.find(call);
  if (names == layout_.end_with.end()) return;
  for (const VarBaseNode* var : names->second) end(var);
}

// Drops a variable.  Tensors in the arena are dropped with the call; a register with
// several names, with the last.
void FunctionCompiler::end(const VarBaseNode* var) {
  const auto known = registers_.find(var);
  if (known == registers_.end() || !ended_.insert(var).second) return;  // a storage, or already dropped
  const uint32_t index = known->second.index;
  if (in_arena_.count(index) || --names_of_[index] > 0 || is_kept_.count(index)) return;
  code_.kill(known->second);
}

// Checks the bounds that the attribute tir_var_upper_bound promises, once the dimensions are known.
void FunctionCompiler::check_bounds() {
  for (const auto& [name, place] : bounded_) {
    const rt::IntRegister most = code_.set_int(layout_.bounds.at(name));
    code_.check_equal(code_.binary(rt::Opcode::kMax, place, most), most,
                      fmt::format("the larger of {} and its {}", name, kUpperBounds));
  }
  bounded_.clear();
}

}  // namespace tilewright::relax::vm
