#include "tilewright/schedule/default/choices.h"

#include <algorithm>

#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::schedule {
namespace {

std::vector<int64_t> yes_or_no(const Features&) { return {0, 1}; }

// Sums that fill the registers, and as many vectors as a tile has at most.
std::vector<int64_t> tile_rows(const Features& features) {
  std::vector<int64_t> rows;
  for (int64_t count = 1; count <= features.num_vector_registers / 2; ++count) rows.push_back(count);
  return rows;
}
std::vector<int64_t> tile_vectors(const Features&) { return {1, 2, 3, 4, 5, 6, 8}; }
std::vector<int64_t> panels(const Features&) { return {1, 2, 4, 8, 16}; }

// From the next lines to several times what memory takes to come.
std::vector<int64_t> distances(const Features& features) {
  std::vector<int64_t> bytes{0};
  for (int64_t each = 4 * features.line_bytes; each <= 4 * features.far_fetch_bytes(); each *= 2)
    bytes.push_back(each);
  return bytes;
}

std::vector<int64_t> strips(const Features&) { return {0, 1, 2, 3, 4, 6, 8, 14}; }
std::vector<int64_t> rows_of_blocks(const Features&) { return {1, 2, 4, 8, 16, 32}; }

std::vector<int64_t> row_parts(const Features& features) {
  std::vector<int64_t> parts{1};
  for (int64_t each : {1, 2, 4}) {
    if (each * features.num_cores > 1) parts.push_back(each * features.num_cores);
  }
  return parts;
}

constexpr PlanChoice kChoices[] = {
    {"tile_rows", "rows of a register tile", true, &tile_rows},
    {"tile_vectors", "vectors of each row of a register tile", true, &tile_vectors},
    {"packs_panels", "copies the operand of vectors panel by panel before it is read", true, &yes_or_no},
    {"copied_panels", "panels that are copied together", true, &panels},
    {"panels_inside", "a tile of rows takes all panels before the next one does", true, &yes_or_no},
    {"fetch_ahead", "bytes ahead that vectors are fetched; 0: not at all", true, &distances},
    {"fetches_next_panel", "fetches the next panel while this one is multiplied", true, &yes_or_no},
    {"row_parts", "parts of the rows, each of which takes all panels", true, &row_parts},
    {"strip_tiles", "tile rows of a strip of Winograd's convolution; 0: all at once", true, &strips},
    {"block_rows", "rows of a pool that are computed together", true, &rows_of_blocks},
    {"inlined", "is computed where it is read", false, &yes_or_no},
};

}  // namespace

std::span<const PlanChoice> plan_choices() { return kChoices; }

bool is_plan(std::string_view annotation) { return annotation.starts_with(kPlan); }

int64_t planned(const Block& block, std::string_view name, int64_t by_rules) {
  if (block->annotations.empty()) return by_rules;
  const int64_t value = block->annotations.get_int(std::string(kPlan) + std::string(name), kByRules);
  return value == kByRules ? by_rules : value;
}

void require_plan(const Schedule& sch, BlockRef block) {
  std::vector<std::string> names;
  for (const PlanChoice& each : kChoices) names.push_back(std::string(kPlan) + std::string(each.name));
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (const auto& [name, value] : sch.get(block)->annotations) {
    if (!is_plan(name) || std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw UserError("block {} is annotated with {}, which is no decision of the rules",
                    sch.get(block)->name_hint, name)
        .help("{}", nearest_names_text(name, views));
  }
}

void remove_plan(Schedule& sch, BlockRef block) {
  const ir::AttrMap annotations = sch.get(block)->annotations;
  for (const auto& [name, value] : annotations) {
    if (is_plan(name)) sch.call("unannotate", block, name);
  }
}

}  // namespace tilewright::schedule
