// Loop programs that only move parts of tensors, and loop programs over parts of larger tensors.
#pragma once
#include <optional>
#include <vector>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// Whether two shapes are the same but along `axis`.
bool equal_but_along(const Shape& a, const Shape& b, size_t axis);

/// output[.., begin : begin + extent, ..] = parameter `param`
struct ConcatPart {
  size_t param = 0;
  int64_t begin = 0, extent = 0;  // along the axis
};
/// A program that only puts at least two tensors one after the other along `axis`.
struct ConcatProgram {
  size_t axis = 0;
  std::vector<ConcatPart> parts;
  int64_t extent = 0;  // of the whole
};
/// Nothing for programs that do more.
std::optional<ConcatProgram> concat_of(const tir::PrimFunc& func);

/// output = parameter 0 [.., begin : begin + extent, ..]
struct Slice {
  size_t axis = 0;
  int64_t begin = 0, extent = 0;  // along the axis
  int64_t whole = 0;              // extent of the parameter
};
/// For each output of `func`, which has one input, the part that it is; none for programs that do more.
std::vector<Slice> slices_of(const tir::PrimFunc& func);

/// Parameter `param` is a part of a larger tensor: all of it, but along `axis`, where the tensor is longer.
struct PartOf {
  size_t param = 0, axis = 0;
  int64_t extent = 0;  // of the larger tensor
  size_t tensor = 0;   // parts of the same number are of one tensor, which is passed once
  bool is_written = false;
};
/// Whether `func` may get a part of another tensor for parameter `param`: it is used by its elements alone,
/// and its extent along `axis` is known.
bool takes_part(const tir::PrimFunc& func, size_t param, size_t axis);
/// The parameter at whose place the larger tensor is passed: its written part, else its first one.
size_t place_of(const std::vector<PartOf>& parts, size_t tensor);
/// `func` over larger tensors, each at its place_of; where the parts is said
/// by int64 parameters after all others, in the order of `parts`.
tir::PrimFunc over_parts(const tir::PrimFunc& func, const std::vector<PartOf>& parts);

}  // namespace tilewright::relax
