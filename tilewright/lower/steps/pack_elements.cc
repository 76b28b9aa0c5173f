// Integers of less than 8 bits  ->  int8 and uint8, wrapped to their bits after each operation.  In memory
// they are packed into bytes, the first element in the lowest bits (as ONNX stores them).  Buffers are flat.
// Floats of 4 bits are packed, too; as values they keep their dtype, and have a byte for themselves.
//   C[i] = A[i]      C and A of uint4
//   ->  C[i // 2] = C[i // 2] & ~(15 << i % 2 * 4) | (A[i // 2] >> i % 2 * 4 & 15) << i % 2 * 4
// A store changes part of its byte: vectorized loops, and loops whose iterations may write to the same byte,
// become serial.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/int_set.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/constructs.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

bool is_narrow(DataType dtype) { return dtype.is_integral() && dtype.bits < 8; }
DataType widened(DataType dtype) { return is_narrow(dtype) ? dtype.with_bits(8) : dtype; }
DataType byte_of(const PrimExpr& like) { return DataType::uint(8, like->dtype.lanes); }
int64_t mask_of(DataType dtype) { return (int64_t{1} << dtype.bits) - 1; }

PrimExpr bits(std::string_view op, const PrimExpr& a, int64_t b) {
  return call(a->dtype, op, {a, make_const_int(a->dtype, b)});
}
PrimExpr shifted(std::string_view op, const PrimExpr& a, const PrimExpr& count) {
  return is_zero(count) ? a : call(a->dtype, op, {a, count});
}

// The value of `dtype` in the low bits of `value`; the other bits are zero.
PrimExpr sign_extended(const PrimExpr& value, DataType dtype) {
  const PrimExpr wide = tir::cast(widened(dtype), value);
  const int64_t sign = int64_t{1} << (dtype.bits - 1);
  return dtype.is_uint() ? wide : bits("bitwise_xor", wide, sign) - make_const_int(wide->dtype, sign);
}

// The value of `dtype` whose bits are those of `byte`, whose other bits are zero.
PrimExpr of_bits(const PrimExpr& byte, DataType dtype) {
  return dtype.is_float() ? call(dtype, "reinterpret", {byte}) : sign_extended(byte, dtype);
}
// The bits of `value`, a value of `dtype` as it is held, in a byte whose other bits are zero.
PrimExpr bits_of(const PrimExpr& value, DataType dtype) {
  const DataType byte = byte_of(value);
  if (dtype.is_float()) return call(byte, "reinterpret", {value});
  return bits("bitwise_and", tir::cast(byte, value), mask_of(dtype));
}

PrimExpr wrapped(const PrimExpr& value, DataType dtype) {
  int64_t literal;
  if (as_const_int(value, &literal)) return make_const_int(value->dtype, wrap_int(literal, dtype.element()));
  return sign_extended(bits("bitwise_and", value, mask_of(dtype)), dtype);
}

// ---- loops whose iterations may run at the same time

struct Accesses {
  struct Indices {
    std::vector<PrimExpr> indices;
    int64_t per_byte = 1;
    bool is_written = false;
  };
  std::unordered_map<const VarNode*, Indices> narrow;  // by pointer; of memory that is allocated outside
  arith::Domains domains;                              // of variables defined inside
};

Accesses accesses_in(const Stmt& body) {
  Accesses found;
  auto access = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices, bool is_write) {
    if (!is_part_of_byte(buffer->dtype)) return;
    Accesses::Indices& known = found.narrow[buffer->data.get()];
    known.indices.push_back(indices[0]);
    known.per_byte = 8 / buffer->dtype.bits;
    known.is_written |= is_write;
  };
  walk(
      body, [&](const BufferLoadNode* load) { access(load->buffer, load->indices, false); },
      [&](const BufferStoreNode* store) { access(store->buffer, store->indices, true); },
      [&](const ForNode* loop) {
        found.domains[loop->loop_var.get()] = arith::Interval::of(make_range(loop->min, loop->extent));
      },
      [&](const LetStmtNode* let) { found.domains[let->var.get()] = arith::Interval::everything(); },
      [&](const LetNode* let) { found.domains[let->var.get()] = arith::Interval::everything(); });
  walk(body, [&](const AllocBufferNode* alloc) { found.narrow.erase(alloc->buffer->data.get()); });
  return found;
}

