// The plan of a sum: all that rule tile_sum decides before it changes anything.  sum_plan.cc has the axes and
// copies; parts of it are in sum_plan_tile.cc, sum_plan_matrix.cc and sum_plan_windows.cc.
#pragma once
#include "tilewright/schedule/default/cpu/dots.h"
#include "tilewright/schedule/default/cpu/prefetch.h"
#include "tilewright/schedule/default/cpu/register_tile.h"
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {

/// Tiles of 16 columns that one instruction multiplies.
struct MatrixTile {
  int64_t rows = 0;              // up to 16
  int64_t groups = 0;            // of 32 bits, of the terms: up to 16
  int64_t down = 1, across = 1;  // tiles of sums that are in registers together
  int64_t outer = 1;             // of so many rows of an image, if it has short ones
  int64_t terms = 0;             // that are added at once: their part of a panel stays in L1
  bool is_row_streamed = false;  // columns stay there, rows pass by
};

/// A panel that several iterations read, and how far the next one is.
struct NextPanel {
  int64_t distance = 0, row_bytes = 0;  // row_bytes: of vectors in an iteration; 0 for matrix tiles
};

/// The decisions of tile_sum, made before it changes anything.
struct SumPlan {
  size_t column = 0;                 // axis of the vectors
  std::optional<size_t> row;         // axis along which vectors are reused
  std::optional<size_t> outer_row;   // another one, if the first is short: then a tile takes all of `row`
  std::optional<size_t> groups;      // whose values a tile computes one after the other, as terms of one sum
  RegisterTile tile;                 // of matrix tiles: a block of sums in memory
  bool has_masks = true;             // columns that fill no vector are one with a mask
  int64_t rows = 1, outer_rows = 1;  // along both axes; their product is tile.rows
  std::vector<size_t> shared;        // outer axes that the vector operands depend on
  std::vector<size_t> others;        // outer axes that they do not depend on
  std::vector<size_t> steps;         // axes of the loops around a tile of sums, outermost first
  const BufferLoadNode* packed = nullptr;  // the operand that is copied panel by panel
  bool is_copy_needed = false;             // vectors cannot read it as it is
  const BufferLoadNode* spread = nullptr;  // the one whose rows would push each other out of the cache
  int64_t copied_panels = 1;               // that are copied together, before rows pass by
  Prefetch fetch_ahead = {};               // of vectors that do not come from L1
  int64_t few_ahead = 0;                   // bytes, of the last rows of an open number; 0: as all others
  std::optional<NextPanel> next_panel;     // each iteration over a panel fetches a part of the next one
  OrReason<DotSum> dot;                    // groups are added by an instruction; or why not
  std::optional<size_t> unrolled;          // a short step along which vectors stay: parts of elements
  std::optional<size_t> fetched;           // the innermost step along which vectors that are fetched move
  bool keeps_loops = false;                // of other steps: written out, all would need too many registers
  /// Whole tiles are multiplied by one instruction, in tile registers; or why not.
  OrReason<MatrixTile> matrix = Reason(Reason::kOther, "no instruction adds its products by groups");
  /// True if sums of a matrix tile's panel wait in memory while its terms come in parts.
  bool has_blocks() const {
    return matrix && (rows > matrix->down * matrix->rows || outer_rows > matrix->outer);
  }
  int64_t panel_width() const { return (matrix ? matrix->across : tile.vectors) * tile.lanes; }
};

/// How `sum` is tiled, or why vectors of results do not suit it.
///
/// is_packing_free  operands can have any layout, made when nobody waits
/// outer_axis       one whose values are computed one after the other: no rows of a tile
OrReason<SumPlan> plan_sum(const BlockShape& sum, const Features& features, bool is_packing_free = false,
                           std::optional<size_t> outer_axis = std::nullopt);

/// Sets the tile of `plan`, whose axes are known, and may make an outer axis one of its rows
/// (sum_plan_tile.cc).
///
/// vectors          the loads that are read in vectors of `lanes` is_packing_free  as plan_sum has it
void choose_tile(const BlockShape& sum, const std::vector<const BufferLoadNode*>& vectors, int64_t lanes,
                 const Features& features, bool is_packing_free, SumPlan& plan);
/// How many rows' lines L1 keeps of an operand whose rows are that far apart.
int64_t num_kept_rows(int64_t stride_bytes, const Features& features);
/// How many iterations of its innermost step a tile may have in registers, because neighbouring rows read
/// largely the same there; 1 if they do not, or half of the registers would not hold them.
int64_t size_of_windows(const BlockShape& sum, const SumPlan& plan,
                        const std::vector<const BufferLoadNode*>& vectors, const Features& features);
/// The innermost step of `plan`, if the vectors that neighbouring rows read in its iterations are largely the
/// same, as those of windows without sums over channels are: written out, each is loaded once
/// (sum_plan_windows.cc).
std::optional<size_t> axis_of_windows(const BlockShape& sum, const SumPlan& plan,
                                      const std::vector<const BufferLoadNode*>& vectors);
/// True if the vectors that all rows of a tile read in all steps are more than `features` has registers for
/// beside its sums: a compiler that writes all steps out would hold them there, and spill.
bool needs_loops(const BlockShape& sum, const SumPlan& plan,
                 const std::vector<const BufferLoadNode*>& vectors, const Features& features);
/// True if `sum` is better off with the conditions of `padding`, which it reads in windows, than with a copy
/// of the padded image: they say nothing of lanes, most are decided when the rows of a tile are written out,
/// and the rest by a branch around many vectors.
bool is_padding_of_windows(const BlockShape& padding, const BlockShape& sum, const Features& features);
/// Sets `plan.matrix`, and the tile if the machine has registers for tiles of such a sum
/// (sum_plan_matrix.cc).
void choose_matrix_tile(const BlockShape& sum, SumPlan& plan, const Features& features);

/// True if there are several values of the axes outside of panels on which vectors depend, as in a batch.
bool has_several_shared(const BlockShape& sum, const SumPlan& plan);

/// True if only tiles that read copies compute the sum fast: a product with a transposed matrix, or of bytes.
bool needs_tiles(const BlockShape& sum, const Features& features, bool is_packing_free);

/// An operand and how tiles read it.
struct Panels {
  tir::Buffer buffer;
  PanelLayout layout;
};
/// The operand of `sum` that is better stored in panels if its layout is free, as that of weights is: tiles
/// then read memory from one end to the other.  Nothing if there is none, or if it is so small that it stays
/// near the core anyway.
std::optional<Panels> wanted_panels(const BlockShape& sum, const Features& features);
/// The layout in which the tiles of `plan` read `operand`, which is plan.packed or could be.
PanelLayout panel_layout(const BlockShape& sum, const SumPlan& plan, const BufferLoadNode* operand);
/// A variable for each dimension of `buffer`: i0, i1, ...
std::vector<Var> index_vars(const tir::Buffer& buffer);
/// A[..., row, ..., k]  ->  A[..., k // line, row, ..., k % line]: rows are neighbours in memory.
tir::IndexMap line_map(const BlockShape& sum, const SumPlan& plan, const Features& features);
/// The map of a PanelLayout.
tir::IndexMap panel_map(const tir::Buffer& buffer, const PanelLayout& layout);

}  // namespace tilewright::schedule
