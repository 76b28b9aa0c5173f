// Builds whose float results depend on the program and its inputs alone: the same bits with open and fixed extents,
// alone and in a batch, with any number of threads, with and without records of tuning.
#pragma once
#include "tilewright/ir/pass.h"
#include "tilewright/records/record.h"

namespace tilewright::driver {

/// Leaves out what may give other bits, for one call of build_graph.
class Reproducible {
 public:
  /// Changes `context`: no convolution is computed by Winograd, whose tiles are chosen by the size of pictures.
  /// Raises UserError for target c without -fp-contract=off: its compiler decides about multiply-adds.
  Reproducible(const ir::Target& target, ir::PassContext& context, const records::Database* records);
  /// The records that add in the order of the default schedule; null if there are none at all.
  const records::Database* records() const { return same_sums_.records ? &same_sums_ : nullptr; }

 private:
  struct SameSums final : records::Database {
    const records::Database* records = nullptr;
    std::optional<records::Record> best(const records::Key& key) const override;
  };
  SameSums same_sums_;
};

}  // namespace tilewright::driver