// The first and last byte that an access may touch; nullopt if that depends on values in memory.
std::optional<arith::Interval> bytes_of(const PrimExpr& index, int64_t per_byte,
                                        const arith::Domains& domains, arith::Analyzer& analyzer) {
  bool is_known = true;
  walk(
      index, [&](const BufferLoadNode*) { is_known = false; }, [&](const CallNode*) { is_known = false; },
      [&](const RampNode*) { is_known = false; });
  const arith::Interval all =
      is_known ? arith::eval_interval(index, domains, analyzer) : arith::Interval::everything();
  if (!all.is_bounded()) return std::nullopt;
  return arith::Interval{floordiv(all.min, per_byte), floordiv(all.max, per_byte)};
}

// True if no two iterations touch the same byte of narrow elements that the loop writes: each iteration ends
// before the byte where the next one begins.
// before the byte where the next begins.
bool keeps_bytes_apart(const ForNode* loop, arith::Analyzer& analyzer) {
  const auto scope = analyzer.enter();
  learn_range(loop, analyzer);
  const Accesses found = accesses_in(loop->body);
  const Substitution next{{loop->loop_var.get(), loop->loop_var + 1}};
  for (const auto& [data, accesses] : found.narrow) {
    if (!accesses.is_written) continue;
    std::vector<arith::Interval> bytes;
    for (const PrimExpr& index : accesses.indices) {
      const auto touched = bytes_of(index, accesses.per_byte, found.domains, analyzer);
      if (!touched) return false;
      bytes.push_back(*touched);
    }
    for (const arith::Interval& here : bytes) {
      for (const arith::Interval& there : bytes) {
        if (!analyzer.can_prove(here.max < substitute(there.min, next))) return false;
      }
    }
  }
  return true;
}

bool stores_narrow(const Stmt& body) {
  bool stores = false;
  walk(body, [&](const BufferStoreNode* store) { stores |= is_part_of_byte(store->buffer->dtype); });
  return stores;
}

// ---- values and memory

class Packer {
 public:
  Stmt run(const Stmt& body) {
    return rewrite(
        body,
        [&](auto&, const IntImmNode* node) -> PrimExpr {
          if (!is_narrow(node->dtype)) return PrimExpr(node);
          return make_const_int(widened(node->dtype), wrap_int(node->value, node->dtype));
        },
        [&](auto& self, const BinaryOpNode* node) -> PrimExpr {
          return is_narrow(node->a->dtype) ? value_of(self, node) : PrimExpr(self.children(node));
        },
        [&](auto& self, const CastNode* node) -> PrimExpr { return value_of(self, node); },
        [&](auto& self, const SelectNode* node) -> PrimExpr {
          return is_narrow(node->dtype) ? value_of(self, node) : PrimExpr(self.children(node));
        },
        [&](auto& self, const BroadcastNode* node) -> PrimExpr {
          return is_narrow(node->dtype) ? value_of(self, node) : PrimExpr(self.children(node));
        },
        [&](auto& self, const RampNode* node) -> PrimExpr {
          return is_narrow(node->dtype) ? value_of(self, node) : PrimExpr(self.children(node));
        },
        [&](auto& self, const ShuffleNode* node) -> PrimExpr {
          return is_narrow(node->dtype) ? value_of(self, node) : PrimExpr(self.children(node));
        },
        [&](auto& self, const LetNode* node) -> PrimExpr { return let<Let>(self, node); },
        [&](auto& self, const LetStmtNode* node) -> Stmt { return let<LetStmt>(self, node); },
        [&](auto& self, const CallNode* node) -> PrimExpr { return call_of(self, node); },
        [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
          const BufferLoad load = self.children(node);
          return is_part_of_byte(load->buffer->dtype) ? loaded(load) : PrimExpr(load);
        },
        [&](auto& self, const BufferStoreNode* node) -> Stmt {
          if (!is_part_of_byte(node->buffer->dtype)) return self.children(node);
          return stored(node, self(node->value), self(node->indices));
        },
        [&](auto& self, const AllocBufferNode* node) -> Stmt {
          if (!is_part_of_byte(node->buffer->dtype)) return self.children(node);
          return allocated(node, self(node->body));
        },
        [&](auto& self, const DeclBufferNode* node) -> Stmt {
          return DeclBufferNode::make(bytes_behind(node->buffer), self(node->body), node->span);
        },
        [&](auto& self, const ForNode* node) -> Stmt { return loop(self, node); });
  }

