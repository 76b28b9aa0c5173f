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
struct Step {
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
    for (Step& step : steps_) measure(step);
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
      steps_.push_back({loop});
      if (!as_const_int(loop->extent, &steps_.back().extent)) steps_.back().extent = 0;
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

  void measure(Step& step) const {
    const Var& var = step.loop->loop_var;
    step.is_linear =
        find_step(nest_.row.index, var, &step.row) && find_step(nest_.column.index, var, &step.column);
    const bool is_sum_linear = find_step(nest_.sum.index, var, &step.sum);
    if (!is_sum_linear || (!step.is_term() && !step.is_linear))
      refuse(fmt::format("the iterations of loop {} are not a constant number of elements apart",
                         var->name_hint));
    if (!step.is_term() && (step.extent == 0 || !is_zero(step.loop->min)))
      refuse(fmt::format("loop {} over results has no constant range from 0", var->name_hint));
  }

  // Removes and returns the innermost loop for which `fits` holds.
  template <class Fits>
  Step take_innermost(std::string_view what, Fits fits) {
    const auto found = std::find_if(steps_.rbegin(), steps_.rend(),
                                    [&](const Step& step) { return step.is_linear && fits(step); });
    if (found == steps_.rend()) refuse(fmt::format("there is no loop over {}", what));
    const Step step = *found;
    steps_.erase(std::next(found).base());
    start(step.loop);
    return step;
  }

  // Sets the accesses at the first iteration of `loop`.
  void start(const ForNode* loop) {
    for (TileOperand* operand : {&nest_.sum, &nest_.row, &nest_.column})
      operand->index = substitute(operand->index, {{loop->loop_var.get(), loop->min}});
  }

  void take_instruction() {
    const Step lane = take_innermost("columns", [&](const Step& step) {
      return step.sum == 1 && step.extent <= kMostRows && (step.row == 0) != (step.column == 0);
    });
    const bool is_swapped = lane.row != 0;  // columns * rows
    if (is_swapped) {
      std::swap(nest_.row, nest_.column);
      for (Step& step : steps_) std::swap(step.row, step.column);
    }
    if ((is_swapped ? lane.row : lane.column) != group_) refuse("columns are not stored in groups");
    take_innermost("the elements of a group", [&](const Step& step) {
      return step.is_term() && step.extent == group_ && step.row == 1 && step.column == 1;
    });
    const Step row = take_innermost("rows", [&](const Step& step) {
      return !step.is_term() && step.extent <= kMostRows && step.column == 0 && step.row != 0;
    });
    const Step groups = take_innermost("groups", [&](const Step& step) {
      return step.is_term() && step.extent > 0 && step.extent <= kMostRows && step.row == group_ &&
             step.column != 0;
    });
    nest_.shape = {row.extent, lane.extent, groups.extent};
    nest_.sum.stride = row.sum;
    nest_.row.stride = row.row;
    nest_.column.stride = groups.column;
  }

  // Assigns the remaining loops: over terms, or over tiles, which have registers of their own.
  void take_rest() {
    for (const Step& step : steps_) {
      if (step.is_term()) {
        nest_.terms.push_back(step.loop);
        continue;
      }
      start(step.loop);
      tiles_.push_back(step);
    }
    take_unrolled();
  }

  // Makes the innermost loop over terms the unrolled one if its steps are not constant.
  void take_unrolled() {
    constexpr int64_t kMostIterations = 9;
    const auto inner =
        std::find_if(steps_.rbegin(), steps_.rend(), [](const Step& step) { return step.is_term(); });
    if (inner == steps_.rend() || inner->is_linear || inner->extent < 2 || inner->extent > kMostIterations ||
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
    for (const Step& step : tiles_) count *= std::min(step.extent, kMostTiles + 1);
    if (count > kMostTiles) refuse("it needs more than 8 tile registers");
    for (int64_t n = 0; n < count; ++n) {
      int64_t rest = n, sum = 0, row = 0, column = 0;
      for (auto step = tiles_.rbegin(); step != tiles_.rend(); ++step) {
        const int64_t at = rest % step->extent;
        rest /= step->extent;
        sum += at * step->sum, row += at * step->row, column += at * step->column;
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
  std::vector<Step> steps_, tiles_;  // outermost first
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
