#include "tilewright/te/create_prim_func.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "tilewright/analysis/regions.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/te/extern.h"
#include "tilewright/te/operation.h"
#include "tilewright/te/scan_cell.h"
#include "tilewright/tir/op.h"

namespace tilewright::te {
namespace {

class Names {
 public:
  // The first of `base`, base_1, base_2, ... that is free.
  std::string unique(const std::string& base) {
    std::string name = base;
    for (int n = 1; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", base, n);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

// The loops and the axes of one block, with the map from the axes of the expression to those of the block.
struct Axes {
  std::vector<Var> loops;
  std::vector<PrimExpr> extents, values;
  std::vector<IterVar> block_axes;
  Substitution map;
};

// The loop around the operations of a step, and the one that is lowered in it now.
struct StepLoop {
  const TeScanNode* scan;
  Var var;
  Range steps;
  const CellPart* part = nullptr;
};

class Lowering {
 public:
  explicit Lowering(const CreateOptions& options) : options_(options) {}

  CreatedFunc run(const std::vector<ObjectRef>& args);

 private:
  Buffer given_buffer(const TeTensorNode* tensor);
  Buffer declare(const TeTensorNode* tensor, bool is_parameter);
  void add_parameters(const std::vector<ObjectRef>& args);
  void require_known_variables(const std::vector<Operation>& order) const;
  Stmt lower(const TeComputeNode* compute);
  Stmt lower(const TeExternNode* external);
  Stmt lower(const TeScanNode* scan);
  Stmt lower(const Operation& op);
  void add_states(const std::vector<Operation>& order);
  Stmt copied_init(const TeTensorNode* init, const Buffer& state, const std::string& name);
  void add_step_axis(Axes* axes, const IterVar& axis);
  Buffer output(const Operation& op, size_t value_index, const Shape& shape, DataType dtype);
  Stmt lower_values(const TeComputeNode* compute, Axes& axes, const std::vector<Buffer>& outputs);
  Stmt lower_reduction(const TeComputeNode* compute, Axes& axes, const std::vector<Buffer>& outputs);
  Stmt reduction_update(const TeComputeNode* compute, const std::vector<Buffer>& outputs,
                        const std::vector<PrimExpr>& indices, const std::vector<PrimExpr>& source);
  void add_axis(Axes* axes, const IterVar& axis);
  Stmt nest(const TeComputeNode* compute, const Axes& axes, const std::vector<Buffer>& outputs, Stmt init,
            Stmt body);
  PrimExpr convert(const PrimExpr& value, const Axes& axes) const;
  PrimExpr as_index(PrimExpr value) const {
    return options_.index_dtype.is_void() ? value : cast(options_.index_dtype, std::move(value));
  }

  const CreateOptions& options_;
  Names names_;
  std::map<TensorKey, Buffer> buffers_;  // never iterated: the order of pointers is not defined
  std::vector<Var> params_;
  std::vector<Buffer> param_buffers_, intermediate_;
  std::unordered_map<const Object*, std::string> blocks_;
  std::unordered_set<const Object*> inside_;  // operations of steps, and placeholders of states
  std::unordered_set<const Object*> writes_state_;
  std::vector<Tensor> copies_;      // of inits: their keys stay theirs
  const StepLoop* step_ = nullptr;  // around what is lowered now
};

Buffer Lowering::given_buffer(const TeTensorNode* tensor) {
  for (const auto& [given, buffer] : options_.buffers) {
    if (key_of(given.get()) != key_of(tensor)) continue;
    return with(buffer, [&](BufferNode& named) { named.name = names_.unique(buffer->name); });
  }
  return nullptr;
}

Buffer Lowering::declare(const TeTensorNode* tensor, bool is_parameter) {
  const size_t num_outputs = te::outputs_of(tensor->op).size();
  std::string name = tensor->op->name;
  if (num_outputs > 1) name += fmt::format("_v{}", tensor->value_index);
  std::vector<PrimExpr> shape;
  for (const PrimExpr& extent : tensor->shape) shape.push_back(as_index(extent));
  Buffer buffer = given_buffer(tensor);
  if (!buffer || !is_parameter) buffer = make_buffer(names_.unique(name), std::move(shape), tensor->dtype);
  if (!is_parameter) intermediate_.push_back(buffer);
  buffers_[key_of(tensor)] = buffer;
  return buffer;
}

void Lowering::add_parameters(const std::vector<ObjectRef>& args) {
  for (const ObjectRef& arg : args) {
    if (const auto* tensor = arg.as<TeTensorNode>()) {
      if (buffers_.count(key_of(tensor)))
        throw UserError("create_prim_func: tensor {} is given twice", tensor->op->name);
      Buffer buffer = declare(tensor, true);
      params_.push_back(make_var("var_" + buffer->name, DataType::handle()));
      param_buffers_.push_back(buffer);
    } else if (arg.as<VarNode>()) {
      params_.push_back(ref_as<VarNode>(arg));
      param_buffers_.push_back(nullptr);
    } else {
      throw UserError("create_prim_func: an argument is of type {}, expected a tensor or a scalar variable",
                      arg ? info_of(*arg)->name : "none");
    }
  }
}

// Raises UserError unless every variable is an argument, an axis, or a dimension of a parameter.
void Lowering::require_known_variables(const std::vector<Operation>& order) const {
  std::unordered_set<const Object*> known;
  for (const Var& param : params_) known.insert(param.get());
  for (const Buffer& buffer : param_buffers_) {
    if (!buffer) continue;
    for (const PrimExpr& extent : buffer->shape) known.insert(extent.get());
    for (const PrimExpr& stride : buffer->strides) known.insert(stride.get());
  }
  for (const Operation& op : order) {
    auto check = [&](const VarNode* var) {
      if (!known.count(var))
        throw UserError(
            var, "create_prim_func: {} uses variable {}, which is neither an argument nor a dimension of one",
            op->name, var->name_hint)
            .help("pass {} among the arguments", var->name_hint);
    };
    if (const auto* external = op.as<TeExternNode>()) {
      for (const Shape& shape : output_shapes(external))
        for (const PrimExpr& extent : shape) walk(extent, check);
      for_each_use(external, check);
    }
    if (const auto* scan = op.as<TeScanNode>()) walk(scan->axis[0]->dom, check);
    const auto* compute = op.as<TeComputeNode>();
    if (!compute) continue;
    for (const IterVar& axis : compute->axis) {
      walk(axis->dom, check);
      known.insert(axis->var.get());
    }
    for (const PrimExpr& value : compute->body) {
      // definitions inside (reduction axes, lets, reducers) are visited before their uses
      walk(
          value,
          [&](const ReduceNode* reduce) {
            for (const IterVar& axis : reduce->axis) known.insert(axis->var.get());
            for (const auto* list : {&reduce->combiner->lhs, &reduce->combiner->rhs})
              for (const Var& var : *list) known.insert(var.get());
          },
          [&](const LetNode* let) { known.insert(let->var.get()); }, check);
    }
  }
}

// `value` inside the block: block axes for axes, buffers for tensors; index arithmetic takes their dtype.
PrimExpr Lowering::convert(const PrimExpr& value, const Axes& axes) const {
  return rewrite(
      value,
      [&](auto& self, const ProducerLoadNode* load) -> PrimExpr {
        auto found = buffers_.find(key_of(load->producer.as<TeTensorNode>()));
        TILEWRIGHT_CHECK(found != buffers_.end(), "a tensor is read before it is computed");
        return BufferLoadNode::make(found->second, self(load->indices), PrimExpr(), load->span);
      },
      [&](auto& self, const VarNode* var) -> PrimExpr {
        auto found = axes.map.find(var);
        return found == axes.map.end() ? PrimExpr(var) : ref_as<PrimExprNode>(found->second);
      },
      [&](auto& self, const BinaryOpNode* op) -> PrimExpr {
        PrimExpr a = self(op->a), b = self(op->b);
        if (a == op->a && b == op->b) return PrimExpr(op);
        match_dtypes(&a, &b, op->span);
        return make_binary(op->kind, a, b, op->span);
      },
      [&](auto& self, const SelectNode* op) -> PrimExpr {
        PrimExpr condition = self(op->condition), a = self(op->true_value), b = self(op->false_value);
        match_dtypes(&a, &b, op->span);
        return SelectNode::make(condition, a, b, op->span);
      },
      [&](auto& self, const CallNode* op) -> PrimExpr {
        Call changed = self.children(op);
        if (changed.get() == op || changed->args.empty()) return changed;
        // the dtype of an index may have become wider: use that of the operands
        const auto* name = op->op.template as<OpNode>();
        const BuiltinOp* builtin = name ? find_builtin(name->name) : nullptr;
        if (builtin && builtin->name == "if_then_else") {
          PrimExpr a = changed->args[1], b = changed->args[2];
          match_dtypes(&a, &b, op->span);
          return CallNode::make(a->dtype, op->op, std::vector<PrimExpr>{changed->args[0], a, b},
                                op->annotations, op->span);
        }
        return changed;
      });
}

void Lowering::add_axis(Axes* axes, const IterVar& axis) {
  PrimExpr extent = as_index(convert(axis->dom->extent, *axes));
  PrimExpr min = as_index(convert(axis->dom->min, *axes));
  const DataType dtype = extent->dtype;
  Var loop_var = make_var(axis->var->name_hint, dtype);
  Var block_var = make_var("v_" + axis->var->name_hint, dtype);
  axes->map[axis->var.get()] = block_var;
  axes->loops.push_back(loop_var);
  axes->extents.push_back(extent);
  axes->values.push_back(min + loop_var);
  axes->block_axes.push_back(IterVarNode::make(block_var, make_range(min, extent), axis->iter_type));
}

Stmt Lowering::nest(const TeComputeNode* compute, const Axes& axes, const std::vector<Buffer>& outputs,
                    Stmt init, Stmt body) {
  std::vector<IterVar> block_axes = axes.block_axes;
  std::vector<PrimExpr> values = axes.values;
  if (block_axes.empty()) {  // a scalar: one axis of extent 1, so that schedules have a block to work on
    block_axes.push_back(IterVarNode::make(make_var("vi"), make_range(imm(0), imm(1)), IterType::kSpatial));
    values.push_back(imm(0));
  }
  // several blocks write a state
  const bool has_own_name = outputs.size() > 1 || writes_state_.contains(compute);
  std::string name = has_own_name ? names_.unique(compute->name) : outputs[0]->name;
  blocks_[compute] = name;
  AttrMap attrs = block_attrs(compute->attrs);
  if (step_ && writes_state_.contains(compute)) {
    for (const auto& [key, value] : block_attrs(step_->scan->attrs)) attrs.set(key, value);
  }
  Block block = BlockNode::make(std::move(name), block_axes, std::vector<Buffer>{},
                                std::vector<BufferRegion>{}, std::vector<BufferRegion>{},
                                std::vector<MatchBufferRegion>{}, std::move(attrs), init, body);
  analysis::AccessRegions regions = analysis::access_regions(block);
  block = with(block, [&](BlockNode& node) {
    node.reads = std::move(regions.reads);
    node.writes = std::move(regions.writes);
  });
  Stmt stmt = BlockRealizeNode::make(values, PrimExpr(bool_imm(true)), block);
  for (size_t n = axes.loops.size(); n-- > 0;) {
    if (!step_ || axes.loops[n] != step_->var) stmt = loop(axes.loops[n], axes.extents[n], stmt);
  }
  return stmt;
}

Stmt Lowering::lower_values(const TeComputeNode* compute, Axes& axes, const std::vector<Buffer>& outputs) {
  std::vector<PrimExpr> indices;
  for (const IterVar& axis : axes.block_axes) indices.push_back(axis->var);
  std::vector<Stmt> stores;
  for (size_t n = 0; n < outputs.size(); ++n)
    stores.push_back(store(outputs[n], cast(outputs[n]->dtype, convert(compute->body[n], axes)), indices));
  return nest(compute, axes, outputs, nullptr, seq(std::move(stores)));
}

Stmt Lowering::reduction_update(const TeComputeNode* compute, const std::vector<Buffer>& outputs,
                                const std::vector<PrimExpr>& indices, const std::vector<PrimExpr>& source) {
  const CommReducerNode& combiner = *compute->body[0].as<ReduceNode>()->combiner;
  Substitution map;
  for (size_t n = 0; n < outputs.size(); ++n) {
    map[combiner.lhs[n].get()] = load(outputs[n], indices);
    map[combiner.rhs[n].get()] = source[n];
  }
  if (outputs.size() == 1) return store(outputs[0], substitute(combiner.result[0], map), indices);
  // all new values are computed before the first is stored
  std::vector<Stmt> stores;
  std::vector<Var> results;
  for (const Buffer& output : outputs) {
    results.push_back(make_var("v_" + output->name, output->dtype));
    stores.push_back(store(output, results.back(), indices));
  }
  Stmt body = seq(std::move(stores));
  for (size_t n = outputs.size(); n-- > 0;)
    body = LetStmtNode::make(substitute(combiner.result[n], map), results[n], body);
  return body;
}

Stmt Lowering::lower_reduction(const TeComputeNode* compute, Axes& axes, const std::vector<Buffer>& outputs) {
  const ReduceNode& reduce = *compute->body[0].as<ReduceNode>();
  std::vector<PrimExpr> indices;
  for (const IterVar& axis : axes.block_axes) indices.push_back(axis->var);
  std::vector<PrimExpr> source;
  std::vector<Stmt> inits;
  const bool has_no_terms = std::any_of(reduce.axis.begin(), reduce.axis.end(),
                                        [](const IterVar& axis) { return is_zero(axis->dom->extent); });
  if (has_no_terms) {  // a block that never runs would leave the results undefined
    for (size_t n = 0; n < outputs.size(); ++n) {
      const PrimExpr& identity = reduce.combiner->identity[n];
      inits.push_back(
          store(outputs[n], reduce.init.empty() ? identity : convert(reduce.init[n], axes), indices));
    }
    return nest(compute, axes, outputs, nullptr, seq(std::move(inits)));
  }
  for (const IterVar& axis : reduce.axis) add_axis(&axes, axis);
  for (size_t n = 0; n < outputs.size(); ++n) {
    const PrimExpr& identity = reduce.combiner->identity[n];
    PrimExpr value = cast(outputs[n]->dtype, convert(reduce.source[n], axes));
    if (reduce.condition) {
      PrimExpr condition = convert(reduce.condition, axes);
      value = call(value->dtype, "tir.if_then_else", {condition, value, identity});
    }
    source.push_back(value);
    PrimExpr init = reduce.init.empty() ? identity : convert(reduce.init[n], axes);
    inits.push_back(store(outputs[n], init, indices));
  }
  Stmt update = reduction_update(compute, outputs, indices, source);
  return nest(compute, axes, outputs, seq(std::move(inits)), update);
}

void require_reduction_on_top(const TeComputeNode* compute) {
  const bool is_reduction = is<ReduceNode>(compute->body[0]);
  for (const PrimExpr& value : compute->body) {
    if (is<ReduceNode>(value) != is_reduction)
      throw UserError(value, "create_prim_func: {} mixes reductions with other values", compute->name);
    walk(value, [&](const ReduceNode* reduce) {
      if (reduce != value.get())
        throw UserError(reduce, "create_prim_func: a reduction must be the whole body of {}", compute->name)
            .help("compute the reduction into a separate tensor");
    });
  }
}

Stmt Lowering::lower(const TeComputeNode* compute) {
  require_reduction_on_top(compute);
  std::vector<Buffer> outputs;
  std::vector<PrimExpr> shape;
  for (const IterVar& axis : compute->axis) shape.push_back(axis->dom->extent);
  for (size_t n = 0; n < compute->body.size(); ++n)
    outputs.push_back(output(Operation(compute), n, shape, compute->body[n]->dtype));
  Axes axes;
  for (size_t n = 0; n < compute->axis.size(); ++n) {
    if (step_ && n == step_->part->dim)
      add_step_axis(&axes, compute->axis[n]);
    else
      add_axis(&axes, compute->axis[n]);
  }
  return is<ReduceNode>(compute->body[0]) ? lower_reduction(compute, axes, outputs)
                                          : lower_values(compute, axes, outputs);
}

// The buffer that holds an output: that of a parameter, or an intermediate one.
Buffer Lowering::output(const Operation& op, size_t value_index, const Shape& shape, DataType dtype) {
  const auto number = static_cast<int64_t>(value_index);
  const auto found = buffers_.find({op.get(), number});
  if (found != buffers_.end()) return found->second;
  const Ref<TeTensorNode> tensor = TeTensorNode::make(op, number, shape, dtype);
  return declare(tensor.get(), false);
}

Stmt Lowering::lower(const TeExternNode* external) {
  std::vector<Buffer> inputs, outputs;
  for (const auto& input : external->inputs) inputs.push_back(buffers_.at(key_of(input.get())));
  const std::vector<Shape> shapes = output_shapes(external);
  for (size_t n = 0; n < shapes.size(); ++n)
    outputs.push_back(output(Operation(external), n, shapes[n], external->output_buffers[n]->dtype));
  std::string name = outputs.size() == 1 ? outputs[0]->name : names_.unique(external->name);
  blocks_[external] = name;
  return extern_block(external, std::move(name), inputs, outputs);
}

// Steps are in order for what writes a state; the rest of a step can be computed for each row alone.
void Lowering::add_step_axis(Axes* axes, const IterVar& axis) {
  const DataType dtype = step_->var->dtype;
  const bool is_ordered = writes_state_.contains(step_->part->op.get());
  const PrimExpr first = step_->steps->min - imm(step_->part->lag, dtype);
  const Var block_var = make_var("v_" + axis->var->name_hint, dtype);
  axes->map[axis->var.get()] = block_var;
  axes->loops.push_back(step_->var);
  axes->extents.push_back(step_->steps->extent);
  axes->values.push_back(first + step_->var);
  axes->block_axes.push_back(IterVarNode::make(block_var, make_range(first, step_->steps->extent),
                                               is_ordered ? IterType::kScan : IterType::kSpatial));
}

// The buffers of states: inits and updates write them, the cell reads them.
void Lowering::add_states(const std::vector<Operation>& order) {
  require_closed_cells(order);
  for (const Operation& op : order) {
    const auto* scan = op.as<TeScanNode>();
    if (!scan) continue;
    std::vector<Operation> of_steps;
    for (const CellPart& part : cell_of(scan)) of_steps.push_back(part.op);
    for (const auto& state : scan->state) of_steps.push_back(state->op);
    for (const Operation& each : of_steps) {
      inside_.insert(each.get());
      for (const Tensor& tensor : outputs_of(each)) {
        if (buffers_.contains(key_of(tensor.get())))
          throw UserError("create_prim_func: argument {} exists only inside of the steps of {}", each->name,
                          scan->name)
              .help("give the result of te.scan");
      }
    }
    for (size_t n = 0; n < scan->state.size(); ++n) {
      const TeTensorNode *state = scan->state[n].get(), *update = scan->update[n].get(),
                         *init = scan->init[n].get();
      const Buffer buffer = output(op, n, state->shape, state->dtype);
      buffers_[key_of(state)] = buffers_[key_of(update)] = buffer;
      writes_state_.insert(update->op.get());
      const auto* first = init->op.as<TeComputeNode>();
      if (!first || first->body.size() > 1 || buffers_.contains(key_of(init))) continue;
      buffers_[key_of(init)] = buffer;  // computed where it belongs
      writes_state_.insert(first);
    }
  }
}

// The first steps of a state that are not computed in its buffer.
Stmt Lowering::copied_init(const TeTensorNode* init, const Buffer& state, const std::string& name) {
  const Tensor source{Ref<TeTensorNode>(init)};
  copies_.push_back(te::compute(
      init->shape,
      [&](const std::vector<Var>& axes) -> PrimExpr { return source(Indices(axes.begin(), axes.end())); },
      {.name = name + "_init"}));
  const Operation& copy = copies_.back()->op;
  buffers_[{copy.get(), 0}] = state;
  writes_state_.insert(copy.get());
  return lower(copy.as<TeComputeNode>());
}

Stmt Lowering::lower(const TeScanNode* scan) {
  std::vector<Stmt> stmts;
  for (size_t n = 0; n < scan->state.size(); ++n) {
    const Buffer state = buffers_.at({scan, static_cast<int64_t>(n)});
    if (buffers_.at(key_of(scan->init[n].get())) != state)
      stmts.push_back(copied_init(scan->init[n].get(), state, scan->name));
  }
  const Range steps = steps_of(scan);
  const PrimExpr extent = as_index(steps->extent);
  const auto* update = scan->update[0]->op.as<TeComputeNode>();
  StepLoop step{scan, make_var(update->axis[0]->var->name_hint, extent->dtype),
                make_range(as_index(steps->min), extent)};
  step_ = &step;
  std::vector<Stmt> cell;
  for (const CellPart& part : cell_of(scan)) {
    step.part = &part;
    cell.push_back(lower(part.op.as<TeComputeNode>()));
  }
  step_ = nullptr;
  stmts.push_back(loop(step.var, extent, seq(std::move(cell))));
  return seq(std::move(stmts));
}

// Null for inputs, and for what is computed with its scan.
Stmt Lowering::lower(const Operation& op) {
  if (inside_.contains(op.get())) return nullptr;
  if (const auto* compute = op.as<TeComputeNode>()) return lower(compute);
  if (const auto* external = op.as<TeExternNode>()) return lower(external);
  if (const auto* scan = op.as<TeScanNode>()) return lower(scan);
  if (!buffers_.count({op.get(), 0}))
    throw UserError("create_prim_func: placeholder {} is read, but not among the arguments", op->name);
  return nullptr;
}

CreatedFunc Lowering::run(const std::vector<ObjectRef>& args) {
  add_parameters(args);
  std::vector<Operation> results;
  for (const ObjectRef& arg : args) {
    if (const auto* tensor = arg.as<TeTensorNode>()) results.push_back(tensor->op);
  }
  results.insert(results.end(), options_.computed_too.begin(), options_.computed_too.end());
  const std::vector<Operation> order = operations_of(results);
  require_known_variables(order);
  add_states(order);
  std::vector<Stmt> stmts;
  for (const Operation& op : order) {
    if (const Stmt stmt = lower(op)) stmts.push_back(stmt);
  }
  if (stmts.empty()) throw UserError("create_prim_func: nothing is computed: all arguments are placeholders");
  Block root = BlockNode::make("root", std::vector<IterVar>{}, intermediate_, std::vector<BufferRegion>{},
                               std::vector<BufferRegion>{}, std::vector<MatchBufferRegion>{}, AttrMap{},
                               Stmt(), seq(stmts));
  Stmt body = BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(bool_imm(true)), root);
  AttrMap attrs{{"tir.noalias", bool_imm(true)}};
  if (!options_.global_symbol.empty()) attrs.set("global_symbol", string_imm(options_.global_symbol));
  return {PrimFuncNode::make(params_, param_buffers_, body, Type(), attrs), std::move(blocks_)};
}

}  // namespace

PrimFunc create_prim_func(const std::vector<ObjectRef>& args, const CreateOptions& options) {
  return create_named_blocks(args, options).func;
}

CreatedFunc create_named_blocks(const std::vector<ObjectRef>& args, const CreateOptions& options) {
  CreatedFunc created = Lowering(options).run(args);
  analysis::verify_bounds(created.func);
  return created;
}

}  // namespace tilewright::te
