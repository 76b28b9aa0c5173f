// Sums of products in Einstein notation.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The letters of each operand and of the result in "ij,jk->ik"; spaces are dropped.  Without "->" the result
/// has the letters that appear once, in alphabetical order.  Source: numpy.einsum
struct EinsumLetters {
  std::vector<std::string> operands;
  std::string result;
};
EinsumLetters parse_einsum(const std::string& subscripts);
/// The product of the operands, summed over the letters that the result lacks.
Tensor einsum(const std::vector<Tensor>& operands, const EinsumLetters& letters);

}  // namespace tilewright::topi
