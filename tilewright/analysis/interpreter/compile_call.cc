// Calls: operators of tir/op.h, functions of the module, of the registry and in C.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "tilewright/analysis/interpreter/compiler.h"
#include "tilewright/analysis/interpreter/device_op.h"
#include "tilewright/runtime/function.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/one_of.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/dot_add.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/tensor_argument.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {
namespace {

Scalar pointer_to(Memory* memory, int64_t byte) {
  Scalar pointer = int_scalar(byte);
  pointer.memory = memory;
  return pointer;
}

std::string text_of(const PrimExpr& expr) {
  const auto* text = expr.as<StringImmNode>();
  if (!text) throw UserError(expr, "expected a name in quotes, found {}", expr_text(expr));
  return text->value;
}

// Converts a value of the program to an argument of a packed or C function.
runtime::Value to_runtime(const Scalar& scalar, DataType dtype) {
  if (dtype.is_handle())
    return runtime::Value::pointer(scalar.memory ? scalar.memory->data + scalar.i
                                                 : reinterpret_cast<char*>(scalar.i));
  if (dtype.is_float()) return scalar.f;
  if (dtype.is_bool()) return scalar.i != 0;
  return scalar.i;
}

Scalar from_runtime(const runtime::Value& value, DataType dtype, const ObjectRef& where) {
  if (value.is_none() || dtype.is_void()) return {};
  if (dtype.is_float()) return float_scalar(round_to(value.as_float("the result"), dtype));
  if (dtype.is_handle())
    throw Unsupported(where, "the interpreter does not support called functions that return a pointer");
  return int_scalar(tir::wrap_int(value.as_int("the result"), dtype));
}

}  // namespace

CodePtr Compiler::call(const tir::CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  if (!op) return function_call(call);
  const BuiltinOp* builtin = find_builtin(op->name);
  if (!builtin) throw Unsupported(call, "the interpreter does not support operator {}", op->name);
  const std::string_view name = builtin->name;
  if (name == "if_then_else") return select(call->args[0], call->args[1], call->args[2], false, call->dtype);
  if (is_one_of(name, {"likely", "tvm_thread_invariant"})) return expr(call->args[0]);
  if (is_one_of(name, {"tvm_access_ptr", "address_of", "isnullptr"})) return pointer_call(call, name);
  if (is_one_of(name, {"call_extern", "call_pure_extern", "call_packed", "call_cpacked"}))
    return foreign_call(call, name);
  if (is_one_of(name, {"call_llvm_intrin", "call_llvm_pure_intrin"})) return intrinsic_call(call);
  if (name == "call_parallel") return parallel_call(call);
  if (name == "dot_add") return dot_call(call);
  if (builtin->elementwise || is_one_of(name, {"isnan", "isinf", "isfinite", "clz"}))
    return elementwise_call(call, name);
  return control_call(call, name);
}

// Applies an operator lane by lane to operands of one dtype.
CodePtr Compiler::elementwise_call(const tir::CallNode* call, std::string_view name) {
  std::vector<CodePtr> args = exprs(call->args);
  const DataType dtype = call->args[0]->dtype.element();
  return lanes_code(call->dtype, [args = std::move(args), dtype, name = std::string(name),
                                  where = site(ObjectRef(call))](Frame& frame, Scalar* out) {
    std::vector<Lanes> values;
    values.reserve(args.size());
    for (const CodePtr& arg : args) values.emplace_back(*arg, frame);
    for (size_t lane = 0; lane < values[0].size(); ++lane) {
      Scalar operands[8];
      for (size_t n = 0; n < values.size() && n < std::size(operands); ++n) operands[n] = values[n][lane];
      const bool divides = name == "fmod" && !dtype.is_float();
      if (divides && operands[1].i == 0 && !frame.speculative)
        throw UserError(where->node, "fmod: {} is divided by zero{}", operands[0].i, where->at(frame));
      if (divides)
        out[lane] = int_scalar(int_binary(Kind::kMod, operands[0].i, operands[1].i, dtype).value_or(0));
      else if (!math_operator(name, operands, values.size(), dtype, &out[lane]))
        throw Unsupported(where->node, "the interpreter does not support {} of dtype {}", name, dtype.str());
    }
  });
}

