// Vectors: few lanes that are one access of memory.  Languages have no arithmetic of all of them, so values are
// computed lane by lane; a contiguous access is one vector, and a load of it stands in a variable of its own.
//   C[i:i+4] = A[i:i+4] * 2  ->  const float4 a = *(const float4*)&A[i];
//                                *(float4*)&C[i] = make_float4(a.x * 2.0f, a.y * 2.0f, ...);
#include <fmt/format.h>

#include <utility>

#include "tilewright/codegen/device/printer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::codegen {
namespace {

const RampNode* contiguous(const PrimExpr& index) {
  const auto* ramp = index.as<RampNode>();
  return ramp && is_one(ramp->stride) ? ramp : nullptr;
}

bool is_elementwise(const CallNode* node) {
  const auto* op = node->op.as<OpNode>();
  const BuiltinOp* builtin = op ? find_builtin(op->name) : nullptr;
  return builtin && (builtin->elementwise || is_if_then_else(node) || builtin->name == "isnan" ||
                     builtin->name == "isinf" || builtin->name == "isfinite" || builtin->name == "clz" ||
                     builtin->name == "reinterpret" || builtin->name.starts_with("tvm_warp_shuffle"));
}

// True if a value costs nothing, so that each lane may compute it.
bool is_simple(const PrimExpr& value) {
  return is<VarNode>(value) || is<IntImmNode>(value) || is<FloatImmNode>(value);
}

}  // namespace

// The residue class of an index; a part that is converted to a wider integer is what it was.
arith::ModularSet DevicePrinter::residues(const PrimExpr& index) {
  return analyzer_.modular_set(rewrite(index, [&](auto& self, const CastNode* node) -> PrimExpr {
    if (!arith::is_index(node->dtype) || !arith::is_index(node->value->dtype)) return self.children(node);
    const arith::ModularSet part = residues(node->value);
    return make_var("part", node->dtype) * part.coeff + part.base;
  }));
}

// Arrays of a thread are accessed lane by lane, so that they can be registers.
bool DevicePrinter::is_vector_access(const Buffer& buffer, const PrimExpr& index) {
  const RampNode* ramp = contiguous(index);
  const DataType dtype = buffer->dtype.with_lanes(index->dtype.lanes);
  if (!ramp || vector_name(dtype).empty() || scope_of(buffer->data.get()) == "local") return false;
  if (!needs_alignment()) return true;
  const arith::ModularSet multiples = residues(ramp->base);
  return multiples.coeff % ramp->lanes == 0 && multiples.base % ramp->lanes == 0;
}

// Lane n of a variable, as a variable with that text.
PrimExpr DevicePrinter::component(const std::string& name, DataType dtype, int lane) {
  const Var var = make_var(name, dtype.element());
  names_.set(var.get(), lane_text(name, dtype, lane));
  data_vars_.insert(var.get());
  components_.push_back(var);
  return var;
}

// The name of a variable that has the value.
std::string DevicePrinter::vector_variable(const PrimExpr& value) {
  if (const auto* var = value.as<VarNode>()) return names_.of(var);
  for (const auto& [known, name] : vectors_) {
    if (structural_equal(known, value)) return name;
  }
  const auto* load = value.as<BufferLoadNode>();
  std::string hint = load ? load->buffer->name : "value";
  for (char& c : hint) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::string code = vector(value).text;
  const std::string name = temporary(load ? hint + "_part" : hint, value->dtype, code);
  vectors_.emplace_back(value, name);
  return name;
}

