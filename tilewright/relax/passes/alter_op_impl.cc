// Replaces loop programs by given ones that compute the same, possibly in other layouts.
//   y = R.call_tir(cls.conv, (x, w), ...)       conv has the attribute operator_name = "conv"
//   ->  y = R.call_tir(cls.conv_replacement, (x, w), ...)
// If a buffer has a transform, an index map like (n, c, h) -> (n, c // 4, h, c % 4), the argument is reshaped
// and permuted before the call, and an output after it.  An index of a map is a variable, or the quotient or
// the remainder of one by a constant that divides its extent.
#include <algorithm>
#include <map>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {
namespace {

struct Options {
  Dict op_impl_map, op_buffer_transforms;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::op_impl_map>("op_impl_map", "{operator_name: loop program}"),
        field<&Options::op_buffer_transforms>(
            "op_buffer_transforms", "{operator_name: an index map or None for each buffer}; default: none")};
  }
};

ObjectRef item_of(const Dict& dict, const std::string& key) {
  if (!dict) return nullptr;
  for (const auto& [name, value] : dict->items) {
    if (name == key) return value;
  }
  return nullptr;
}

// A layout as the two steps that make it: reshape to `split`, then permute by `axes`.
struct Layout {
  Shape split;
  std::vector<int64_t> axes;
  Shape result() const {
    Shape shape;
    for (int64_t axis : axes) shape.push_back(split[static_cast<size_t>(axis)]);
    return shape;
  }
};

// The part of a variable that an index is: all of it, its quotient or its remainder by `factor`.
struct Part {
  enum Kind { kWhole, kOuter, kInner } kind = kWhole;
  const Object* var = nullptr;
  int64_t factor = 1;
};

std::optional<Part> part_of(const PrimExpr& index) {
  Part part;
  if (is<tir::VarNode>(index)) return Part{Part::kWhole, index.get(), 1};
  if (const auto* div = index.as<tir::FloorDivNode>()) {
    part = {Part::kOuter, div->a.get(), 1};
    if (is<tir::VarNode>(div->a) && tir::as_const_int(div->b, &part.factor)) return part;
  }
  if (const auto* mod = index.as<tir::FloorModNode>()) {
    part = {Part::kInner, mod->a.get(), 1};
    if (is<tir::VarNode>(mod->a) && tir::as_const_int(mod->b, &part.factor)) return part;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const tir::IndexMap& map, const Shape& shape) {
  throw Unsupported("the layout {} of a tensor {} is not made by splitting and permuting dimensions",
                    tir::index_map_text(map), shape_text(shape))
      .help("give each dimension whole, or as i // c and i % c with c a divisor of its extent");
}

Layout layout_of(const tir::IndexMap& map, const Shape& shape) {
  if (map->initial_indices.size() != shape.size()) refuse(map, shape);
  std::vector<Part> parts;
  for (const PrimExpr& index : map->final_indices) {
    const std::optional<Part> part = part_of(index);
    if (!part) refuse(map, shape);
    parts.push_back(*part);
  }
  Layout layout;
  layout.axes.assign(parts.size(), -1);
  const auto place = [&](const Object* var, Part::Kind kind, int64_t factor) {
    for (size_t n = 0; n < parts.size(); ++n) {
      if (parts[n].var != var || parts[n].kind != kind || parts[n].factor != factor || layout.axes[n] >= 0)
        continue;
      layout.axes[n] = static_cast<int64_t>(layout.split.size());
      return true;
    }
    return false;
  };
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const Object* var = map->initial_indices[dim].get();
    if (place(var, Part::kWhole, 1)) {
      layout.split.push_back(shape[dim]);
      continue;
    }
    const auto inner = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
      return part.var == var && part.kind == Part::kInner;
    });
    int64_t extent;
    if (inner == parts.end() || inner->factor < 1 || !tir::as_const_int(shape[dim], &extent) ||
        extent % inner->factor != 0 || !place(var, Part::kOuter, inner->factor))
      refuse(map, shape);
    layout.split.push_back(extent_imm(extent / inner->factor));
    place(var, Part::kInner, inner->factor);
    layout.split.push_back(extent_imm(inner->factor));
  }
  if (std::find(layout.axes.begin(), layout.axes.end(), -1) != layout.axes.end()) refuse(map, shape);
  return layout;
}

class Alterer {
 public:
  Alterer(const IRModule& module, const Options& options)
      : module_(module), options_(options), functions_(module) {}