// The operators of tir/dot_add.h; floats are added in order.
CodePtr Compiler::dot_call(const tir::CallNode* call) {
  const tir::DotAdd dot = tir::dot_add(call);
  const DataType dtype = call->dtype.element();
  return lanes_code(call->dtype, [args = exprs(call->args), dtype, group = static_cast<size_t>(dot.group)](
                                     Frame& frame, Scalar* out) {
    const Lanes sum(*args[0], frame), a(*args[1], frame), b(*args[2], frame);
    for (size_t n = 0; n < b.size(); ++n) {
      if (n % group == 0) out[n / group] = sum[n / group];
      Scalar& to = out[n / group];
      const Scalar &x = a[n % a.size()], &y = b[n];
      to = dtype.is_float() ? float_scalar(round_to(to.f + x.f * y.f, dtype))
                            : int_scalar(tir::wrap_int(to.i + x.i * y.i, dtype));
    }
  });
}

CodePtr Compiler::control_call(const tir::CallNode* call, std::string_view name) {
  SitePtr where = site(ObjectRef(call));
  auto signal = [&](Signal which) {
    return lanes_code(call->dtype, [which](Frame& frame, Scalar* out) { *out = {}, frame.signal = which; });
  };
  if (name == "break_loop") return signal(Signal::kBreak);
  if (name == "continue_loop") return signal(Signal::kContinue);
  if (name == "ret") {
    return lanes_code(call->dtype, [value = expr(call->args[0])](Frame& frame, Scalar* out) {
      value->lanes(frame, out);
      frame.result = *out;
      frame.result_dtype = value->dtype;
      frame.signal = Signal::kReturn;
    });
  }
  if (name == "assume") {
    return int_code(call->dtype, [value = expr(call->args[0]), where](Frame& frame) -> int64_t {
      if (value->as_int(frame) || frame.speculative) return 1;
      throw UserError(where->node, "{} does not hold{}", expr_text(ref_as<PrimExprNode>(where->node)),
                      where->at(frame));
    });
  }
  if (name == "reinterpret") {
    const DataType from = call->args[0]->dtype.element(), to = call->dtype.element();
    const bool is_whole = from.bits % 8 == 0 || to.bits % 8 == 0;  // else parts of bytes, as in memory
    const int from_bits = is_whole ? register_bits(from) : from.bits,
              to_bits = is_whole ? register_bits(to) : to.bits;
    if (from_bits * call->args[0]->dtype.lanes != to_bits * call->dtype.lanes || from.is_handle() ||
        to.is_handle())
      throw Unsupported(call, "the interpreter does not support {} reinterpreted as {}",
                        call->args[0]->dtype.str(), call->dtype.str());
    return lanes_code(call->dtype, [value = expr(call->args[0]), from, to, from_bits, to_bits,
                                    count = call->dtype.lanes](Frame& frame, Scalar* out) {
      const Lanes lanes(*value, frame);
      std::vector<char> bytes((lanes.size() * static_cast<size_t>(from_bits) + 7) / 8);
      for (size_t n = 0; n < lanes.size(); ++n)
        store_element(bytes.data(), static_cast<int64_t>(n) * from_bits, from, lanes[n]);
      for (size_t n = 0; n < count; ++n)
        out[n] = load_element(bytes.data(), static_cast<int64_t>(n) * to_bits, to);
    });
  }
  if (name == "vectorlow" || name == "vectorhigh" || name == "vectorcombine") {
    const size_t skip = name == "vectorhigh" ? call->dtype.lanes : 0;
    return lanes_code(call->dtype, [args = exprs(call->args), skip, count = size_t{call->dtype.lanes}](
                                       Frame& frame, Scalar* out) {
      std::vector<Scalar> all;
      for (const CodePtr& arg : args) {
        const Lanes lanes(*arg, frame);
        for (size_t n = 0; n < lanes.size(); ++n) all.push_back(lanes[n]);
      }
      std::copy_n(all.begin() + static_cast<ptrdiff_t>(skip), count, out);
    });
  }
  if (name == "large_uint_imm") {
    return int_code(call->dtype, [low = expr(call->args[0]), high = expr(call->args[1])](Frame& frame) {
      return static_cast<int64_t>((static_cast<uint64_t>(high->as_int(frame)) << 32) |
                                  static_cast<uint64_t>(low->as_int(frame)));
    });
  }
  if (name == "dp4a") {
    return int_code(call->dtype, [a = expr(call->args[0]), b = expr(call->args[1]),
                                  sum = expr(call->args[2])](Frame& frame) {
      const Lanes x(*a, frame), y(*b, frame);
      int64_t total = sum->as_int(frame);
      for (size_t n = 0; n < x.size(); ++n) total += x[n].i * y[n].i;
      return tir::wrap_int(total, kInt32);
    });
  }
  if (name == "raise_error") {
    std::string text;
    for (size_t n = 0; n < call->args.size(); ++n)
      text += (n ? n == 1 ? ": " : ", " : "") +
              (call->args[n].as<StringImmNode>() ? text_of(call->args[n]) : expr_text(call->args[n]));
    return lanes_code(call->dtype, [text, where](Frame& frame, Scalar*) {
      throw UserError(where->node, "{}{}", text, where->at(frame));
    });
  }
  // hints
  if (is_one_of(name,
                {"prefetch", "undef", "start_profile_intrinsic", "end_profile_intrinsic", "type_annotation"}))
    return lanes_code(call->dtype, [count = std::max<size_t>(call->dtype.lanes, 1)](Frame&, Scalar* out) {
      std::fill_n(out, count, Scalar());
    });
  if (const DeviceOp* op = find_device_op(name)) return device_call(call, *op);
  throw Unsupported(call, "the interpreter does not support operator {}", name);
}

