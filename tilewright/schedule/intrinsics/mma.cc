#include "tilewright/schedule/intrinsics/mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tilewright/script/parse.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr MmaElement kElements[] = {
    {"f16", "float16", "fp16", "float32"},     {"bf16", "bfloat16", "bf16", "float32"},
    {"tf32", "float32", "tf32", "float32"},    {"i8", "int8", "int8", "int32"},
    {"u8", "uint8", "uint8", "int32"},         {"e4m3", "float8_e4m3fn", "e4m3", "float32"},
    {"e5m2", "float8_e5m2", "e5m2", "float32"}};

struct SumType {
  std::string_view name, dtype, ptx;
};
constexpr SumType kSums[] = {
    {"f32", "float32", "fp32"}, {"f16", "float16", "fp16"}, {"i32", "int32", "int32"}};

const SumType* sum_of(DataType dtype) {
  const auto* found =
      std::ranges::find_if(kSums, [&](const SumType& sum) { return sum.dtype == dtype.str(); });
  return found == std::end(kSums) ? nullptr : found;
}

int64_t bytes_of(const MmaElement& element) { return DataType::parse(element.dtype).num_bytes(); }
int64_t pack_of(const MmaElement& element) { return 4 / bytes_of(element); }

// Takes the first of `known` with which `text` begins.
template <class Known, size_t kCount>
const Known* take_one(std::string_view* text, const Known (&known)[kCount]) {
  for (const Known& each : known) {
    if (!text->starts_with(each.name)) continue;
    text->remove_prefix(each.name.size());
    return &each;
  }
  return nullptr;
}
bool take(std::string_view* text, std::string_view part) {
  if (!text->starts_with(part)) return false;
  text->remove_prefix(part.size());
  return true;
}

PrimFunc program(const std::string& text) {
  return ref_as<PrimFuncNode>(script::parse(Ref<Source>(new Source("mma_intrinsic", text))));
}

// "lane, element" of a place whose coordinates are the texts `row` and `column`.
std::string place_text(MmaOperand operand, std::string_view row, std::string_view column, int64_t pack) {
  const int64_t group = 4 * pack;  // terms that the lanes of a row of C share
  switch (operand) {
    case MmaOperand::kA:
      return fmt::format("{0} % 8 * 4 + {1} % {2} // {3}, {1} // {2} * {4} + {0} // 8 * {3} + {1} % {3}", row,
                         column, group, pack, 2 * pack);
    case MmaOperand::kB:
      return fmt::format("{1} % 8 * 4 + {0} % {2} // {3}, {1} // 8 * {4} + {0} // {2} * {3} + {0} % {3}", row,
                         column, group, pack, 2 * pack);
    default:
      return fmt::format("{0} % 8 * 4 + {1} % 8 // 2, {1} // 8 * 4 + {0} // 8 * 2 + {1} % 2", row, column);
  }
}

// ---- loads

struct Load {
  const MmaElement* element;
  MmaOperand operand;
  bool is_transposed;  // columns of A, or columns of B, are rows in memory
  std::string_view scope;
  /// Terms lie side by side in memory.
  bool has_terms_last() const { return (operand == MmaOperand::kA) != is_transposed; }
};

std::string load_head(const Load& load) {
  const int64_t terms = mma_terms(*load.element), each = terms / 2;
  const auto rows = load.has_terms_last() ? kMmaSize : terms,
             columns = load.has_terms_last() ? terms : kMmaSize;
  return fmt::format(R"(
@T.prim_func(private=True)
def load(s: T.handle, w: T.handle):
    row = T.int64()
    S = T.match_buffer(s, ({0}, {1}), "{2}", offset_factor=1, strides=[row, 1], scope="{3}")
    W = T.match_buffer(w, (32, {4}), "{2}", offset_factor=1, scope="warp")
    with T.block("root"):
        T.reads(S[0:{0}, 0:{1}])
        T.writes(W[0:32, 0:{4}])
)",
                     rows, columns, load.element->dtype, load.scope, each);
}

