// Loop programs that only move parts of tensors, and loop programs over parts of larger tensors.
#pragma once
#include <optional>
#include <vector>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// True if two shapes are equal except along `axis`.
bool equal_but_along(const Shape& a, const Shape& b, size_t axis);

/// output[.., begin : begin + extent, ..] = parameter `param`
struct ConcatPart {
  size_t param = 0;
  int64_t begin = 0, extent = 0;  // along the axis
};
/// A program that only concatenates two or more tensors along `axis`.
struct ConcatProgram {
  size_t axis = 0;
  std::vector<ConcatPart> parts;
  int64_t extent = 0;  // extent of the result along `axis`
};
/// nullopt for programs that compute anything else.
std::optional<ConcatProgram> concat_of(const tir::PrimFunc& func);

/// output = parameter 0 [.., begin : begin + extent, ..]
struct Slice {
  size_t axis = 0;
  int64_t begin = 0, extent = 0;  // along the axis
  int64_t whole = 0;              // extent of the parameter
};
/// The slice that each output of `func`, which has one input, is; empty for programs
/// that compute anything else.
std::vector<Slice> slices_of(const tir::PrimFunc& func);

/// Parameter `param` becomes a part of a larger tensor, which is longer only along `axis`.
struct PartOf {
  size_t param = 0, axis = 0;
  int64_t extent = 0;  // of the larger tensor
  size_t tensor = 0;   // parts with the same number belong to one tensor, which is passed once
  bool is_written = false;
};
/// True if `func` may get a part of another tensor for parameter `param`: only its elements are accessed, and
/// its extent along `axis` is known.
bool takes_part(const tir::PrimFunc& func, size_t param, size_t axis);
/// The parameter whose position the larger tensor takes: its part that is written, else its first part.
size_t place_of(const std::vector<PartOf>& parts, size_t tensor);
/// `func` over larger tensors, each at its place_of; int64 parameters after all others, in the order of
/// `parts`, hold the begin of each part.
tir::PrimFunc over_parts(const tir::PrimFunc& func, const std::vector<PartOf>& parts);

}  // namespace tilewright::relax
