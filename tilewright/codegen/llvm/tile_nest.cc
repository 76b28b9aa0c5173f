#include "tilewright/codegen/llvm/tile_nest.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::codegen {
namespace {
using namespace tir;

constexpr int64_t kMostRows = 16, kMostTiles = 8, kMostDistance = int64_t{1} << 30;

// A loop, and the number of elements by which one iteration moves each access.
struct Turn {
  const ForNode* loop = nullptr;
  int64_t extent = 0, sum = 0, row = 0, column = 0;
  bool is_linear = true;  // false: `row` and `column` have no meaning
  bool is_term() const { return sum == 0; }
};

class Matcher {
 public:
  explicit Matcher(const ForNode* loop) : loop_(loop) {}

  TileNest match() {
    const BufferStoreNode* store = find_loops();
    take_operands(store);
    for (Turn& turn : turns_) measure(turn);
    take_instruction();
    take_rest();
    list_products();
    nest_.is_row_streamed = loop_->annotations.get_bool(kStreamRows, false);
    // hand-written programs may contain any value
    const int64_t next = loop_->annotations.get_int(kPrefetchPanel, 0);
    if (next > 0 && next <= kMostDistance) nest_.next_columns = next;
    return std::move(nest_);
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    throw UserError(loop_, "{}: {}", kMatrixTiles, reason)
        .help(
            "it takes loops over a sum of products, whose innermost ones are rows (up to 16), columns (16), "
            "groups (up to 16) and the elements of a group of 32 bits");
  }

  const BufferStoreNode* find_loops() {
    for (Stmt stmt(loop_);;) {
      const auto* loop = stmt.as<ForNode>();
      if (!loop) {
        if (const auto* store = stmt.as<BufferStoreNode>()) return store;
        refuse("a loop contains other statements than the sum");
      }
      turns_.push_back({loop});
      if (!as_const_int(loop->extent, &turns_.back().extent)) turns_.back().extent = 0;
      stmt = loop->body;
    }
  }

  void take_operands(const BufferStoreNode* store) {
    const auto* add = store->value.as<AddNode>();
    const auto* load = add ? add->a.as<BufferLoadNode>() : nullptr;
    const auto* product = add ? add->b.as<MulNode>() : nullptr;
    if (!load || !product || load->buffer != store->buffer ||
        !is_same_index(load->indices[0], store->indices[0]))
      refuse("the statement is not a sum of products");
    take(nest_.sum, load);
    const auto* a = product->a.as<CastNode>();
    const auto* b = product->b.as<CastNode>();
    const auto* x = a ? a->value.as<BufferLoadNode>() : nullptr;
    const auto* y = b ? b->value.as<BufferLoadNode>() : nullptr;
    if (!x || !y) refuse("the factors are not converted elements");
    take(nest_.row, x);
    take(nest_.column, y);
    const DataType row = nest_.row.dtype, column = nest_.column.dtype;
    const bool is_bytes = row.bits == 8 && column.bits == 8 && !row.is_float() && !column.is_float() &&
                          !row.is_bool() && !column.is_bool();
    const bool is_bfloats = row.is_bfloat16() && column.is_bfloat16();
    if (nest_.sum.dtype != (is_bytes ? kInt32 : kFloat32) || !(is_bytes || is_bfloats))
      refuse("it adds products of int8 or uint8 in int32, or of bfloat16 in float32");
    if (x->buffer->data == load->buffer->data || y->buffer->data == load->buffer->data)
      refuse("a factor lies in the memory of the sums");
    for (const BufferLoadNode* factor : {x, y}) {
      walk(factor->indices[0], [&](const BufferLoadNode* read) {
        if (read->buffer->data == load->buffer->data) refuse("the position of a factor depends on the sums");
      });
    }
    group_ = 32 / row.bits;
  }

  static void take(TileOperand& operand, const BufferLoadNode* load) {
    operand.buffer = load->buffer;
    operand.dtype = load->dtype;
    operand.index = load->indices[0];
  }

  static bool find_step(const PrimExpr& index, const Var& var, int64_t* elements) {
    const std::optional<int64_t> step = step_of(index, var);
    if (step) *elements = *step;
    return step.has_value();
  }

  void measure(Turn& turn) const {
    const Var& var = turn.loop->loop_var;
    turn.is_linear =
        find_step(nest_.row.index, var, &turn.row) && find_step(nest_.column.index, var, &turn.column);
    const bool is_sum_linear = find_step(nest_.sum.index, var, &turn.sum);
    if (!is_sum_linear || (!turn.is_term() && !turn.is_linear))
      refuse(fmt::format("the iterations of loop {} are not a constant number of elements apart",
                         var->name_hint));
    if (!turn.is_term() && (turn.extent == 0 || !is_zero(turn.loop->min)))
      refuse(fmt::format("loop {} over results has no constant range from 0", var->name_hint));
  }

  // Removes and returns the innermost loop for which `fits` holds.
  template <class Fits>
  Turn take_innermost(std::string_view what, Fits fits) {
    const auto found = std::find_if(turns_.rbegin(), turns_.rend(),
                                    [&](const Turn& turn) { return turn.is_linear && fits(turn); });
    if (found == turns_.rend()) refuse(fmt::format("there is no loop over {}", what));
    const Turn turn = *found;
    turns_.erase(std::next(found).base());
    start(turn.loop);
    return turn;
  }