std::string load_description(const Load& load) {
  const int64_t terms = mma_terms(*load.element);
  const bool is_row_first = load.has_terms_last() == (load.operand == MmaOperand::kA);
  const std::string_view row = is_row_first ? "v0" : "v1", column = is_row_first ? "v1" : "v0";
  return fmt::format(R"(        for i, j in T.grid({}, {}):
            with T.block("load"):
                v0, v1 = T.axis.remap("SS", [i, j])
                W[{}] = S[v0, v1]
)",
                     load.has_terms_last() ? kMmaSize : terms, load.has_terms_last() ? terms : kMmaSize,
                     place_text(load.operand, row, column, pack_of(*load.element)));
}

// ldmatrix takes the address of row r of matrix m from lane 8 * m + r; its matrices have 8 rows of 16 bytes, and become
// the registers of the fragment in order.
std::string load_by_ldmatrix(const Load& load) {
  const int64_t in_row = 16 / bytes_of(*load.element);  // elements of a row of a matrix
  const bool halves_of_terms_first = load.operand == MmaOperand::kB;
  // the registers of A go down its rows first, those of B along its terms
  const bool goes_down_first = load.has_terms_last() != halves_of_terms_first;
  const std::string_view row = goes_down_first ? "tx % 16" : "tx % 8 + tx // 16 * 8",
                         part = goes_down_first ? "tx // 16" : "tx // 8 % 2";
  return fmt::format(
      R"(        for tx in T.thread_binding(32, thread="threadIdx.x"):
            T.evaluate(T.ptx_ldmatrix("{0}", {1}, 4, ".b16", T.address_of(W[tx, 0:{2}]), 0, T.address_of(S[{3}, {4} * {5} : {4} * {5} + {5}]), 0))
)",
      load.element->dtype, load.has_terms_last() ? "False" : "True", mma_terms(*load.element) / 2, row, part,
      in_row);
}

std::string load_by_elements(const Load& load) {
  const int64_t pack = pack_of(*load.element), each = mma_terms(*load.element) / 2;
  const bool is_a = load.operand == MmaOperand::kA;
  // element n of a lane
  const std::string other = fmt::format("tx // 4 + n {} * 8", is_a ? fmt::format("% {} // {}", 2 * pack, pack)
                                                                   : fmt::format("// {}", 2 * pack)),
                    term = fmt::format(
                        "tx % 4 * {0} + n {1} * {2} + n % {0}", pack,
                        is_a ? fmt::format("// {}", 2 * pack) : fmt::format("% {} // {}", 2 * pack, pack),
                        4 * pack);
  return fmt::format(R"(        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for n in T.unroll({}):
                W[tx, n] = S[{}, {}]
)",
                     each, term, other);
}

std::optional<TensorIntrin> load_intrinsic(std::string_view name) {
  Load load{take_one(&name, kElements), MmaOperand::kA, false, "shared"};
  if (!load.element) return std::nullopt;
  if (take(&name, "_b"))
    load.operand = MmaOperand::kB;
  else if (!take(&name, "_a"))
    return std::nullopt;
  load.is_transposed = take(&name, "_trans");
  if (take(&name, "_dyn")) load.scope = "shared.dyn";
  if (!name.empty()) return std::nullopt;
  const bool has_ldmatrix = load.has_terms_last() || bytes_of(*load.element) == 2;
  return TensorIntrin{
      program(load_head(load) + load_description(load)),
      program(load_head(load) + (has_ldmatrix ? load_by_ldmatrix(load) : load_by_elements(load)))};
}

// ---- products

struct Product {
  const MmaElement *a, *b;
  const SumType* sum;
  bool in_halves = false, is_column_first = false;
};

std::string product_head(const Product& product) {
  const int64_t each = mma_terms(*product.a) / 2;
  return fmt::format(R"(
@T.prim_func(private=True)
def multiply(A: T.Buffer((32, {0}), "{1}", offset_factor=1, scope="warp"), B: T.Buffer((32, {0}), "{2}", offset_factor=1, scope="warp"), C: T.Buffer((32, 8), "{3}", offset_factor=1, scope="warp")):
    with T.block("root"):
        T.reads(C[0:32, 0:8], A[0:32, 0:{0}], B[0:32, 0:{0}])
        T.writes(C[0:32, 0:8])
)",
                     each, product.a->dtype, product.b->dtype, product.sum->dtype);
}

