// Splits a loop program into the functions of lowered.h: each parallel loop becomes a body function, the rest
// the compute function, and an entry checks the arguments.
#include "tilewright/lower/functions/split_functions.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/free_vars.h"
#include "tilewright/lower/functions/entry.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
using namespace tir;
namespace {

AttrMap attrs_for(const PrimFunc& func, std::string_view kind) {
  AttrMap attrs{{std::string(kLoweredKind), string_imm(std::string(kind))}};
  if (func->attrs.get_bool("tir.noalias", false)) attrs.set("tir.noalias", bool_imm(true));
  return attrs;
}

PrimFunc lowered(const std::vector<Var>& params, const Stmt& body, AttrMap attrs) {
  return PrimFuncNode::make(params, std::vector<Buffer>(params.size()), body, Type(), std::move(attrs));
}

// Loops inside a parallel body run serially: the outermost parallel loop uses the threads.
Stmt serial_inside(const Stmt& body) {
  return rewrite(body, [](auto& self, const ForNode* node) -> Stmt {
    For loop = self.children(node);
    if (loop->for_kind != ForKind::kParallel) return loop;
    return with(loop, [](ForNode& changed) { changed.for_kind = ForKind::kSerial; });
  });
}

class Splitter {
 public:
  Splitter(const std::string& name, const PrimFunc& func) : name_(name), func_(func) {}

  Stmt outline(const Stmt& body) {
    return rewrite(body, [&](auto& self, const ForNode* node) -> Stmt {
      if (node->for_kind == ForKind::kParallel) return parallel(node);
      return self.children(node);
    });
  }

  IRModule module = IRModuleNode::make();

 private:
  // for i in T.parallel(n): body  ->  call_parallel("f_body_0", n, grain, captured...)
  Stmt parallel(const ForNode* node) {
    const std::string body_name = name_ + "_body_" + std::to_string(num_bodies_++);
    const Var begin = make_var("begin", kInt64), end = make_var("end", kInt64);
    const DataType dtype = node->loop_var->dtype;
    Stmt loop =
        ForNode::make(node->min + tir::cast(dtype, begin), tir::cast(dtype, end - begin), node->loop_var,
                      ForKind::kSerial, std::string(), node->annotations, serial_inside(node->body));
    std::vector<Var> params{begin, end};
    std::vector<PrimExpr> args{string_imm(body_name), tir::cast(kInt64, node->extent),
                               imm(node->annotations.get_int("grain", 1), kInt64)};
    for (const Var& var : free_vars(loop)) {
      if (var == begin || var == end) continue;
      params.push_back(var);
      args.push_back(var);
    }
    module = with_function(module, body_name, lowered(params, loop, attrs_for(func_, kParallelBody)));
    return EvaluateNode::make(call(kInt32, "call_parallel", std::move(args)));
  }

  const std::string& name_;
  const PrimFunc& func_;
  int num_bodies_ = 0;
};

}  // namespace

IRModule split_functions(const std::string& name, const PrimFunc& func, const KernelAbi& abi) {
  Splitter splitter(name, func);
  const Stmt body = splitter.outline(func->body);
  std::vector<Var> params, scalars;
  for (const Buffer& buffer : func->buffers) {
    if (buffer) params.push_back(buffer->data);
  }
  const size_t num_pointers = params.size();
  for (const Var& var : free_vars(body)) {
    if (std::find(params.begin(), params.begin() + static_cast<long>(num_pointers), var) ==
        params.begin() + static_cast<long>(num_pointers))
      scalars.push_back(var);
  }
  params.insert(params.end(), scalars.begin(), scalars.end());
  const std::string compute_name = name + "_compute";
  IRModule module =
      with_function(splitter.module, compute_name, lowered(params, body, attrs_for(func, kCompute)));
  const GlobalVar compute = module->find_global_var(compute_name);
  return with_function(module, name, make_entry(name, func, compute, scalars, abi));
}

}  // namespace tilewright::lower
