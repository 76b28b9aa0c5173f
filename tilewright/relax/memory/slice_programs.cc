#include "tilewright/relax/memory/slice_programs.h"

#include <algorithm>
#include <map>

#include "tilewright/analysis/sure_accesses.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/op.h"

namespace tilewright::relax {
namespace {

using tir::Buffer;

const tir::BlockNode* root_of(const tir::PrimFunc& func) {
  const auto* realize = func->body.as<tir::BlockRealizeNode>();
  if (!realize || !realize->iter_values.empty() || realize->block->init) return nullptr;
  return realize->block.get();
}

std::optional<int64_t> constant(const PrimExpr& expr) {
  int64_t value;
  return tir::as_const_int(expr, &value) ? std::optional(value) : std::nullopt;
}

// output[v0, v1, ..] = value for all elements of `output`, in a plain loop nest.
struct Move {
  Buffer output;
  std::vector<const tir::VarNode*> axes;
  PrimExpr value;
};

std::optional<Move> move_of(const Stmt& nest) {
  const Stmt* stmt = &nest;
  while (const auto* loop = stmt->as<tir::ForNode>()) stmt = &loop->body;
  const auto* realize = stmt->as<tir::BlockRealizeNode>();
  if (!realize || !tir::is_one(realize->predicate)) return std::nullopt;
  const tir::BlockNode* block = realize->block.get();
  const auto* store = block->body.as<tir::BufferStoreNode>();
  if (!store || store->predicate || block->init || store->indices.size() != block->iter_vars.size())
    return std::nullopt;
  Move move{store->buffer, {}, store->value};
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    const tir::IterVar& axis = block->iter_vars[n];
    const bool is_whole = store->indices[n].get() == axis->var.get() && tir::is_zero(axis->dom->min) &&
                          structural_equal(axis->dom->extent, store->buffer->shape[n]);
    if (!is_whole) return std::nullopt;
    move.axes.push_back(axis->var.get());
  }
  return move;
}

// An element of a parameter: the position in the output, shifted by constant steps.
struct Element {
  size_t param = 0;
  std::vector<int64_t> steps;  // by axis
};

std::optional<Element> element_of(const tir::PrimFunc& func, const Move& move, const PrimExpr& value) {
  const auto* load = value.as<tir::BufferLoadNode>();
  if (!load || load->predicate || load->indices.size() != move.axes.size()) return std::nullopt;
  const auto found = std::find(func->buffers.begin(), func->buffers.end(), load->buffer);
  if (found == func->buffers.end() || load->dtype != move.output->dtype) return std::nullopt;
  Element element{static_cast<size_t>(found - func->buffers.begin()), {}};
  for (size_t n = 0; n < move.axes.size(); ++n) {
    const PrimExpr axis = tir::Var(move.axes[n]);
    const std::optional<int64_t> step = constant(arith::simplify(load->indices[n] - axis));
    if (!step) return std::nullopt;
    element.steps.push_back(*step);
  }
  return element;
}

// True if the steps are 0 along all axes except `axis`.
bool moves_along(const Element& element, size_t axis) {
  for (size_t n = 0; n < element.steps.size(); ++n) {
    if (n != axis && element.steps[n] != 0) return false;
  }
  return true;
}

// The arguments of if_then_else(v < end, then, otherwise).
const tir::CallNode* choice_of(const PrimExpr& value) {
  const auto* call = value.as<tir::CallNode>();
  return tir::is_if_then_else(call) ? call : nullptr;
}

}  // namespace

bool equal_but_along(const Shape& a, const Shape& b, size_t axis) {
  if (a.size() != b.size()) return false;
  for (size_t n = 0; n < a.size(); ++n) {
    if (n != axis && !structural_equal(a[n], b[n])) return false;
  }
  return true;
}

std::optional<ConcatProgram> concat_of(const tir::PrimFunc& func) {
  const tir::BlockNode* root = root_of(func);
  const std::optional<Move> move = root ? move_of(root->body) : std::nullopt;
  if (!move || move->output != func->buffers.back() || !choice_of(move->value)) return std::nullopt;
  ConcatProgram result;
  PrimExpr value = move->value;
  for (int64_t begin = 0;;) {
    const tir::CallNode* choice = choice_of(value);
    PrimExpr end_of_part, part = value;
    if (choice) {
      const auto* less = choice->args[0].as<tir::LTNode>();
      const auto axis = less ? std::find(move->axes.begin(), move->axes.end(), less->a.as<tir::VarNode>())
                             : move->axes.end();
      if (axis == move->axes.end()) return std::nullopt;
      const auto at = static_cast<size_t>(axis - move->axes.begin());
      if (begin > 0 && at != result.axis) return std::nullopt;
      result.axis = at;
      end_of_part = less->b;
      part = choice->args[1];
    } else {
      end_of_part = move->output->shape[result.axis];
    }
    const std::optional<Element> element = element_of(func, *move, part);
    const std::optional<int64_t> end = constant(end_of_part);
    if (!element || !end || *end <= begin || !moves_along(*element, result.axis)) return std::nullopt;
    const Buffer& source = func->buffers[element->param];
    const bool is_whole_source = element->steps[result.axis] == -begin &&
                                 constant(source->shape[result.axis]) == *end - begin &&
                                 equal_but_along(source->shape, move->output->shape, result.axis);
    if (!is_whole_source) return std::nullopt;
    result.parts.push_back({element->param, begin, *end - begin});
    begin = *end;
    if (!choice) {
      result.extent = begin;
      return result;
    }
    value = choice->args[2];
  }
}