std::string product_description(const Product& product) {
  const int64_t terms = mma_terms(*product.a), pack = pack_of(*product.a);
  const auto factor = [&](const MmaElement& element, std::string_view buffer, const std::string& place) {
    const std::string loaded = fmt::format("{}[{}]", buffer, place);
    return element.dtype == product.sum->dtype
               ? loaded
               : fmt::format("T.cast({}, \"{}\")", loaded, product.sum->dtype);
  };
  const std::string left = factor(*product.a, "A", place_text(MmaOperand::kA, "vi", "vk", pack)),
                    right = factor(*product.b, "B", place_text(MmaOperand::kB, "vk", "vj", pack)),
                    place = place_text(MmaOperand::kC, "vi", "vj", pack);
  return fmt::format(R"(        for i, j, k in T.grid(16, 16, {}):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[{}] = C[{}] + {}
)",
                     terms, place, place,
                     product.is_column_first ? right + " * " + left : left + " * " + right);
}

// Two instructions of 8 columns; with `in_halves` each is two of half the terms.
std::string product_by_mma(const Product& product) {
  const int64_t terms = mma_terms(*product.a), pack = pack_of(*product.a), steps = product.in_halves ? 2 : 1;
  std::string text = "        for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n";
  for (int64_t half = 0; half < 2; ++half) {
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t in_a = 4 * pack / steps, in_b = 2 * pack / steps;
      const int64_t a = step * in_a, b = half * 2 * pack + step * in_b, c = half * 4;
      text += fmt::format(
          "            T.evaluate(T.ptx_mma(\"{}\", \"m16n8k{}\", \"row\", \"col\", \"{}\", \"{}\", \"{}\", "
          "T.address_of(A[tx, {}:{}]), 0, T.address_of(B[tx, {}:{}]), 0, T.address_of(C[tx, {}:{}]), 0, "
          "False))\n",
          product.sum->dtype, terms / steps, product.a->ptx, product.b->ptx, product.sum->ptx, a, a + in_a, b,
          b + in_b, c, c + 4);
    }
  }
  return text;
}

bool is_known(const Product& product) {
  if (!product.a || !product.b || !product.sum || bytes_of(*product.a) != bytes_of(*product.b)) return false;
  const auto is_byte_float = [](const MmaElement& element) { return element.name.starts_with("e"); };
  const bool has_own_sum = product.sum->dtype == product.a->sum && product.sum->dtype == product.b->sum,
             sums_halves = product.sum->name == "f16" && product.a->name == "f16";
  const bool fits = product.a == product.b || product.sum->name == "i32" ||
                    (is_byte_float(*product.a) && is_byte_float(*product.b));
  return fits && (has_own_sum || sums_halves) && (!product.in_halves || bytes_of(*product.a) == 2);
}

std::optional<TensorIntrin> product_intrinsic(std::string_view name) {
  Product product{take_one(&name, kElements), take_one(&name, kElements), take_one(&name, kSums)};
  // a fragment is the same however its tile lies in memory
  take(&name, "_trans_a"), take(&name, "_trans_b");
  product.in_halves = take(&name, "_half_steps");
  product.is_column_first = take(&name, "_columns_first");
  if (!name.empty() || !is_known(product)) return std::nullopt;
  const std::string head = product_head(product);
  return TensorIntrin{program(head + product_description(product)), program(head + product_by_mma(product))};
}

// ---- sums

std::optional<TensorIntrin> fill_intrinsic(std::string_view name) {
  const SumType* sum = take_one(&name, kSums);
  if (!sum || !name.empty()) return std::nullopt;
  const std::string head = fmt::format(R"(
@T.prim_func(private=True)
def fill(C: T.Buffer((32, 8), "{}", offset_factor=1, scope="warp")):
    with T.block("root"):
        T.reads()
        T.writes(C[0:32, 0:8])
)",
                                       sum->dtype);
  const std::string zero = fmt::format("T.{}(0)", sum->dtype);
  return TensorIntrin{
      program(head + fmt::format(R"(        for i, j in T.grid(16, 16):
            with T.block("init"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[{}] = {}
)",
                                 place_text(MmaOperand::kC, "vi", "vj", 1), zero)),
      program(head + fmt::format(R"(        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for n in T.unroll(8):
                C[tx, n] = {}
)",
                                 zero))};
}

