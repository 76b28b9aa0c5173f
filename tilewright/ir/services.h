// Services that field tables provide for every node: compare, hash, print for debugging, save and load.
#pragma once
#include <optional>
#include <string>

#include "tilewright/ir/node.h"
#include "tilewright/support/hash.h"

namespace tilewright::ir {

struct EqualOptions {
  bool map_free_vars = false;  // let free variables of a correspond to free variables of b, one to one
};

/// The first place where two nodes differ: the field path from the root and the two values there.
struct Mismatch {
  std::string path;  // "body.block.reads[0].buffer"
  ObjectRef a, b;    // the nodes at the path; null where one side has none
  std::string reason;
};

/// True if `a` and `b` are the same program up to the names of bound variables.  Name hints and spans are
/// ignored.
bool structural_equal(const ObjectRef& a, const ObjectRef& b, const EqualOptions& options = {});
/// The first difference, or nullopt if they are equal.
std::optional<Mismatch> first_mismatch(const ObjectRef& a, const ObjectRef& b,
                                       const EqualOptions& options = {});

/// A 128-bit hash of the meaning of `node`: equal for structurally equal nodes, and the same in every
/// process, on every machine and in every version.  Bound variables are hashed by position, free ones by
/// name, dtype and order of first use.
Hash128 structural_hash(const ObjectRef& node);

/// "For(loop_var=i, min=0, ...)": every field, for debugging.
std::string repr(const ObjectRef& node);

/// `node` with everything it refers to as JSON text; shared nodes (variables, buffers) stay shared.
std::string save_json(const ObjectRef& node);
/// The inverse.  Raises UserError if save_json did not write the text, or a newer version did.
ObjectRef load_json(std::string_view text);

}  // namespace tilewright::ir