std::vector<Slice> slices_of(const tir::PrimFunc& func) {
  const tir::BlockNode* root = root_of(func);
  if (!root || func->buffers.size() < 2 || !func->buffers[0]) return {};
  const Buffer& source = func->buffers[0];
  const auto* list = root->body.as<tir::SeqStmtNode>();
  const std::vector<Stmt> nests = list ? list->seq : std::vector<Stmt>{root->body};
  if (nests.size() + 1 != func->buffers.size()) return {};
  std::vector<Slice> slices(nests.size());
  for (const Stmt& nest : nests) {
    const std::optional<Move> move = move_of(nest);
    const std::optional<Element> element = move ? element_of(func, *move, move->value) : std::nullopt;
    if (!element || element->param != 0) return {};
    const auto output = std::find(func->buffers.begin() + 1, func->buffers.end(), move->output);
    if (output == func->buffers.end()) return {};
    std::optional<size_t> axis;
    for (size_t n = 0; n < move->axes.size(); ++n) {
      if (structural_equal(move->output->shape[n], source->shape[n])) continue;
      if (axis) return {};
      axis = n;
    }
    if (!axis || !moves_along(*element, *axis)) return {};
    const auto extent = constant(move->output->shape[*axis]), whole = constant(source->shape[*axis]);
    const int64_t begin = element->steps[*axis];
    if (!extent || !whole || *extent <= 0 || begin < 0 || begin + *extent > *whole) return {};
    Slice& slice = slices[static_cast<size_t>(output - func->buffers.begin()) - 1];
    if (slice.extent != 0) return {};
    slice = {*axis, begin, *extent, *whole};
  }
  return slices;
}

bool takes_part(const tir::PrimFunc& func, size_t param, size_t axis) {
  const tir::BlockNode* root = root_of(func);
  const Buffer buffer = param < func->buffers.size() ? func->buffers[param] : Buffer();
  if (!root || !buffer || !buffer->strides.empty() || buffer->elem_offset ||
      !buffer->axis_separators.empty() || axis >= buffer->shape.size() || !constant(buffer->shape[axis]))
    return false;
  if (std::count(func->buffers.begin(), func->buffers.end(), buffer) != 1) return false;
  if (buffer->dtype.bits < 8 && !buffer->dtype.is_bool()) return false;  // neighbouring elements share bytes
  bool is_by_elements = true;
  const auto access = [&](const auto* node) {
    for (const PrimExpr& index : node->indices)
      is_by_elements &= node->buffer != buffer || index->dtype.lanes == 1;
  };
  walk(
      func->body, [&](const tir::BufferLoadNode* load) { access(load); },
      [&](const tir::BufferStoreNode* store) { access(store); },
      [&](const tir::DeclBufferNode*) { is_by_elements = false; },
      [&](const tir::MatchBufferRegionNode*) { is_by_elements = false; },
      [&](const tir::CallNode* call) {
        const auto* op = call->op.as<OpNode>();
        is_by_elements &= op && op->name != "tir.address_of";
        for (const PrimExpr& arg : call->args) {
          const auto* var = arg.as<tir::VarNode>();
          is_by_elements &= !var || !var->dtype.is_handle();
        }
      },
      [&](const tir::LetStmtNode* let) { is_by_elements &= !let->var->dtype.is_handle(); });
  return is_by_elements;
}

namespace {

std::vector<PrimExpr> row_major_strides(const Shape& shape) {
  std::vector<PrimExpr> strides(shape.size());
  PrimExpr stride = tir::make_const_int(shape.back()->dtype, 1);
  for (size_t n = shape.size(); n-- > 0;) {
    strides[n] = stride;
    stride = arith::simplify(stride * shape[n]);
  }
  return strides;
}

class PartsBuilder {
 public:
  PartsBuilder(const tir::PrimFunc& func, const std::vector<PartOf>& parts) : func_(func), parts_(parts) {}

