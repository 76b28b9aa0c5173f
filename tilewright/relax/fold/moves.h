// Sequences of reshapes and permutations, as one reordering of the elements of a tensor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::relax {

/// The effect of moves on a tensor whose extents are constant.  Dimensions are divided into parts that stay
/// whole:
///   (56, 56, 112) -permute-> (112, 56, 56) -reshape-> (4, 28, 56, 56)
///   parts 56, 56, 4, 28 in order 2, 3, 0, 1
class Moves {
 public:
  explicit Moves(const std::vector<int64_t>& shape);

  /// Permutes the dimensions of the current shape.
  void permute(const std::vector<int64_t>& axes);
  /// Reshapes to as many elements; returns false and changes nothing if that would divide parts differently.
  bool reshape(const std::vector<int64_t>& shape);

  /// All moves as one permutation of a view: reshape(x, view), permute_dims(.., axes), reshape(.., shape).
  struct Permutation {
    std::vector<int64_t> view, axes;
    bool is_identity() const { return axes.size() <= 1; }
    /// The shape after the permutation.
    std::vector<int64_t> result() const {
      std::vector<int64_t> shape;
      for (const int64_t axis : axes) shape.push_back(view[static_cast<size_t>(axis)]);
      return shape;
    }
  };
  Permutation permutation() const;

 private:
  std::vector<int64_t> parts_;  // extents, as they lie in the tensor
  std::vector<size_t> order_;   // the current order of the parts, outermost first
  std::vector<int64_t> shape_;
};

}  // namespace tilewright::relax
