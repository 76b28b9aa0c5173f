// Sums of products by Einstein's notation.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The letters of each operand and of the result in "ij,jk->ik"; spaces dropped.  Without "->" the result has
/// the letters that appear once, in alphabetical order.  Source: numpy.einsum
struct EinsumLetters {
  std::vector<std::string> operands;
  std::string result;
};
EinsumLetters parse_einsum(const std::string& subscripts);
/// The sum over the letters that the result lacks of the product of the operands.
Tensor einsum(const std::vector<Tensor>& operands, const EinsumLetters& letters);

}  // namespace tilewright::topi
