#include "tilewright/schedule/stages/replay.h"

#include <algorithm>
#include <map>

#include "tilewright/ir/module.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/stages/inlined_arguments.h"
#include "tilewright/schedule/stages/prefetch.h"
#include "tilewright/schedule/stages/replaying.h"
#include "tilewright/te/create_prim_func.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

PrimFunc Replayed::named_func() const {
  std::unordered_map<const Object*, Var> names;  // of loop variables
  for (const auto& [axis, loop] : loops) {
    if (!sch.is_alive(loop)) continue;
    const Var var = sch.get(loop)->loop_var;
    const auto* iter = static_cast<const IterVarNode*>(axis);
    names[var.get()] = make_var(identifier(iter->var->name_hint), var->dtype);
  }
  std::unordered_map<const Object*, std::vector<Stmt>> ahead;  // by loop variable
  for (const Prefetch& each : prefetches) {
    const For loop = sch.get(each.loop);
    if (const Stmt hint = prefetch_of(loop.get(), each.buffer, each.offset))
      ahead[loop->loop_var.get()].push_back(hint);
  }
  const auto func = ir::ref_as<PrimFuncNode>(sch.module()->functions[0]);
  Stmt body = rewrite(
      func->body,
      [&](auto& self, const ForNode* loop) -> Stmt {
        const auto hints = ahead.find(loop->loop_var.get());
        For inside = self.children(loop);
        if (hints != ahead.end()) {
          std::vector<Stmt> body;
          for (const Stmt& hint : hints->second) body.push_back(self(hint));
          body.push_back(inside->body);
          inside = with(inside, [&](ForNode& fetching) { fetching.body = seq(std::move(body)); });
        }
        const auto found = names.find(loop->loop_var.get());
        if (found == names.end()) return inside;
        return with(inside, [&](ForNode& named) { named.loop_var = found->second; });
      },
      [&](auto& self, const VarNode* var) -> PrimExpr {
        const auto found = names.find(var);
        return found == names.end() ? PrimExpr(var) : PrimExpr(found->second);
      });
  return with(func, [&](PrimFuncNode& named) { named.body = std::move(body); });
}

namespace {

// What a schedule computes if no argument is one of its outputs: all of them, into memory of the function.
std::vector<te::Operation> outputs_beside(const StageSchedule& stages, const std::vector<ObjectRef>& args) {
  std::vector<te::Operation> outputs;
  for (const StageRef& stage : stages.stages()) {
    if (stage->is_output) outputs.push_back(stage->op());
  }
  const bool has_output =
      std::ranges::any_of(outputs, [&](const te::Operation& op) { return computes_any(op, args); });
  return has_output ? std::vector<te::Operation>{} : outputs;
}

}  // namespace

Replayed replay_stages(const StageSchedule& stages, const std::vector<ObjectRef>& args,
                       const ReplayOptions& options) {
  std::vector<ObjectRef> current;
  for (const ObjectRef& arg : args) {
    const auto tensor = ir::ref_as<te::TeTensorNode>(arg);
    current.push_back(tensor ? ObjectRef(stages.current(te::Tensor(tensor))) : arg);
  }
  const std::vector<ObjectRef> as_scheduled = current;
  const WithCopies copies(stages, current);
  te::CreateOptions create{.global_symbol = options.name};
  for (const te::Operation& output : outputs_beside(stages, current))
    create.computed_too.push_back(copies.operation(output));
  for (ObjectRef& arg : current) {
    const auto tensor = ir::ref_as<te::TeTensorNode>(arg);
    if (tensor) arg = copies.argument(te::Tensor(tensor));
  }
  for (const auto& [tensor, buffer] : options.buffers)
    create.buffers.emplace_back(copies.argument(stages.current(tensor)), buffer);
  const te::CreatedFunc created = te::create_named_blocks(current, create);
  std::unordered_map<const Object*, std::string> blocks;  // by operation of a stage
  for (const StageRef& stage : stages.stages()) {
    const auto found = created.blocks.find(copies.operation(stage->op()).get());
    if (found != created.blocks.end()) blocks[stage->op().get()] = found->second;
  }
  Replayed replayed{
      Schedule(ir::with_function(ir::IRModuleNode::make(), options.name, created.func)), {}, {}, {}};
  Replaying replaying(replayed.sch, stages, std::move(blocks));
  replaying.run();
  std::map<te::TensorKey, Buffer> buffers;
  for (size_t n = 0; n < args.size(); ++n) {
    if (const auto* tensor = as_scheduled[n].as<te::TeTensorNode>())
      buffers[te::key_of(tensor)] = created.func->buffers[n];
  }
  replayed.prefetches = replaying.prefetches(buffers);
  replayed.loops = replaying.take_loops();
  replayed.roots = replaying.take_roots();
  return replayed;
}

}  // namespace tilewright::schedule