 private:
  template <class Self>
  static PrimExpr value_of(Self& self, const BinaryOpNode* node) {
    const PrimExpr result = make_binary(node->kind, self(node->a), self(node->b), node->span);
    return node->dtype.is_bool() ? result : wrapped(result, node->dtype);
  }
  template <class Self>
  static PrimExpr value_of(Self& self, const CastNode* node) {
    const PrimExpr value = self(node->value);
    if (is_narrow(node->dtype)) return wrapped(tir::cast(widened(node->dtype), value), node->dtype);
    return value == node->value ? PrimExpr(node) : tir::cast(node->dtype, value);
  }
  template <class Self>
  static PrimExpr value_of(Self& self, const SelectNode* node) {
    return SelectNode::make(self(node->condition), self(node->true_value), self(node->false_value));
  }
  template <class Self>
  static PrimExpr value_of(Self& self, const BroadcastNode* node) {
    return BroadcastNode::make(self(node->value), node->lanes);
  }
  template <class Self>
  static PrimExpr value_of(Self& self, const RampNode* node) {
    return wrapped(RampNode::make(self(node->base), self(node->stride), node->lanes), node->dtype);
  }
  template <class Self>
  static PrimExpr value_of(Self& self, const ShuffleNode* node) {
    return ShuffleNode::make(self(node->vectors), self(node->indices));
  }

  // Let and LetStmt: the variable becomes wide, too.
  template <class Result, class Self, class Node>
  static Result let(Self& self, const Node* node) {
    const Var var = !is_narrow(node->var->dtype)
                        ? node->var
                        : with(node->var, [](VarNode& changed) { changed.dtype = widened(changed.dtype); });
    if (var != node->var) self.replace_uses(node->var.get(), var);
    const auto value = self(node->value);
    const auto body = self(node->body);
    const bool is_same = var == node->var && value == node->value && body == node->body;
    return is_same ? Result(node) : Result(Node::make(value, var, body, node->span));
  }

  template <class Self>
  Stmt loop(Self& self, const ForNode* node) {
    const bool meets = (node->for_kind == ForKind::kParallel && !keeps_bytes_apart(node, analyzer_)) ||
                       (node->for_kind == ForKind::kVectorized && stores_narrow(node->body));
    const For changed = rewrite_loop(self, node, analyzer_);
    return meets ? with(changed, [](ForNode& serial) { serial.for_kind = ForKind::kSerial; }) : changed;
  }

  // Operators that give the same result on the wider value, at least after wrapping.
  template <class Self>
  static PrimExpr call_of(Self& self, const CallNode* node) {
    bool has_narrow = is_narrow(node->dtype);
    for (const PrimExpr& arg : node->args) has_narrow |= is_narrow(arg->dtype);
    const auto* op = node->op.as<OpNode>();
    if (const PrimExpr same_bits = reinterpreted(self, node)) return same_bits;
    if (!has_narrow) return self.children(node);
    for (const std::string_view known : {"if_then_else", "bitwise_and", "bitwise_or", "bitwise_xor",
                                         "bitwise_not", "shift_left", "shift_right", "abs"}) {
      if (!op || op->name != "tir." + std::string(known)) continue;
      const PrimExpr wide =
          CallNode::make(widened(node->dtype), node->op, self(node->args), node->annotations);
      return known == "if_then_else" ? wide : wrapped(wide, node->dtype);
    }
    const DataType dtype = is_narrow(node->dtype) ? node->dtype : first_narrow(node)->dtype;
    throw Unsupported(node, "{} is not supported for {}", op ? op->name.substr(4) : "a call", dtype.str())
        .help("cast to int8 or uint8 first");
  }
  // A T.reinterpret between dtypes of the same bits, less than 8; null for other calls.
  template <class Self>
  static PrimExpr reinterpreted(Self& self, const CallNode* node) {
    if (!is_call_of(node, "tir.reinterpret")) return nullptr;
    const DataType from = node->args[0]->dtype, to = node->dtype;
    if (!is_part_of_byte(from) && !is_part_of_byte(to)) return nullptr;
    if (from.bits != to.bits || from.lanes != to.lanes)
      throw UserError(node, "reinterpret: {} has {} bits, {} has {}", from.str(), from.bits * from.lanes,
                      to.str(), to.bits * to.lanes);
    return of_bits(bits_of(self(node->args[0]), from), to);
  }
  static const PrimExpr& first_narrow(const CallNode* node) {
    return *std::find_if(node->args.begin(), node->args.end(),
                         [](const PrimExpr& arg) { return is_narrow(arg->dtype); });
  }

  // The buffer of the bytes that contain the elements of `buffer`; other buffers are returned unchanged.
  Buffer bytes_behind(const Buffer& buffer) {
    if (!is_part_of_byte(buffer->dtype)) return buffer;
    if (!buffer->dtype.is_scalar())
      throw Unsupported(buffer,
                        "buffer {} has elements of dtype {}, vectors of elements narrower than a byte",
                        buffer->name, buffer->dtype.str())
          .help("make it one of {} with another dimension", buffer->dtype.element().str());
    auto [found, is_new] = bytes_.try_emplace(buffer.get());
    if (is_new)
      found->second = with(buffer, [&](BufferNode& changed) {
        changed.dtype = DataType::uint(8);
        changed.shape = {analyzer_.simplify(
            ceildiv(buffer->shape[0], make_const_int(buffer->shape[0]->dtype, per_byte(buffer))))};
      });
    return found->second;
  }
  static int64_t per_byte(const Buffer& buffer) { return 8 / buffer->dtype.bits; }

