#include "tilewright/te/topi/einsum.h"

#include <algorithm>
#include <map>

#include "tilewright/te/topi/broadcast.h"

namespace tilewright::topi {
using namespace tir;

EinsumLetters parse_einsum(const std::string& subscripts) {
  std::string text;
  std::copy_if(subscripts.begin(), subscripts.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  EinsumLetters letters{{""}, arrow == std::string::npos ? "" : text.substr(arrow + 2)};
  for (char c : inputs) {
    if (c == ',')
      letters.operands.emplace_back();
    else
      letters.operands.back() += c;
  }
  if (arrow == std::string::npos) {
    std::string sorted = inputs;
    std::sort(sorted.begin(), sorted.end());
    for (char c : sorted) {
      if (c != ',' && std::count(sorted.begin(), sorted.end(), c) == 1) letters.result += c;
    }
  }
  return letters;
}

Tensor einsum(const std::vector<Tensor>& operands, const EinsumLetters& letters) {
  std::map<char, PrimExpr> extents;
  std::string order;  // letters by first appearance
  for (size_t n = 0; n < operands.size(); ++n) {
    for (size_t dim = 0; dim < operands[n].ndim(); ++dim) {
      const char letter = letters.operands[n][dim];
      PrimExpr& extent = extents[letter];
      if (!extent) order += letter;
      extent = extent ? broadcast_extent(extent, operands[n].shape()[dim]) : operands[n].shape()[dim];
    }
  }
  Shape shape;
  for (char letter : letters.result) shape.push_back(extents[letter]);
  std::vector<IterVar> reduced;
  std::map<char, PrimExpr> values;
  for (char letter : order) {
    if (letters.result.find(letter) != std::string::npos) continue;
    reduced.push_back(te::reduce_axis(extents[letter], std::string(1, letter)));
    values[letter] = reduced.back()->var;
  }
  const DataType dtype = operands[0].dtype();
  const Tensor sums = te::compute(
      shape,
      [&](const std::vector<Var>& i) {
        for (size_t n = 0; n < i.size(); ++n) values[letters.result[n]] = i[n];
        PrimExpr product;
        for (size_t n = 0; n < operands.size(); ++n) {
          std::vector<PrimExpr> at;
          for (size_t dim = 0; dim < operands[n].ndim(); ++dim) {
            const PrimExpr& extent = operands[n].shape()[dim];
            const PrimExpr& value = values[letters.operands[n][dim]];
            at.push_back(is_one(extent) ? make_const_int(extent->dtype, 0)
                                        : broadcast_index(extent, extents[letters.operands[n][dim]], value));
          }
          const PrimExpr element = tir::cast(dtype_of_sums(dtype), operands[n].at(at));
          product = product ? product * element : element;
        }
        return reduced.empty() ? tir::cast(dtype, product) : te::sum(product, reduced);
      },
      {.name = "T_einsum"});
  return rounded_to(sums, dtype);
}

}  // namespace tilewright::topi