// Outside of kernels there is one thread, which waits for nobody.
CodePtr Compiler::device_call(const tir::CallNode* call, const DeviceOp& op) {
  if (!kernel_ && op.name == "tvm_storage_sync") return int_literal(call->dtype, 0);
  if (!kernel_)
    throw UserError(call, "{} is outside of a kernel: no loop around it runs on threads of a GPU", op.name)
        .help("bind a loop around it to threadIdx.x");
  auto parts = std::make_shared<DeviceCall>();
  parts->call = call;
  parts->name = op.name;
  parts->where = site(ObjectRef(call));
  for (const PrimExpr& arg : call->args) parts->args.push_back(is<StringImmNode>(arg) ? nullptr : expr(arg));
  return op.code(std::move(parts));
}

namespace {

// The bytes of an element, which is the unit of a pointer to it.
int64_t whole_bytes(DataType element, const tir::CallNode* call) {
  if (bits_of(element) % 8 != 0)
    throw Unsupported(
        call, "the interpreter does not support a pointer to an element of dtype {}, which shares its byte",
        element.str());
  return element.num_bytes();
}

}  // namespace

CodePtr Compiler::pointer_call(const tir::CallNode* call, std::string_view name) {
  if (name == "isnullptr")
    return int_code(call->dtype, [value = expr(call->args[0])](Frame& frame) -> int64_t {
      Scalar pointer;
      value->lanes(frame, &pointer);
      return !pointer.memory && pointer.i == 0;
    });
  if (name == "tvm_access_ptr") {
    const int64_t size = whole_bytes(call->args[0]->dtype, call);
    return lanes_code(call->dtype, [data = expr(call->args[1]), offset = expr(call->args[2]), size](
                                       Frame& frame, Scalar* out) {
      data->lanes(frame, out);
      out->i += offset->as_int(frame) * size;
    });
  }
  const auto* load = call->args[0].as<BufferLoadNode>();
  if (!load)
    throw UserError(call, "address_of takes an element of a buffer, found {}", expr_text(call->args[0]));
  // of a vector, that of its first element
  std::vector<CodePtr> indices;
  for (const PrimExpr& index : load->indices) {
    const auto* vector = index.as<tir::RampNode>();
    indices.push_back(expr(vector ? vector->base : index));
  }
  return lanes_code(call->dtype, [indices = std::move(indices), view = view_of(load->buffer, ObjectRef(call)),
                                  size = whole_bytes(load->buffer->dtype, call)](Frame& frame, Scalar* out) {
    const View& viewed = frame.views[view];
    int64_t position = viewed.offset;
    for (size_t dim = 0; dim < indices.size(); ++dim)
      position += indices[dim]->as_int(frame) * viewed.strides[dim];
    *out = pointer_to(viewed.memory.get(), position * size);
  });
}

