// Attributes and methods of buffers and expressions: A.data, A.shape, A.access_ptr("r"), x.astype("float32").
#include "tilewright/script/parser/regions.h"
#include "tilewright/script/parser/tir_functions.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/near.h"

namespace tilewright::script {
namespace {

Value list_of(const std::vector<PrimExpr>& items) {
  Sequence list;
  for (const PrimExpr& item : items) {
    const auto* literal = item.as<ir::IntImmNode>();
    if (literal && literal->dtype == kInt32)
      list.items.emplace_back(literal->value);  // as it was written in the text
    else
      list.items.emplace_back(item);
  }
  return list;
}

[[noreturn]] void no_attribute(Parser& parser, const Value& base, std::string_view name, Place place,
                               std::vector<std::string_view> known) {
  throw UserError(parser.span(place), "{} has no attribute {}", describe(base), name)
      .help("{}", nearest_names_text(name, known));
}

PrimExpr offset_of(const Buffer& buffer) {
  if (buffer->elem_offset) return buffer->elem_offset;
  return imm(0, buffer->shape.empty() ? kInt32 : buffer->shape[0]->dtype);
}

// A.access_ptr("r"|"w"|"rw", ptr_type, content_lanes, offset, extent)
Value access_ptr(Parser& parser, const Buffer& buffer, Args& args) {
  const Arg& mask_arg = args.need(0, "access_mask");
  args.find(1, "ptr_type");
  const Arg* lanes_arg = args.find(2, "content_lanes");
  const Arg* offset_arg = args.find(3, "offset");
  const Arg* extent_arg = args.find(4, "extent");
  args.done();
  int64_t mask = 0;
  if (const auto* letters = mask_arg.value.get<std::string>()) {
    for (char letter : *letters) {
      if (letter != 'r' && letter != 'w')
        throw UserError(parser.span(mask_arg.place), "an access mask is \"r\", \"w\" or \"rw\", found \"{}\"",
                        *letters);
      mask |= letter == 'r' ? 1 : 2;
    }
  } else {
    mask = parser.to_int(mask_arg.value, mask_arg.place, "access_mask");
  }
  const int64_t lanes = lanes_arg ? parser.to_int(lanes_arg->value, lanes_arg->place, "content_lanes") : 1;
  if (lanes < 1 || lanes > 0x7fff) throw UserError(args.span, "content_lanes is {}", lanes);
  PrimExpr total = buffer->strides.empty() ? product(buffer->shape) : buffer->strides[0] * buffer->shape[0];
  PrimExpr offset = offset_of(buffer);
  if (offset_arg && !offset_arg->value.is_none()) {
    PrimExpr extra = parser.to_prim(offset_arg->value, offset_arg->place, offset->dtype);
    total = total - extra;
    offset = offset + extra;
  }
  if (lanes > 1) {
    total = div(total, make_const_int(total->dtype, lanes));
    offset = div(offset, make_const_int(offset->dtype, lanes));
  }
  if (extent_arg && !extent_arg->value.is_none())
    total = parser.to_prim(extent_arg->value, extent_arg->place, total->dtype);
  const DataType element = buffer->dtype.with_lanes(static_cast<int>(lanes) * buffer->dtype.lanes);
  std::vector<PrimExpr> operands{tir::call(element, "type_annotation", {}), buffer->data, offset, total,
                                 imm(mask)};
  return tir::CallNode::make(DataType::handle(), ir::Expr(find_op("tvm_access_ptr")), std::move(operands),
                             AttrMap(), args.span);
}

// A.vload([i], "float32x4"): the lanes come from the dtype
std::vector<PrimExpr> vector_access(Parser& parser, const Buffer& buffer, const Arg& begin, DataType dtype) {
  std::vector<PrimExpr> indices = parser.to_prims(begin.value, begin.place);
  if (indices.size() != buffer->shape.size())
    throw UserError(parser.span(begin.place), "buffer {} has {}, but {} indices are given", buffer->name,
                    count_text(buffer->shape.size(), "dimension"), indices.size());
  const int lanes = buffer->dtype.lanes ? dtype.lanes / buffer->dtype.lanes : 1;
  if (lanes > 1 && indices.back()->dtype.is_scalar())
    indices.back() =
        RampNode::make(indices.back(), make_const_int(indices.back()->dtype, 1), static_cast<int64_t>(lanes));
  return indices;
}

PrimExpr predicate_of(Parser& parser, Args& args) {
  const Arg* predicate = args.keyword("predicate");
  return predicate && !predicate->value.is_none() ? parser.to_prim(predicate->value, predicate->place)
                                                  : PrimExpr();
}

Value vload(Parser& parser, const Buffer& buffer, Args& args) {
  const Arg& begin = args.need(0, "begin");
  const Arg* dtype = args.find(1, "dtype");
  PrimExpr predicate = predicate_of(parser, args);
  args.done();
  const DataType type =
      dtype && !dtype->value.is_none() ? parser.to_data_type(dtype->value, dtype->place) : buffer->dtype;
  return BufferLoadNode::make(buffer, vector_access(parser, buffer, begin, type), predicate, args.span);
}

Value vstore(Parser& parser, const Buffer& buffer, Args& args) {
  const Arg& begin = args.need(0, "begin");
  const Arg& value_arg = args.need(1, "value");
  PrimExpr predicate = predicate_of(parser, args);
  args.done();
  PrimExpr value = parser.to_prim(value_arg.value, value_arg.place);
  if (!parser.tir || !parser.tir->out)
    throw UserError(args.span, "{} is allowed only inside the body of a T.prim_func", args.function);
  parser.tir->out->add(BufferStoreNode::make(
      buffer, value, vector_access(parser, buffer, begin, value->dtype), predicate, args.span));
  return {};
}

// A.offset_of([i, j]): the position in memory, in elements
Value flat_offset(Parser& parser, const Buffer& buffer, Args& args) {
  const Arg& arg = args.need(0, "indices");
  args.done();
  std::vector<PrimExpr> indices = parser.to_prims(arg.value, arg.place);
  if (indices.size() != buffer->shape.size())
    throw UserError(args.span, "buffer {} has {}, but {} indices are given", buffer->name,
                    count_text(buffer->shape.size(), "dimension"), indices.size());
  PrimExpr offset = offset_of(buffer);
  PrimExpr position = indices.empty() ? imm(0, offset->dtype) : PrimExpr();
  for (size_t n = 0; n < indices.size(); ++n) {
    if (!buffer->strides.empty())
      position = position ? position + indices[n] * buffer->strides[n] : indices[n] * buffer->strides[n];
    else
      position = position ? position * buffer->shape[n] + indices[n] : indices[n];
  }
  return Sequence{{Value(offset + position)}, false};
}

}  // namespace

Value attribute_of(Parser& parser, const Value& base, std::string_view name, Place place) {
  Buffer buffer = base.ref<BufferNode>();
  if (const auto* pointer = base.get<AllocatedPointer>()) buffer = ref_as<BufferNode>(pointer->buffer);
  if (buffer) {
    if (name == "data") return buffer->data;
    if (name == "dtype") return buffer->dtype;
    if (name == "shape") return list_of(buffer->shape);
    if (name == "strides") return list_of(buffer->strides);
    if (name == "elem_offset") return offset_of(buffer);
    if (name == "name") return buffer->name;
    if (name == "ndim") return static_cast<int64_t>(buffer->shape.size());
    if (name == "scope" || name == "access_ptr" || name == "vload" || name == "vstore")
      throw UserError(parser.span(place), "{} is a method, not a value", name);
    no_attribute(parser, base, name, place,
                 {"data", "dtype", "shape", "strides", "elem_offset", "access_ptr", "vload", "vstore",
                  "offset_of", "scope"});
  }
  if (const auto* axis = base.node<IterVarNode>()) {
    if (name == "var") return axis->var;
    if (name == "dom" && axis->dom) return axis->dom;
  }
  if (parser.graph && (base.node<ir::RelaxExprNode>() || base.node<ir::TypeNode>()))
    return graph_attribute(parser, base, name, place);
  if (const auto* expr = base.node<ir::PrimExprNode>()) {
    if (name == "dtype") return expr->dtype;
    no_attribute(parser, base, name, place, {"dtype", "astype"});
  }
  throw UserError(parser.span(place), "{} has no attribute {}", describe(base), name);
}

Value call_method(Parser& parser, const Value& base, std::string_view name, Args& args) {
  Buffer buffer = base.ref<BufferNode>();
  if (const auto* pointer = base.get<AllocatedPointer>()) buffer = ref_as<BufferNode>(pointer->buffer);
  if (buffer) {
    if (name == "access_ptr") return access_ptr(parser, buffer, args);
    if (name == "vload") return vload(parser, buffer, args);
    if (name == "vstore") return vstore(parser, buffer, args);
    if (name == "offset_of") return flat_offset(parser, buffer, args);
    if (name == "scope") return args.done(), Value(buffer->scope());
    no_attribute(parser, base, name, args.place, {"access_ptr", "vload", "vstore", "offset_of", "scope"});
  }
  if (parser.graph && base.node<ir::RelaxExprNode>()) return call_graph_method(parser, base, name, args);
  if (base.node<ir::PrimExprNode>()) {
    if (name == "astype") {
      args.positional.insert(args.positional.begin(), Arg{{}, args.place, base});
      return cast_value(parser, args);
    }
    if (name == "equal") {
      const Arg& other = args.need(0, "other");
      args.done();
      return parser.compare("==", base, other.value, args.place);
    }
    no_attribute(parser, base, name, args.place, {"astype", "equal"});
  }
  throw UserError(args.span, "{} has no method {}", describe(base), name);
}

}  // namespace tilewright::script