std::optional<TensorIntrin> store_intrinsic(std::string_view name) {
  const SumType* sum = take_one(&name, kSums);
  if (!sum || !take(&name, "_")) return std::nullopt;
  const std::string_view scope = name == "shared_dyn" ? "shared.dyn" : name;
  if (scope != "global" && scope != "shared" && scope != "shared.dyn") return std::nullopt;
  const std::string head = fmt::format(R"(
@T.prim_func(private=True)
def store(c: T.handle, d: T.handle):
    row = T.int64()
    C = T.match_buffer(c, (32, 8), "{0}", offset_factor=1, scope="warp")
    D = T.match_buffer(d, (16, 16), "{0}", offset_factor=1, strides=[row, 1], scope="{1}")
    with T.block("root"):
        T.reads(C[0:32, 0:8])
        T.writes(D[0:16, 0:16])
)",
                                       sum->dtype, scope);
  return TensorIntrin{program(head + fmt::format(R"(        for i, j in T.grid(16, 16):
            with T.block("store"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[{}]
)",
                                                 place_text(MmaOperand::kC, "vi", "vj", 1))),
                      program(head + R"(        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for n in T.unroll(4):
                for m in T.vectorized(2):
                    D[tx // 4 + n % 2 * 8, n // 2 * 8 + tx % 4 * 2 + m] = C[tx, n * 2 + m]
)")};
}

}  // namespace

const MmaElement* mma_element(DataType dtype, bool tf32) {
  const auto* found = std::ranges::find_if(kElements, [&](const MmaElement& element) {
    return element.dtype == dtype.str() && (element.name != "tf32" || tf32);
  });
  return found == std::end(kElements) ? nullptr : found;
}

int64_t mma_terms(const MmaElement& element) { return 32 / bytes_of(element); }

std::array<PrimExpr, 2> mma_place(MmaOperand operand, const PrimExpr& row, const PrimExpr& column,
                                  int64_t pack) {
  const int64_t group = 4 * pack;
  const auto part = [](const PrimExpr& whole, int64_t modulus, int64_t divisor) {
    return floordiv(floormod(whole, modulus), divisor);
  };
  switch (operand) {
    case MmaOperand::kA:
      return {floormod(row, 8) * 4 + part(column, group, pack), part(column, 2 * group, group) * (2 * pack) +
                                                                    part(row, kMmaSize, 8) * pack +
                                                                    floormod(column, pack)};
    case MmaOperand::kB:
      return {
          floormod(column, 8) * 4 + part(row, group, pack),
          part(column, kMmaSize, 8) * (2 * pack) + part(row, 2 * group, group) * pack + floormod(row, pack)};
    default:
      return {floormod(row, 8) * 4 + part(column, 8, 2),
              part(column, kMmaSize, 8) * 4 + part(row, kMmaSize, 8) * 2 + floormod(column, 2)};
  }
}

std::string mma_load_name(const MmaElement& element, MmaOperand operand, bool is_transposed) {
  return fmt::format("mma_ldmatrix_{}_{}{}", element.name, operand == MmaOperand::kA ? "a" : "b",
                     is_transposed ? "_trans" : "");
}

std::string mma_product_name(const MmaElement& a, const MmaElement& b, DataType sum, bool halves,
                             bool is_column_first) {
  const SumType* type = sum_of(sum);
  return fmt::format("mma_{}{}{}{}{}", a.name, b.name, type ? type->name : "", halves ? "_half_steps" : "",
                     is_column_first ? "_columns_first" : "");
}

std::string mma_fill_name(DataType sum) { return fmt::format("mma_fill_16x16_{}", sum_of(sum)->name); }

std::optional<TensorIntrin> mma_intrinsic(const std::string& name) {
  std::string_view rest = name;
  if (!take(&rest, "mma_")) return std::nullopt;
  if (take(&rest, "ldmatrix_")) return load_intrinsic(rest);
  if (take(&rest, "fill_16x16_")) return fill_intrinsic(rest);
  if (take(&rest, "store_16x16_")) return store_intrinsic(rest);
  return product_intrinsic(rest);
}

}  // namespace tilewright::schedule
