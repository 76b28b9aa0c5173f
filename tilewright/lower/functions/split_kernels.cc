#include "tilewright/lower/functions/split_kernels.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/free_vars.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/functions/entry.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

PrimFunc lowered(const std::vector<Var>& params, const Stmt& body, std::string_view kind,
                 const PrimFunc& of) {
  AttrMap attrs{{std::string(kLoweredKind), string_imm(std::string(kind))}};
  if (of->attrs.get_bool("tir.noalias", false)) attrs.set("tir.noalias", bool_imm(true));
  return PrimFuncNode::make(params, std::vector<Buffer>(params.size()), body, Type(), std::move(attrs));
}

// Pointers first: those of the function's parameters in their order, then others, as the numbers, in order of first use.
std::vector<Var> params_of(const PrimFunc& func, const Stmt& body) {
  const std::vector<Var> used = free_vars(body);
  std::vector<Var> params, others, scalars;
  for (const Buffer& buffer : func->buffers) {
    if (buffer && std::find(used.begin(), used.end(), buffer->data) != used.end())
      params.push_back(buffer->data);
  }
  for (const Var& var : used) {
    if (!var->dtype.is_handle())
      scalars.push_back(var);
    else if (std::find(params.begin(), params.end(), var) == params.end())
      others.push_back(var);
  }
  params.insert(params.end(), others.begin(), others.end());
  params.insert(params.end(), scalars.begin(), scalars.end());
  return params;
}

// The extent of a loop over blocks, which may be more than 32 bits hold: a launch then says so.
PrimExpr number_of(const ForNode* loop) {
  const auto* cast = loop->extent.as<CastNode>();
  return tir::cast(kInt64, cast && cast->value->dtype == kInt64 ? cast->value : loop->extent);
}

int64_t widest_vector(const Stmt& body) {
  int64_t bytes = 1;
  const auto look = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    if (!indices.empty() && buffer->scope() == "global")
      bytes = std::max<int64_t>(bytes, indices.back()->dtype.lanes * buffer->dtype.num_bytes());
  };
  ir::walk(
      body, [&](const BufferLoadNode* load) { look(load->buffer, load->indices); },
      [&](const BufferStoreNode* store) { look(store->buffer, store->indices); });
  return bytes;
}

class KernelSplitter {
 public:
  KernelSplitter(const std::string& name, const PrimFunc& func, int32_t device_type)
      : name_(name), func_(func), device_type_(device_type) {}

  Stmt host_part() {
    return rewrite(
        func_->body,
        [&](auto& self, const ForNode* loop) -> Stmt {
          return kernel_axis(loop) ? launched(loop) : Stmt(self.children(loop));
        },
        [&](auto& self, const AllocBufferNode* node) -> Stmt { return workspace(node, self(node->body)); },
        [&](auto&, const BufferStoreNode* node) -> Stmt { throw_unbound(node, node->buffer, "written"); },
        [&](auto&, const BufferLoadNode* node) -> PrimExpr { throw_unbound(node, node->buffer, "read"); });
  }

  IRModule module = IRModuleNode::make();
  const Var device_id = make_var("device_id", kInt32);
  int64_t alignment = 1;

 private:
  // call_packed(kernel, device, grid, block, dynamic shared memory, arguments); the driver puts in the kernel's key
  Stmt launched(const ForNode* kernel) {
    std::string kernel_name = name_ + "_kernel";
    if (num_kernels_++ > 0) kernel_name += "_" + std::to_string(num_kernels_ - 1);
    std::vector<PrimExpr> extents(kKernelAxes.size(), imm(1, kInt64));
    for (const ForNode* loop = kernel; loop; loop = loop->body.as<ForNode>()) {
      const auto axis = kernel_axis(loop);
      if (!axis) break;
      extents[*axis] = number_of(loop);
    }
    std::vector<PrimExpr> args = {string_imm(kernel_name),
                                  imm(device_type_, kInt64),
                                  tir::cast(kInt64, device_id),
                                  extents[2],
                                  extents[1],
                                  extents[0],
                                  extents[5],
                                  extents[4],
                                  extents[3],
                                  imm(dynamic_bytes(kernel), kInt64)};
    const Stmt body(kernel);
    const std::vector<Var> params = params_of(func_, body);
    args.insert(args.end(), params.begin(), params.end());
    module = with_function(module, kernel_name, lowered(params, body, kDeviceKernel, func_));
    alignment = std::max(alignment, widest_vector(body));
    return EvaluateNode::make(call(DataType::void_(), "tir.call_packed", std::move(args)), kernel->span);
  }

  static int64_t dynamic_bytes(const ForNode* kernel) {
    int64_t bytes = 0;
    ir::walk(Stmt(kernel), [&](const AllocBufferNode* node) {
      if (node->buffer->scope() != "shared.dyn") return;
      int64_t elements = 0;
      as_const_int(node->buffer->shape[0], &elements);
      bytes += elements * node->buffer->dtype.num_bytes();
    });
    return bytes;
  }

  // Memory between kernels.
  Stmt workspace(const AllocBufferNode* node, const Stmt& body) {
    const Buffer& buffer = node->buffer;
    if (buffer->scope() != "global")
      throw UserError(node, "buffer {} in scope {} is allocated outside of a kernel", buffer->name,
                      buffer->scope())
          .help("allocate it in the loops of its kernel, or put it into scope global");
    PrimExpr bytes = imm(buffer->dtype.num_bytes(), kInt64);
    for (const PrimExpr& extent : buffer->shape) bytes = bytes * tir::cast(kInt64, extent);
    const PrimExpr memory = call(DataType::handle(), "tir.call_packed",
                                 {string_imm("tilewright.device.workspace"), imm(device_type_, kInt64),
                                  tir::cast(kInt64, device_id), imm(num_workspaces_++, kInt64), bytes});
    return LetStmtNode::make(memory, buffer->data, body);
  }

  template <class Node>
  [[noreturn]] static void throw_unbound(const Node* node, const Buffer& buffer, std::string_view what) {
    throw UserError(
        node, "{} is {} outside of a kernel: no loop around this statement is bound to blocks or threads",
        buffer->name, what)
        .help(
            "bind its loops, for example sch.bind(loop, \"threadIdx.x\"), or leave the schedule to the "
            "compiler");
  }

  const std::string& name_;
  const PrimFunc& func_;
  const int32_t device_type_;
  int num_kernels_ = 0, num_workspaces_ = 0;
};

}  // namespace

IRModule split_kernels(const std::string& name, const PrimFunc& func, const KernelAbi& abi,
                       int32_t device_type) {
  KernelSplitter splitter(name, func, device_type);
  const Stmt body = splitter.host_part();
  std::vector<Var> params, scalars;
  for (const Buffer& buffer : func->buffers) {
    if (buffer) params.push_back(buffer->data);
  }
  for (const Var& var : free_vars(body)) {
    if (std::find(params.begin(), params.end(), var) == params.end()) scalars.push_back(var);
  }
  params.insert(params.end(), scalars.begin(), scalars.end());
  const std::string compute_name = name + "_compute";
  IRModule module = with_function(splitter.module, compute_name, lowered(params, body, kCompute, func));
  const GlobalVar compute = module->find_global_var(compute_name);
  const TensorPlace place{device_type, splitter.device_id, splitter.alignment};
  return with_function(module, name, make_entry(name, func, compute, scalars, abi, place));
}

}  // namespace tilewright::lower