PrimExpr DevicePrinter::lane_of(const PrimExpr& value, int lane) {
  if (value->dtype.is_scalar()) return value;
  if (const auto* ramp = value.as<RampNode>()) return analyzer_.simplify(ramp->base + ramp->stride * lane);
  if (const auto* broadcast = value.as<BroadcastNode>()) {
    if (is_simple(broadcast->value) || !may_hoist_) return broadcast->value;
    for (const auto& [known, var] : broadcasts_) {
      if (structural_equal(known, broadcast->value)) return var;
    }
    const std::string name = temporary("value", broadcast->value->dtype, text(broadcast->value));
    const Var var = make_var(name, broadcast->value->dtype);
    names_.set(var.get(), name);
    data_vars_.insert(var.get());
    broadcasts_.emplace_back(broadcast->value, var);
    return var;
  }
  if (const auto* load = value.as<BufferLoadNode>()) {
    if (load->predicate) throw Unsupported(value, "{} has no loads of some lanes", language_);
    if (may_hoist_ && is_vector_access(load->buffer, load->indices[0]))
      return component(vector_variable(value), value->dtype, lane);
    return tir::load(load->buffer, {lane_of(load->indices[0], lane)});
  }
  if (is<VarNode>(value)) return component(vector_variable(value), value->dtype, lane);
  if (const auto* cast = value.as<CastNode>())
    return CastNode::make(value->dtype.element(), lane_of(cast->value, lane));
  if (const auto* operation = value.as<BinaryOpNode>())
    return make_binary(value->kind, lane_of(operation->a, lane), lane_of(operation->b, lane));
  if (const auto* negation = value.as<NotNode>()) return NotNode::make(lane_of(negation->a, lane));
  if (const auto* select = value.as<SelectNode>())
    return SelectNode::make(lane_of(select->condition, lane), lane_of(select->true_value, lane),
                            lane_of(select->false_value, lane));
  if (const auto* shuffle = value.as<ShuffleNode>()) {
    int64_t index = 0;
    TILEWRIGHT_CHECK(as_const_int(shuffle->indices[static_cast<size_t>(lane)], &index),
                     "lanes are constants");
    for (const PrimExpr& part : shuffle->vectors) {
      if (index < part->dtype.lanes) return lane_of(part, static_cast<int>(index));
      index -= part->dtype.lanes;
    }
  }
  const auto* call = value.as<CallNode>();
  if (!call || !is_elementwise(call))
    throw Unsupported(value, "{} of dtype {} is not supported in {}", call ? "this call" : "this value",
                      value->dtype.str(), language_);
  // only the chosen value may be read
  const bool is_choice = is_if_then_else(call);
  if (is_choice && may_hoist_ && call->args[0]->dtype.is_scalar() && !vector_name(value->dtype).empty())
    return component(vector_variable(value), value->dtype, lane);
  std::vector<PrimExpr> args;
  for (size_t n = 0; n < call->args.size(); ++n) {
    const bool outer = may_hoist_;
    if (is_choice && n > 0) may_hoist_ = false;
    args.push_back(lane_of(call->args[n], lane));
    may_hoist_ = outer;
  }
  return CallNode::make(value->dtype.element(), call->op, std::move(args), call->annotations);
}

std::vector<std::string> DevicePrinter::lane_texts(const PrimExpr& value) {
  std::vector<std::string> texts;
  for (int lane = 0; lane < value->dtype.lanes; ++lane) texts.push_back(text(lane_of(value, lane)));
  return texts;
}

// Variables hold values only in the statement they were made for: memory may change after it.
template <class Function>
auto DevicePrinter::in_statement(const Function& print) {
  const bool is_outermost = !std::exchange(in_vector_, true);
  if (is_outermost) vectors_.clear(), broadcasts_.clear();
  auto result = print();
  if (is_outermost) in_vector_ = false;
  return result;
}

Code DevicePrinter::vector(const PrimExpr& value) {
  return in_statement([&] { return vector_code(value); });
}

Code DevicePrinter::vector_code(const PrimExpr& value) {
  if (value->dtype.is_scalar()) return expr(lane_of(value, 0));
  if (const auto* var = value.as<VarNode>()) return {names_.of(var)};
  if (const auto* let = value.as<LetNode>()) {
    define(let->var.get(), let->value);
    return expr(let->body);
  }
  if (const auto* load = value.as<BufferLoadNode>(); load && !load->predicate) {
    if (is_vector_access(load->buffer, load->indices[0])) {
      const std::string place = element(load->buffer, {contiguous(load->indices[0])->base});
      return {load_vector(load->buffer->data.get(), place, value->dtype)};
    }
  }
  if (const auto* call = value.as<CallNode>(); is_if_then_else(call) && call->args[0]->dtype.is_scalar()) {
    // what is computed inside of the branches is not known after them
    auto vectors = vectors_;
    auto broadcasts = broadcasts_;
    const Code code = choice(call->args[0], call->args[1], call->args[2]);
    vectors_ = std::move(vectors);
    broadcasts_ = std::move(broadcasts);
    return code;
  }
  type_name(value->dtype);  // raises for vectors that the language does not have
  return {make_vector(value->dtype, lane_texts(value))};
}

void DevicePrinter::store_lanes(const BufferStoreNode* node) {
  if (node->predicate) throw Unsupported("{} has no stores of some lanes", language_);
  const PrimExpr& index = node->indices[0];
  const Buffer& buffer = node->buffer;
  if (is_vector_access(buffer, index)) {
    const std::string value = text(node->value);
    const std::string place = element(buffer, {contiguous(index)->base});
    return line(store_vector(buffer->data.get(), place, node->value->dtype, value));
  }
  // all lanes are read before the first is written
  bool reads_buffer = false;
  walk(node->value, [&](const BufferLoadNode* load) { reads_buffer |= load->buffer->data == buffer->data; });
  std::vector<std::string> values = in_statement([&] { return lane_texts(node->value); });
  if (reads_buffer) {
    for (std::string& value : values) value = temporary("lane", buffer->dtype, value);
  }
  for (int lane = 0; lane < node->value->dtype.lanes; ++lane)
    line(fmt::format("{} = {};", element(buffer, {lane_of(index, lane)}), values[static_cast<size_t>(lane)]));
}

}  // namespace tilewright::codegen
