// Buffers: T.Buffer, T.match_buffer, and the three ways to allocate.
#include "tilewright/runtime/device.h"
#include "tilewright/script/parser/regions.h"
#include "tilewright/script/parser/tir_functions.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/text.h"

namespace tilewright::script {
namespace {

// A dimension, given as an integer, an expression or the name of a variable.
PrimExpr dimension(Parser& parser, const Value& value, Place place) {
  if (const auto* name = value.get<std::string>(); name && parser.tir)
    return dimension_var(parser, *name, kInt64, place);
  PrimExpr extent = parser.to_prim(value, place);
  if (!extent->dtype.is_integral() || !extent->dtype.is_scalar())
    throw UserError(parser.span(place), "a dimension has dtype {}, expected an integer", extent->dtype.str());
  int64_t constant;
  if (as_const_int(extent, &constant) && constant < 0)
    throw UserError(parser.span(place), "a dimension is {}, which is negative", constant);
  return extent;
}

std::vector<PrimExpr> dimensions(Parser& parser, const Value& value, Place place) {
  const auto* list = value.get<Sequence>();
  if (!list) return {dimension(parser, value, place)};
  std::vector<PrimExpr> result;
  for (const Value& item : list->items) result.push_back(dimension(parser, item, place));
  return result;
}

tir::Var data_pointer(Parser& parser, const Arg& arg) {
  PrimExpr data = parser.to_prim(arg.value, arg.place);
  if (auto var = ref_as<tir::VarNode>(data); var && var->dtype.is_handle()) return var;
  throw UserError(parser.span(arg.place), "data must be a pointer, as in A.data, found {}",
                  describe(arg.value));
}

// A parameter defines the variables that are a dimension, stride or offset of its buffer by themselves.
void define_alone(TirState* state, const Buffer& buffer) {
  auto define = [&](const PrimExpr& expr) {
    if (const auto* var = expr.as<tir::VarNode>()) state->defined.insert(var);
  };
  for (const PrimExpr& extent : buffer->shape) define(extent);
  for (const PrimExpr& stride : buffer->strides) define(stride);
  define(buffer->elem_offset);
  state->defined.insert(buffer->data.get());
}

}  // namespace

tir::Var dimension_var(Parser& parser, std::string_view name, DataType dtype, Place place) {
  if (const Value* known = parser.names.find(name)) {
    if (auto var = known->ref<tir::VarNode>()) return var;
  }
  auto [entry, is_new] = parser.tir->dims.try_emplace(std::string(name));
  if (is_new) {
    entry->second = make_var(std::string(name), dtype, parser.span(place));
    parser.tir->declared.emplace_back(entry->second, parser.span(place));
  }
  return entry->second;
}

Buffer buffer_from_args(Parser& parser, Args& args, size_t first, std::string name, const Buffer& defaults) {
  std::vector<PrimExpr> shape, strides;
  DataType dtype = defaults ? defaults->dtype : kFloat32;
  const Arg* shape_arg = args.find(first, "shape");
  if (shape_arg)
    shape = dimensions(parser, shape_arg->value, shape_arg->place);
  else if (defaults)
    shape = defaults->shape;
  else
    throw UserError(args.span, "{}: argument shape is missing", args.function);
  if (const Arg* arg = args.find(first + 1, "dtype")) dtype = parser.to_data_type(arg->value, arg->place);
  const Arg* data = args.find(first + 2, "data");
  if (const Arg* arg = args.find(first + 3, "strides"); arg && !arg->value.is_none())
    strides = dimensions(parser, arg->value, arg->place);
  if (!strides.empty() && strides.size() != shape.size())
    throw UserError(args.span, "{}: the shape has {}, the strides {}", args.function,
                    count_text(shape.size(), "dimension"), strides.size());
  PrimExpr elem_offset;
  if (const Arg* arg = args.find(first + 4, "elem_offset"); arg && !arg->value.is_none())
    elem_offset = dimension(parser, arg->value, arg->place);
  std::string scope = defaults ? defaults->scope() : "global";
  if (const Arg* arg = args.find(first + 5, "scope"); arg && !arg->value.is_none())
    scope = parser.to_string(arg->value, arg->place, "scope");
  int64_t align = runtime::kTensorAlignment, offset_factor = 0;
  if (const Arg* arg = args.find(first + 6, "align")) align = parser.to_int(arg->value, arg->place, "align");
  if (const Arg* arg = args.find(first + 7, "offset_factor"))
    offset_factor = parser.to_int(arg->value, arg->place, "offset_factor");
  if (align <= 0) align = runtime::kTensorAlignment;
  // an offset of 0 means no offset; but with a factor, no offset would mean any multiple of it
  if (offset_factor == 0 && elem_offset && is_zero(elem_offset)) elem_offset = nullptr;
  if (const Arg* arg = args.find(first + 8, args.keyword("type") ? "type" : "buffer_type");
      arg && !arg->value.is_none()) {
    const std::string kind = parser.to_string(arg->value, arg->place, "buffer_type");
    if (!kind.empty() && kind != "default" && kind != "auto")
      throw Unsupported(parser.span(arg->place), "a buffer of type \"{}\"", kind)
          .help("write the strides out");
  }
  std::vector<int64_t> separators;
  if (const Arg* arg = args.find(first + 9, "axis_separators"); arg && !arg->value.is_none()) {
    for (const Value& item : parser.to_sequence(arg->value, arg->place, "axis_separators").items)
      separators.push_back(parser.to_int(item, arg->place, "an axis separator"));
  }
  tir::Var pointer =
      data && !data->value.is_none() ? data_pointer(parser, *data) : pointer_var(name, dtype, scope);
  return BufferNode::make(std::move(pointer), dtype, std::move(shape), std::move(strides),
                          std::move(elem_offset), std::move(name), align, offset_factor,
                          std::move(separators));
}

namespace {

std::string buffer_name(const Args& args) {
  return std::string(args.hint().empty() ? "buffer" : args.hint());
}

// With an offset factor and no offset, the offset may be any multiple of the factor that the caller passes.
Buffer with_free_offset(const Buffer& buffer) {
  if (buffer->elem_offset || buffer->offset_factor == 0) return buffer;
  const DataType dtype = buffer->shape.empty() ? kInt32 : buffer->shape[0]->dtype;
  return with(buffer, [&](BufferNode& n) { n.elem_offset = make_var(buffer->name + "_elem_offset", dtype); });
}

size_t param_index(Parser& parser, const Arg& arg, const TirState& state) {
  const auto* var = arg.value.node<tir::VarNode>();
  for (size_t n = 0; var && n < state.params.size(); ++n) {
    if (state.params[n].get() == var) return n;
  }
  throw UserError(parser.span(arg.place),
                  "T.match_buffer takes a parameter of type T.handle or a region of a buffer, found {}",
                  describe(arg.value));
}

// Raises UserError unless the view has the extents of the region; it may omit leading extents of 1.
void require_shape_of_region(const Buffer& view, const BufferRegion& source, const Span& span) {
  std::vector<PrimExpr> extents;
  for (const ir::Range& range : source->region) extents.push_back(range->extent);
  bool fits = view->shape.size() <= extents.size();
  const size_t leading = fits ? extents.size() - view->shape.size() : 0;
  for (size_t n = 0; fits && n < extents.size(); ++n) {
    int64_t extent, wanted = 1;
    if (!as_const_int(extents[n], &extent) ||
        (n >= leading && !as_const_int(view->shape[n - leading], &wanted)))
      continue;
    fits = extent == wanted;
  }
  if (fits) return;
  throw UserError(span, "view {} has shape {}, but region {} has extents {}", view->name,
                  indices_text(view->shape), region_text(source), indices_text(extents))
      .help("a view has the extents of its region; only leading extents of 1 may be left out");
}

Value match_region(Parser& parser, Args& args, const Arg& source_arg) {
  TirState& state = *parser.tir;
  if (state.blocks.empty()) throw UserError(args.span, "a region can be matched only inside a block");
  BufferRegion source = to_region(parser, source_arg.value, source_arg.place);
  std::vector<PrimExpr> extents;
  for (const ir::Range& range : source->region) extents.push_back(range->extent);
  const Buffer whole = with(source->buffer, [&](BufferNode& n) { n.shape = extents; });
  Buffer view = with_free_offset(buffer_from_args(parser, args, 1, buffer_name(args), whole));
  args.done();
  if (view->dtype != source->buffer->dtype)
    throw UserError(args.span, "buffer {} holds {}, but the view is of {}", source->buffer->name,
                    source->buffer->dtype.str(), view->dtype.str());
  require_shape_of_region(view, source, args.span);
  define_alone(&state, view);
  state.blocks.back()->match_buffers.push_back(MatchBufferRegionNode::make(view, source));
  return view;
}

}  // namespace

Value match_buffer(Parser& parser, Args& args) {
  TirState& state = *parser.tir;
  const Arg& param = args.need(0, "param");
  const bool is_region = param.value.get<BufferSlice>() || param.value.node<BufferNode>() ||
                         param.value.node<BufferRegionNode>() || param.value.node<BufferLoadNode>() ||
                         param.value.get<AllocatedPointer>();
  if (is_region) return match_region(parser, args, param);
  const size_t index = param_index(parser, param, state);
  if (state.buffers[index])
    throw UserError(args.span, "parameter {} is matched with buffer {} already",
                    state.params[index]->name_hint, state.buffers[index]->name);
  if (!state.params[index]->dtype.is_handle())
    throw UserError(parser.span(param.place), "parameter {} has dtype {}, only a T.handle can be a buffer",
                    state.params[index]->name_hint, state.params[index]->dtype.str());
  Buffer buffer = with_free_offset(buffer_from_args(parser, args, 1, buffer_name(args)));
  args.done();
  define_alone(&state, buffer);
  return state.buffers[index] = buffer;
}

namespace {

Value open_allocation(Parser& parser, const Buffer& buffer, AttrMap annotations, const Span& span) {
  parser.tir->defined.insert(buffer->data.get());
  parser.tir->out->open([=](tir::Stmt body) -> tir::Stmt {
    return AllocBufferNode::make(buffer, annotations, std::move(body), span);
  });
  return buffer;
}

AttrMap annotations_of(Parser& parser, Args& args) {
  const Arg* arg = args.keyword("annotations");
  return arg ? parser.to_attrs(arg->value, arg->place) : AttrMap();
}

// Adds an allocation to the innermost block, or to the function's root block.
Value block_allocation(Parser& parser, const Buffer& buffer) {
  TirState& state = *parser.tir;
  state.defined.insert(buffer->data.get());
  (state.blocks.empty() ? state.root_buffers : state.blocks.back()->alloc_buffers).push_back(buffer);
  return buffer;
}

}  // namespace

// Y = T.alloc_buffer(shape, dtype): belongs to the enclosing block; in functions without blocks, and with
// T.sblock (since 2026), it is a statement.
Value alloc_buffer(Parser& parser, Args& args) {
  Buffer buffer = buffer_from_args(parser, args, 0, buffer_name(args));
  AttrMap annotations = annotations_of(parser, args);
  args.done();
  const bool is_statement = !parser.tir->has_blocks || parser.tir->is_sblock_era;
  if (is_statement) return open_allocation(parser, buffer, std::move(annotations), args.span);
  return block_allocation(parser, buffer);
}

Value sblock_alloc_buffer(Parser& parser, Args& args) {
  Buffer buffer = buffer_from_args(parser, args, 0, buffer_name(args));
  args.done();
  return block_allocation(parser, buffer);
}

// A = T.allocate([128], "float32", "global"): A is the pointer, but also accesses elements
Value allocate(Parser& parser, Args& args) {
  const Arg& extents = args.need(0, "extents");
  const Arg& dtype = args.need(1, "dtype");
  const Arg* scope = args.find(2, "scope");
  const Arg* condition = args.find(3, "condition");
  if (condition && !parser.to_flag(condition->value, condition->place, "condition"))
    throw Unsupported(parser.span(condition->place), "an allocation with a condition");
  Buffer buffer = make_buffer(buffer_name(args), dimensions(parser, extents.value, extents.place),
                              parser.to_data_type(dtype.value, dtype.place),
                              scope ? parser.to_string(scope->value, scope->place, "scope") : "global");
  AttrMap annotations = annotations_of(parser, args);
  args.done();
  open_allocation(parser, buffer, std::move(annotations), args.span);
  return AllocatedPointer{buffer};
}

// B = T.decl_buffer(shape, dtype, data=A.data): a view; an allocation if there is no data
Value decl_buffer(Parser& parser, Args& args) {
  Buffer buffer = buffer_from_args(parser, args, 0, buffer_name(args));
  const Arg* data = args.find(2, "data");
  if (!data || data->value.is_none()) {
    AttrMap annotations = annotations_of(parser, args);
    args.done();
    return open_allocation(parser, buffer, std::move(annotations), args.span);
  }
  args.done();
  const Span span = args.span;
  parser.tir->out->open(
      [=](tir::Stmt body) -> tir::Stmt { return DeclBufferNode::make(buffer, std::move(body), span); });
  return buffer;
}

// T.Buffer(shape, dtype): the type of a parameter; in a body the same as T.decl_buffer
Value buffer_type(Parser& parser, Args& args) {
  if (parser.tir && parser.tir->out) return decl_buffer(parser, args);
  std::string name = args.hint().empty() ? "buffer" : std::string(args.hint());
  Buffer buffer = with_free_offset(buffer_from_args(parser, args, 0, std::move(name)));
  args.done();
  if (parser.tir) define_alone(parser.tir, buffer);
  return buffer;
}

}  // namespace tilewright::script