// Calls another function of the module with pointers and scalars, in order.
CodePtr Compiler::function_call(const tir::CallNode* call) {
  const auto* callee = call->op.as<GlobalVarNode>();
  if (!callee) throw UserError(call, "{} cannot be called", expr_text(PrimExpr(call)));
  return lanes_code(call->dtype, [args = exprs(call->args), name = callee->name_hint,
                                  where = site(ObjectRef(call))](Frame& frame, Scalar* out) {
    const FunctionCode& code = frame.program->function(name, where->node);
    if (code.param_slots.size() != args.size())
      throw UserError(where->node, "function {} takes {}, found {}", name,
                      count_text(code.param_slots.size(), "argument"), args.size());
    Frame inner = frame.program->frame_of(code, frame.strand);
    for (size_t n = 0; n < args.size(); ++n) args[n]->lanes(frame, &inner.slots[code.param_slots[n]]);
    code.bind->run(inner);
    code.body->run(inner);
    *out = inner.result;
  });
}

// call_parallel(name, extent, grain, args...): ranges of the body may run concurrently; here each range has
// one element.
CodePtr Compiler::parallel_call(const tir::CallNode* call) {
  const std::string name = text_of(call->args[0]);
  std::vector<CodePtr> args;
  for (size_t n = 3; n < call->args.size(); ++n) args.push_back(expr(call->args[n]));
  return lanes_code(call->dtype, [args = std::move(args), extent = expr(call->args[1]), name,
                                  loop = std::make_unique<std::string>(name),
                                  where = site(ObjectRef(call))](Frame& frame, Scalar* out) {
    const FunctionCode& code = frame.program->function(name, where->node);
    if (code.param_slots.size() != args.size() + 2)
      throw UserError(where->node, "function {} takes {}, found {}", name,
                      count_text(code.param_slots.size(), "argument"), args.size() + 2);
    const uint64_t run = ++frame.program->num_runs;
    *out = {};
    for (int64_t n = 0, end = extent->as_int(frame); n < end; ++n) {
      Frame inner =
          frame.program->frame_of(code, frame.program->new_strand({frame.strand, run, n, 0, loop.get()}));
      inner.slots[code.param_slots[0]] = int_scalar(n);
      inner.slots[code.param_slots[1]] = int_scalar(n + 1);
      for (size_t m = 0; m < args.size(); ++m) args[m]->lanes(frame, &inner.slots[code.param_slots[m + 2]]);
      code.bind->run(inner);
      code.body->run(inner);
      if (inner.result.i != 0) *out = inner.result;
    }
  });
}

namespace {

// A tensor argument of a registered function, as code.
struct TensorCode {
  CodePtr data, offset;
  std::vector<CodePtr> shape, strides;
  TensorArgument said;
  bool is_read = true, is_written = true;
  SitePtr where;