  // Sets the accesses at the first iteration of `loop`.
  void start(const ForNode* loop) {
    for (TileOperand* operand : {&nest_.sum, &nest_.row, &nest_.column})
      operand->index = substitute(operand->index, {{loop->loop_var.get(), loop->min}});
  }

  void take_instruction() {
    const Turn lane = take_innermost("columns", [&](const Turn& turn) {
      return turn.sum == 1 && turn.extent <= kMostRows && (turn.row == 0) != (turn.column == 0);
    });
    const bool is_swapped = lane.row != 0;  // columns * rows
    if (is_swapped) {
      std::swap(nest_.row, nest_.column);
      for (Turn& turn : turns_) std::swap(turn.row, turn.column);
    }
    if ((is_swapped ? lane.row : lane.column) != group_) refuse("columns are not stored in groups");
    take_innermost("the elements of a group", [&](const Turn& turn) {
      return turn.is_term() && turn.extent == group_ && turn.row == 1 && turn.column == 1;
    });
    const Turn row = take_innermost("rows", [&](const Turn& turn) {
      return !turn.is_term() && turn.extent <= kMostRows && turn.column == 0 && turn.row != 0;
    });
    const Turn groups = take_innermost("groups", [&](const Turn& turn) {
      return turn.is_term() && turn.extent > 0 && turn.extent <= kMostRows && turn.row == group_ &&
             turn.column != 0;
    });
    nest_.shape = {row.extent, lane.extent, groups.extent};
    nest_.sum.stride = row.sum;
    nest_.row.stride = row.row;
    nest_.column.stride = groups.column;
  }

  // Assigns the remaining loops: over terms, or over tiles, which have registers of their own.
  void take_rest() {
    for (const Turn& turn : turns_) {
      if (turn.is_term()) {
        nest_.terms.push_back(turn.loop);
        continue;
      }
      start(turn.loop);
      tiles_.push_back(turn);
    }
    take_unrolled();
  }

  // Makes the innermost loop over terms the unrolled one if its steps are not constant.
  void take_unrolled() {
    constexpr int64_t kMostTurns = 9;
    const auto inner =
        std::find_if(turns_.rbegin(), turns_.rend(), [](const Turn& turn) { return turn.is_term(); });
    if (inner == turns_.rend() || inner->is_linear || inner->extent < 2 || inner->extent > kMostTurns ||
        !is_zero(inner->loop->min))
      return;
    nest_.terms.pop_back();
    nest_.num_unrolled = inner->extent;
    nest_.unrolled = inner->loop->loop_var;
  }

  // The position of `offset` among the tiles of an operand.
  static size_t place_of(TileOperand& operand, int64_t offset) {
    const auto found = std::find(operand.offsets.begin(), operand.offsets.end(), offset);
    const auto place = static_cast<size_t>(found - operand.offsets.begin());
    if (found == operand.offsets.end()) operand.offsets.push_back(offset);
    return place;
  }

  void list_products() {
    int64_t count = 1;
    for (const Turn& turn : tiles_) count *= std::min(turn.extent, kMostTiles + 1);
    if (count > kMostTiles) refuse("it needs more than 8 tile registers");
    for (int64_t n = 0; n < count; ++n) {
      int64_t rest = n, sum = 0, row = 0, column = 0;
      for (auto turn = tiles_.rbegin(); turn != tiles_.rend(); ++turn) {
        const int64_t at = rest % turn->extent;
        rest /= turn->extent;
        sum += at * turn->sum, row += at * turn->row, column += at * turn->column;
      }
      nest_.products.push_back(
          {place_of(nest_.sum, sum), place_of(nest_.row, row), place_of(nest_.column, column)});
    }
    if (nest_.sum.offsets.size() + nest_.row.offsets.size() + nest_.column.offsets.size() > kMostTiles)
      refuse("it needs more than 8 tile registers");
    const size_t results = nest_.sum.offsets.size() * static_cast<size_t>(nest_.shape.rows) *
                           static_cast<size_t>(nest_.shape.columns);
    if (sum_elements(nest_).size() != results) refuse("results overlap");
  }

  const ForNode* loop_;
  std::vector<Turn> turns_, tiles_;  // outermost first
  int64_t group_ = 1;
  TileNest nest_;
};

}  // namespace

TileNest tile_nest(const ForNode* loop) { return Matcher(loop).match(); }

std::set<int64_t> sum_elements(const TileNest& nest) {
  std::set<int64_t> elements;
  for (const int64_t offset : nest.sum.offsets) {
    for (int64_t i = 0; i < nest.shape.rows; ++i) {
      for (int64_t j = 0; j < nest.shape.columns; ++j) elements.insert(offset + i * nest.sum.stride + j);
    }
  }
  return elements;
}

std::optional<int64_t> step_of(const PrimExpr& index, const Var& var) {
  int64_t step = 0;
  const PrimExpr next = substitute(index, {{var.get(), var + imm(1, var->dtype)}});
  return as_const_int(arith::Analyzer().simplify(next - index), &step) ? std::optional(step) : std::nullopt;
}

bool is_same_index(const PrimExpr& a, const PrimExpr& b) {
  return is_zero(arith::Analyzer().simplify(a - b));
}

}  // namespace tilewright::codegen
