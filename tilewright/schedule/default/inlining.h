// What rules for every kind of machine do first: blocks that work element by element go into their readers.
#pragma once
#include <functional>

#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/default/try_rule.h"

namespace tilewright::schedule {

/// The blocks of a function that are in no other one.
std::vector<BlockRef> outer_blocks(Schedule& sch, const std::string& func_name);
/// The shapes of those that are left and of a known form.
std::vector<BlockShape> shapes_of(const Schedule& sch, const std::vector<BlockRef>& blocks);
/// Those of `shapes` that read what `writer` stores.
std::vector<const BlockShape*> readers_of(const std::vector<BlockShape>& shapes, const BlockShape& writer);

/// True if a machine computes the values of `shape` again for nothing where `sum` reads them.
using IsFree = std::function<bool(const BlockShape& shape, const BlockShape& sum)>;
/// Computes what is cheap, or needed once, where it is read.
///
/// blocks    of the function, in order; those that are gone afterwards are stale
/// attempts  gets the reasons of those that stay
void inline_elements(Schedule& sch, const std::vector<BlockRef>& blocks, const IsFree& is_free,
                     std::vector<Attempt>* attempts);

}  // namespace tilewright::schedule