  runtime::Value value(Frame& frame) const;
};

// Adds a * b to `sum`; returns false on overflow.
bool add_product(int64_t a, int64_t b, int64_t* sum) {
  int64_t product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

// The range of bytes that a tensor spans, whose element 0 begins at byte `begin`; nullopt on overflow.
std::optional<std::pair<int64_t, int64_t>> bytes_of(const std::vector<int64_t>& extents,
                                                    const std::vector<int64_t>& steps, int64_t begin,
                                                    int64_t num_bytes) {
  int64_t low = begin, high = begin, stride = num_bytes;
  if (!add_product(1, num_bytes, &high)) return std::nullopt;
  for (size_t n = extents.size(); n-- > 0;) {
    int64_t step = stride;
    if (!steps.empty() && __builtin_mul_overflow(steps[n], num_bytes, &step)) return std::nullopt;
    if (!add_product(extents[n] - 1, step, step < 0 ? &low : &high)) return std::nullopt;
    if (steps.empty() && __builtin_mul_overflow(stride, extents[n], &stride)) return std::nullopt;
  }
  return std::pair{low, high};
}

runtime::Value TensorCode::value(Frame& frame) const {
  Scalar pointer;
  data->lanes(frame, &pointer);
  if (!pointer.memory)
    throw Unsupported(where->node, "the interpreter does not support a tensor over memory without a buffer{}",
                      where->at(frame));
  std::vector<int64_t> extents, steps;
  for (const CodePtr& extent : shape) extents.push_back(extent->as_int(frame));
  for (const CodePtr& stride : strides) steps.push_back(stride->as_int(frame));
  const bool is_empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  for (int64_t extent : extents) {
    if (extent < 0)
      throw UserError(where->node, "a tensor has an extent of {}, which is negative{}", extent,
                      where->at(frame));
  }
  int64_t begin = pointer.i;
  const bool has_begin = add_product(offset->as_int(frame), said.num_bytes, &begin);
  const auto bytes = !has_begin ? std::nullopt
                     : is_empty ? std::optional(std::pair{begin, begin})
                                : bytes_of(extents, steps, begin, said.num_bytes);
  if (!bytes)
    throw UserError(where->node, "a tensor of extents [{}] ends beyond any memory{}",
                    fmt::join(extents, ", "), where->at(frame));
  const auto [low, high] = *bytes;
  Memory& memory = *pointer.memory;
  if (!is_empty && (low < 0 || high > memory.num_bytes))
    throw UserError(where->node, "a tensor over bytes {} to {} of {}, which has {} bytes{}", low, high,
                    memory.name, memory.num_bytes, where->at(frame));
  const bool is_compact = steps.empty() && !is_empty;
  if (is_read && !is_written && is_compact && !memory.is_written(low * 8, (high - low) * 8))
    throw UserError(where->node, "a tensor over {} is read, but not all of it was written{}", memory.name,
                    where->at(frame));
  if (is_written && !is_empty) memory.mark_written(low * 8, (high - low) * 8);
  DLTensor tensor{memory.data + begin,
                  {kDLCPU, 0},
                  static_cast<int32_t>(extents.size()),
                  runtime::to_dlpack(said.dtype),
                  extents.data(),
                  steps.empty() ? nullptr : steps.data(),
                  0};
  TilewrightAny any{};
  any.type_index = kTilewrightDLTensor;
  any.v_ptr = &tensor;
  return runtime::from_any(any);
}

// The kinds of access that T.tvm_access_ptr declares for the pointer; without it, all.
int64_t access_mask(const PrimExpr& pointer) {
  int64_t mask = 3;
  const auto* call = pointer.as<tir::CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  if (op && op->name == "tir.tvm_access_ptr" && call->args.size() == 5) as_const_int(call->args[4], &mask);
  return mask;
}

}  // namespace

CodePtr Compiler::foreign_call(const tir::CallNode* call, std::string_view kind) {
  if (call->args.empty()) throw UserError(call, "{} needs the name of a function", kind);
  const std::string name = text_of(call->args[0]);
  const bool is_packed = kind == "call_packed" || kind == "call_cpacked";
  struct Arg {
    std::string text;
    CodePtr code;
    std::unique_ptr<TensorCode> tensor = nullptr;
  };
  std::vector<Arg> args;
  for (size_t n = 1; n < call->args.size(); ++n) {
    if (is_packed && is_tensor_argument(call->args[n])) {
      const TensorArgument said = tensor_argument_of(call->args[n].as<tir::CallNode>());
      const int64_t mask = access_mask(said.data);
      args.push_back({"", nullptr,
                      std::make_unique<TensorCode>(TensorCode{
                          expr(said.data), expr(said.offset), exprs(said.shape), exprs(said.strides), said,
                          (mask & 1) != 0, (mask & 2) != 0, site(ObjectRef(call))})});
      continue;
    }
    const bool is_text = is<StringImmNode>(call->args[n]);
    args.push_back({is_text ? text_of(call->args[n]) : "", is_text ? nullptr : expr(call->args[n])});
  }
  return lanes_code(call->dtype, [args = std::move(args), name, is_packed, dtype = call->dtype,
                                  where = site(ObjectRef(call))](Frame& frame, Scalar* out) {
    std::vector<runtime::Value> values;
    for (const Arg& arg : args) {
      if (arg.tensor) {
        values.push_back(arg.tensor->value(frame));
        continue;
      }
      if (!arg.code) {
        values.emplace_back(arg.text);
        continue;
      }
      Scalar scalar;
      arg.code->lanes(frame, &scalar);
      // the accesses through the pointer are unknown, so everything counts as written
      if (scalar.memory) scalar.memory->mark_written(0, scalar.memory->num_bytes * 8);
      values.push_back(to_runtime(scalar, arg.code->dtype));
    }
    if (is_packed) {
      *out = from_runtime(runtime::get_function(name).call(values), dtype, where->node);
      return;
    }
    auto found = frame.program->options.externs.find(name);
    if (found == frame.program->options.externs.end())
      throw Unsupported(where->node, "the interpreter does not know the C function {}", name)
          .help("give it as InterpretOptions::externs");
    *out = from_runtime(found->second(values), dtype, where->node);
  });
}

// LLVM's portable intrinsics; those of a processor cannot be interpreted.
CodePtr Compiler::intrinsic_call(const tir::CallNode* call) {
  const std::string name = call->args.empty() ? "" : text_of(call->args[0]);
  struct Entry {
    std::string_view prefix, operator_name;
  };
  constexpr Entry kKnown[] = {{"llvm.fmuladd", "fma"},       {"llvm.fma", "fma"},
                              {"llvm.exp2", "exp2"},         {"llvm.exp", "exp"},
                              {"llvm.log10", "log10"},       {"llvm.log2", "log2"},
                              {"llvm.log", "log"},           {"llvm.sqrt", "sqrt"},
                              {"llvm.sin", "sin"},           {"llvm.cos", "cos"},
                              {"llvm.pow", "pow"},           {"llvm.fabs", "fabs"},
                              {"llvm.floor", "floor"},       {"llvm.ceil", "ceil"},
                              {"llvm.trunc", "trunc"},       {"llvm.nearbyint", "nearbyint"},
                              {"llvm.rint", "nearbyint"},    {"llvm.roundeven", "round"},
                              {"llvm.copysign", "copysign"}, {"llvm.ctpop", "popcount"}};
  if (name.starts_with("llvm.prefetch")) return int_literal(call->dtype, 0);
  for (const Entry& entry : kKnown) {
    const bool matches = name.starts_with(entry.prefix) &&
                         (name.size() == entry.prefix.size() || name[entry.prefix.size()] == '.');
    if (!matches) continue;
    // older programs pass the number of arguments after the name
    size_t first = 1;
    const size_t expected = entry.operator_name == "fma"                                        ? 3
                            : entry.operator_name == "pow" || entry.operator_name == "copysign" ? 2
                                                                                                : 1;
    if (call->args.size() == expected + 2) first = 2;
    if (call->args.size() != expected + first)
      throw UserError(call, "{} takes {} operands, found {}", name, expected, call->args.size() - first);
    std::vector<PrimExpr> operands(call->args.begin() + static_cast<ptrdiff_t>(first), call->args.end());
    const Call plain = CallNode::make(call->dtype, Expr(find_op(entry.operator_name)), std::move(operands),
                                      AttrMap(), call->span);
    return elementwise_call(plain.get(), entry.operator_name);
  }
  throw Unsupported(call, "the interpreter does not support intrinsic {}", name);
}

}  // namespace tilewright::analysis