  Function run(const Function& func) {
    return rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      const Call call = self.children(node);
      const auto* callee =
          op_name(node) == "relax.call_tir" ? call->args[0].template as<GlobalVarNode>() : nullptr;
      const auto old = callee ? ref_as<tir::PrimFuncNode>(module_->find(callee->name_hint)) : tir::PrimFunc();
      const std::string name = old ? old->attrs.get_string("operator_name", "") : std::string();
      const auto found = name.empty() ? ObjectRef() : item_of(options_.op_impl_map, name);
      if (!found) return call;
      const auto* program = found.as<tir::PrimFuncNode>();
      if (!program) throw UserError("the replacement of \"{}\" is not a loop program", name);
      const bool is_done = structural_equal(old, found);
      return is_done ? Expr(call) : replaced(call, name, tir::PrimFunc(program));
    });
  }
  IRModule result() const { return functions_.get(); }

 private:
  Expr replaced(const Call& call, const std::string& name, const tir::PrimFunc& program) {
    const auto* operands = call->args[1].as<TupleNode>();
    if (!operands || call->type_args.size() != 1 || !is<TensorTypeNode>(call->type_args[0]))
      throw Unsupported(call, "the replacement of \"{}\", which has several outputs", name);
    const size_t num_buffers = operands->elements.size() + 1;
    if (program->params.size() < num_buffers)
      throw UserError(call, "the replacement of \"{}\" has {}, but {} are passed", name,
                      count_text(program->params.size(), "parameter"), num_buffers);
    const std::vector<ObjectRef> maps = maps_of(name, num_buffers);
    std::vector<Expr> args;
    for (size_t n = 0; n + 1 < num_buffers; ++n) args.push_back(in_layout(operands->elements[n], maps[n]));
    const GlobalVar callee = functions_.add_func(program, name + "_replacement");
    const auto* type = call->type_args[0].as<TensorTypeNode>();
    const Shape* shape = known_shape(type);
    const Call changed = with(call, [&](CallNode& node) {
      node.args[0] = callee;
      node.args[1] = Tuple(TupleNode::make(args));
    });
    if (!maps.back()) return changed;
    if (!shape) throw Unsupported(call, "another layout of a tensor of unknown shape");
    const Layout layout = layout_of(ref_as<tir::IndexMapNode>(maps.back()), *shape);
    const Expr product = with(changed, [&](CallNode& node) {
      node.type_args[0] = tensor_type(layout.result(), type->dtype, type->device);
      node.type = nullptr;
    });
    std::vector<int64_t> back(layout.axes.size());
    for (size_t n = 0; n < back.size(); ++n)
      back[static_cast<size_t>(layout.axes[n])] = static_cast<int64_t>(n);
    return reshaped(permuted(product, back), *shape);
  }

  std::vector<ObjectRef> maps_of(const std::string& name, size_t num_buffers) const {
    const ObjectRef given = item_of(options_.op_buffer_transforms, name);
    if (!given) return std::vector<ObjectRef>(num_buffers);
    const auto* list = given.as<ArrayNode>();
    if (!list || list->items.size() != num_buffers)
      throw UserError("the transforms of \"{}\" are not a list with one for each of {} buffers", name,
                      num_buffers);
    for (const ObjectRef& item : list->items) {
      if (item && !is<tir::IndexMapNode>(item))
        throw UserError("a transform of \"{}\" is neither an index map nor None", name);
    }
    return list->items;
  }

  static Expr in_layout(const Expr& value, const ObjectRef& map) {
    if (!map) return value;
    const Shape* shape = known_shape(value);
    if (!shape) throw Unsupported(value, "another layout of a tensor of unknown shape");
    const Layout layout = layout_of(ref_as<tir::IndexMapNode>(map), *shape);
    return permuted(reshaped(value, layout.split), layout.axes);
  }
  static Expr reshaped(const Expr& value, const Shape& shape) {
    return call_op("relax.reshape", {value, shape_expr(shape)});
  }
  static Expr permuted(const Expr& value, const std::vector<int64_t>& axes) {
    AttrMap attrs;
    attrs.set("axes", attr(axes));
    return call_op("relax.permute_dims", {value}, attrs);
  }

  const IRModule& module_;
  const Options& options_;
  BlockBuilder functions_;
};

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  Alterer alterer(module, options);
  std::vector<std::pair<std::string, Function>> changed;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func) continue;
    const Function altered = alterer.run(func);
    if (altered != func) changed.emplace_back(module->global_vars[n]->name_hint, altered);
  }
  if (changed.empty()) return module;
  IRModule result = alterer.result();
  for (auto& [name, func] : changed)
    result = with_function(result, name, BlockBuilder(result).normalize_function(func));
  return result;
}

}  // namespace

extern constinit const PassInfo alter_op_impl_info = module_pass<run, Options>(
    "alter_op_impl", "Replaces loop programs by given ones, with arguments in the layouts of these.");

}  // namespace tilewright::relax