  PrimExpr byte_index(const Buffer& buffer, const PrimExpr& index) {
    return analyzer_.simplify(floordiv(index, per_byte(buffer)));
  }
  // The bit offset of the element in its byte.
  PrimExpr shift_of(const Buffer& buffer, const PrimExpr& index) {
    const PrimExpr place = floormod(index, per_byte(buffer)) * buffer->dtype.bits;
    return tir::cast(byte_of(index), analyzer_.simplify(place));
  }

  PrimExpr loaded(const BufferLoad& load) {
    const Buffer& buffer = load->buffer;
    const PrimExpr& index = load->indices[0];
    const PrimExpr byte = BufferLoadNode::make(
        bytes_behind(buffer), std::vector<PrimExpr>{byte_index(buffer, index)}, load->predicate, load->span);
    const PrimExpr low = shifted("shift_right", byte, shift_of(buffer, index));
    return of_bits(bits("bitwise_and", low, mask_of(buffer->dtype)),
                   buffer->dtype.with_lanes(index->dtype.lanes));
  }

  Stmt stored(const BufferStoreNode* store, const PrimExpr& value, const std::vector<PrimExpr>& indices) {
    const Buffer& buffer = store->buffer;
    const PrimExpr& index = indices[0];
    if (!index->dtype.is_scalar())
      throw Unsupported(store, "buffer {}: a vector of {} is stored, whose elements share bytes",
                        buffer->name, buffer->dtype.str())
          .help("write a loop over the elements");
    const Buffer bytes = bytes_behind(buffer);
    const std::vector<PrimExpr> place{byte_index(buffer, index)};
    const PrimExpr shift = shift_of(buffer, index);
    const PrimExpr mask = make_const_int(DataType::uint(8), mask_of(buffer->dtype));
    const PrimExpr hole = call(mask->dtype, "bitwise_not", {shifted("shift_left", mask, shift)});
    const PrimExpr kept = call(mask->dtype, "bitwise_and", {load(bytes, place), hole});
    const PrimExpr low = bits_of(value, buffer->dtype);
    const PrimExpr both = call(mask->dtype, "bitwise_or", {kept, shifted("shift_left", low, shift)});
    return BufferStoreNode::make(bytes, both, place, PrimExpr(), store->span);
  }

  // A store reads its byte, also the first time, so the memory is set to zero first.
  Stmt allocated(const AllocBufferNode* alloc, const Stmt& body) {
    const Buffer bytes = bytes_behind(alloc->buffer);
    const Var byte = make_var("byte", bytes->shape[0]->dtype);
    const Stmt clear = tir::loop(byte, bytes->shape[0], tir::store(bytes, imm(0, bytes->dtype), {byte}));
    return AllocBufferNode::make(bytes, alloc->annotations, seq({clear, body}), alloc->span);
  }

  arith::Analyzer analyzer_;
  std::unordered_map<const BufferNode*, Buffer> bytes_;
};

bool uses_narrow(const Stmt& body) {
  bool uses = false;
  walk(
      body, [&](const PrimExprNode* expr) { uses |= is_part_of_byte(expr->dtype); },
      [&](const BufferNode* buffer) { uses |= is_part_of_byte(buffer->dtype); });
  return uses;
}

PrimFunc pack_elements(const PrimFunc& func) {
  if (!uses_narrow(func->body)) return func;
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (!func->buffers[n] && is_part_of_byte(func->params[n]->dtype))
      throw Unsupported(func->params[n], "parameter {} is a scalar of dtype {}, which is not supported",
                        func->params[n]->name_hint, func->params[n]->dtype.str())
          .help("take it as {} and cast it", func->params[n]->dtype.is_float() ? "float32" : "int8");
  }
  const Stmt body = Packer().run(func->body);
  return with(func, [&](PrimFuncNode& changed) { changed.body = body; });
}

}  // namespace

extern constinit const StepInfo pack_elements_info = {
    .name = "pack_elements",
    .doc =
        "elements of less than 8 bits are parts of bytes, integers computed in int8 and uint8 and "
        "wrapped; loops whose iterations may meet in a byte are serial",
    .without = kManyDimensions,
    .ends = kPartsOfBytes,
    .run = without_options<pack_elements>,
};

}  // namespace tilewright::lower