  tir::PrimFunc build() {
    for (const Buffer& buffer : func_->buffers) {
      for (size_t n = 0; buffer && n < buffer->shape.size(); ++n) {
        walk(buffer->shape[n], [&](const tir::VarNode* var) {
          fresh_.try_emplace(var, tir::make_var(var->name_hint, var->dtype));
        });
      }
    }
    for (const PartOf& part : parts_) add_view(part);
    for (size_t n = 0; n < func_->params.size(); ++n) add_param(n);
    for (const tir::Var& begin : begins_) params_.push_back(begin), buffers_.push_back(nullptr);
    const Stmt copy = tir::fresh_copy(func_->body, fresh_);
    const Stmt body = with(ref_as<tir::BlockRealizeNode>(copy), [&](tir::BlockRealizeNode& realize) {
      realize.block = with(realize.block, [&](tir::BlockNode& root) { root.match_buffers = views_; });
    });
    AttrMap attrs = func_->attrs;
    attrs.erase("global_symbol");
    // the graph passes only begins that keep parts inside their buffers
    attrs.set(std::string(analysis::kViewsAreInside), tir::bool_imm(true));
    return tir::PrimFuncNode::make(params_, buffers_, body, func_->ret_type, std::move(attrs));
  }

 private:
  Shape fresh_shape(const Buffer& buffer) const {
    Shape shape;
    for (const PrimExpr& extent : buffer->shape) shape.push_back(substitute(extent, fresh_));
    return shape;
  }

  void add_view(const PartOf& part) {
    const Buffer& before = func_->buffers[part.param];
    Buffer& whole = wholes_[part.tensor];
    if (whole) {  // dimensions that only this part defines are those of the tensor
      for (size_t n = 0; n < before->shape.size(); ++n) {
        const auto* dim = before->shape[n].as<tir::VarNode>();
        if (dim && n != part.axis) fresh_[dim] = whole->shape[n];
      }
    }
    Shape shape = fresh_shape(before);
    if (!whole) {
      Shape all = shape;
      all[part.axis] = tir::make_const_int(all[part.axis]->dtype, part.extent);
      whole = tir::make_buffer(before->name + "_whole", std::move(all), before->dtype);
    }
    const tir::Var begin = tir::make_var(begins_.empty() ? "begin" : fmt::format("begin_{}", begins_.size()),
                                         DataType::int_(64));
    begins_.push_back(begin);
    std::vector<Range> region;
    for (size_t n = 0; n < shape.size(); ++n) {
      const PrimExpr first =
          n == part.axis ? tir::cast(shape[n]->dtype, begin) : tir::make_const_int(shape[n]->dtype, 0);
      region.push_back(tir::make_range(first, shape[n]));
    }
    Buffer view = tir::make_buffer(before->name, shape, before->dtype);
    // a part along the outermost axis is compact already
    const bool is_compact =
        std::all_of(shape.begin(), shape.begin() + static_cast<long>(part.axis), tir::is_one);
    if (!is_compact)
      view = with(view, [&](tir::BufferNode& node) { node.strides = row_major_strides(whole->shape); });
    fresh_[before.get()] = view;
    fresh_[before->data.get()] = view->data;
    views_.push_back(tir::MatchBufferRegionNode::make(view, tir::BufferRegionNode::make(whole, region)));
  }

  void add_param(size_t n) {
    const auto is_at = [&](const PartOf& part) { return part.param == n; };
    const auto part = std::find_if(parts_.begin(), parts_.end(), is_at);
    if (part != parts_.end()) {
      if (place_of(parts_, part->tensor) == n) push(wholes_.at(part->tensor));
      return;
    }
    const Buffer& buffer = func_->buffers[n];
    if (!buffer) {
      const tir::Var& var = func_->params[n];
      // a dimension that only this parameter defines has its variable already
      const auto [known, is_new] = fresh_.try_emplace(var.get());
      if (is_new) known->second = tir::make_var(var->name_hint, var->dtype);
      params_.push_back(ref_as<tir::VarNode>(known->second));
      buffers_.push_back(nullptr);
      return;
    }
    const Buffer own = with(buffer, [&](tir::BufferNode& node) {
      node.data = with(buffer->data, [](tir::VarNode&) {});
      node.shape = fresh_shape(buffer);
      for (PrimExpr& stride : node.strides) stride = substitute(stride, fresh_);
      if (node.elem_offset) node.elem_offset = substitute(node.elem_offset, fresh_);
    });
    fresh_[buffer.get()] = own;
    fresh_[buffer->data.get()] = own->data;
    push(own);
  }

  void push(const Buffer& buffer) {
    params_.push_back(tir::make_var("var_" + buffer->name, DataType::handle()));
    buffers_.push_back(buffer);
  }

  const tir::PrimFunc& func_;
  const std::vector<PartOf>& parts_;
  Substitution fresh_;
  std::map<size_t, Buffer> wholes_;
  std::vector<tir::Var> params_, begins_;
  std::vector<Buffer> buffers_;
  std::vector<tir::MatchBufferRegion> views_;
};

}  // namespace

size_t place_of(const std::vector<PartOf>& parts, size_t tensor) {
  std::optional<size_t> first;
  for (const PartOf& part : parts) {
    if (part.tensor != tensor) continue;
    if (part.is_written) return part.param;
    if (!first) first = part.param;
  }
  return first.value_or(0);
}

tir::PrimFunc over_parts(const tir::PrimFunc& func, const std::vector<PartOf>& parts) {
  return PartsBuilder(func, parts).build();
}

}  // namespace tilewright::relax
