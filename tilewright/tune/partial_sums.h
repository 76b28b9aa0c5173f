// Sums whose terms the default schedule adds apart from each other, as lanes of vectors: other tiles of them that give
// the same bits keep these partial sums.
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"

namespace tilewright::tune {

/// How the default schedule of a sum adds its terms.
struct PartialSums {
  size_t axis = 0;  // whose neighbouring terms are added apart from each other
  std::vector<int64_t>
      lanes;  // how many partial sums, then how many of these, ...; none: in the order of the program
};
PartialSums default_sums(const schedule::Schedule& sch, const schedule::BlockShape& sum,
                         const target::Features& features);

/// `block` with these partial sums; the blocks that compute them, first to last.
///
/// dimension  which of its dimensions tells partial sums apart: 0 where vectors hold neighbouring results, -1 where
///            they hold partial sums of one result
std::vector<schedule::BlockRef> make_partial_sums(schedule::Schedule& sch, schedule::BlockRef block,
                                                  const PartialSums& sums, int64_t dimension);

}  // namespace tilewright::tune
