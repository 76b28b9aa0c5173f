// Memory of tensors as statements of graphs, which call_tir_rewrite and the passes after it write.
//   R.builtin.alloc_tensor                            a tensor with its own memory
//   R.memory.alloc_storage, alloc_tensor, kill_*      storages, tensors at offsets in them, and freeing them
//   R.vm.alloc_storage, alloc_tensor, kill_object     the same in the form that the virtual machine executes
// Each allocation returns new memory, so none of them is pure: two equal calls are two tensors.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/relax/memory/memory_ops.h"

namespace tilewright::relax {
namespace {

DataType dtype_arg(const Call& call, size_t n) {
  const auto* dtype = call->args[n].as<DataTypeValueNode>();
  if (!dtype) fail(call, "{} is not a dtype such as R.dtype(\"float32\")", arg_name(call, n));
  return dtype->value;
}

void check_scope(const Call& call, size_t n) {
  if (n < call->args.size() && !is<StringValueNode>(call->args[n]))
    fail(call, "storage_scope is not a string such as R.str(\"global\")");
}

void check_index(const Call& call, size_t n) {
  if (n >= call->args.size()) return;
  const PrimTypeNode* index = scalar_arg(call, n);
  if (!index->value || !index->dtype.is_integral())
    fail(call, "{} is {}, expected an integer", arg_name(call, n), type_text(Type(index)));
}

void check_object(const Call& call, size_t n) {
  const Type type = type_of(call->args[n]);
  if (type && !is<ObjectTypeNode>(type))
    fail(call, "{} is {}, expected the result of alloc_storage", arg_name(call, n), type_text(type));
}

Type allocated(const Call& call, size_t shape_at, size_t dtype_at) {
  int64_t ndim;
  Shape storage;
  const DataType dtype = dtype_arg(call, dtype_at);
  const Shape* shape = shape_arg(call, shape_at, &ndim, &storage);
  return shape ? tensor_type(*shape, dtype) : tensor_type_of_ndim(ndim, dtype);
}

Type infer_tensor(const Call& call) {
  check_index(call, 2);
  check_scope(call, 3);
  return allocated(call, 0, 1);
}

void check_size(const Call& call) {
  int64_t ndim;
  Shape storage;
  const Shape* size = shape_arg(call, 0, &ndim, &storage);
  if (!size || size->size() != 1)
    fail(call, "size is {}, expected the number of bytes, as in R.shape([256])",
         type_text(type_of(call->args[0])));
}

// alloc_storage(size, index, scope, dtype) of R.memory, (size, index, dtype, scope) of R.vm
template <size_t kScope, size_t kDtype>
Type infer_storage(const Call& call) {
  check_size(call);
  check_index(call, 1);
  check_scope(call, kScope);
  dtype_arg(call, kDtype);
  return object_type();
}

Type infer_placed(const Call& call) {
  check_object(call, 0);
  check_index(call, 1);
  check_index(call, 4);
  return allocated(call, 2, 3);
}

Type infer_kill_storage(const Call& call) {
  check_object(call, 0);
  return void_type();
}
Type infer_kill_tensor(const Call& call) {
  tensor_arg(call, 0);
  return void_type();
}
Type infer_kill(const Call&) { return void_type(); }

constexpr FusePattern kOpaque = FusePattern::kOpaque;

constexpr OpInfo kOps[] = {
    op<infer_tensor, nullptr>(kBuiltinAllocTensor, "shape, dtype, runtime_device_index?, storage_scope?",
                              "A new tensor with its own, uninitialised memory.", kOpaque, false),
    op<infer_storage<2, 3>, nullptr>(kMemoryAllocStorage, "size, virtual_device_index, storage_scope, dtype",
                                     "Memory of `size` bytes for tensors.", kOpaque, false),
    op<infer_placed, nullptr>(kMemoryAllocTensor, "storage, offset, shape, dtype, runtime_device_index?",
                              "A tensor at the byte offset `offset` of a storage.", kOpaque, false),
    op<infer_kill_storage, nullptr>(kMemoryKillStorage, "storage",
                                    "Frees a storage and the tensors in it, which nothing uses afterwards.",
                                    kOpaque, false),
    op<infer_kill_tensor, nullptr>(kMemoryKillTensor, "tensor",
                                   "Frees a tensor, which nothing uses afterwards.", kOpaque, false),
    op<infer_storage<3, 2>, nullptr>(kVmAllocStorage, "size, runtime_device_index, dtype, storage_scope?",
                                     "R.memory.alloc_storage in the form for the virtual machine.", kOpaque,
                                     false),
    op<infer_placed, nullptr>(kVmAllocTensor, "storage, offset, shape, dtype, runtime_device_index?",
                              "R.memory.alloc_tensor in the form for the virtual machine.", kOpaque, false),
    op<infer_kill, nullptr>(kVmKillObject, "obj", "Frees a value, which nothing uses afterwards.", kOpaque,
                            false),
};

}  // namespace

extern constinit const OpTable memory_info = op_table(
    kOps,
    "Lai et al., Relax: Composable Abstractions for End-to-End Dynamic Machine Learning, arXiv 2311.02117");

}  // namespace tilewright::relax
