// Reshapes and permutations in a row: the elements of one tensor in another order.
#pragma once
#include <cstdint>
#include <vector>

namespace tilewright::relax {

/// What moves do to a tensor whose extents are constant.  Its dimensions are cut into parts that stay whole:
///   (56, 56, 112) -permute-> (112, 56, 56) -reshape-> (4, 28, 56, 56)    parts 56, 56, 4, 28 in order 2, 3,
///   0, 1
class Moves {
 public:
  explicit Moves(const std::vector<int64_t>& shape);

  /// The dimensions of what there is now in another order.
  void permute(const std::vector<int64_t>& axes);
  /// Another shape of as many elements; false, and nothing is changed, if parts would be cut across.
  bool reshape(const std::vector<int64_t>& shape);

  /// The same as one permutation of a view: reshape(x, view), permute_dims(.., axes), reshape(.., shape).
  struct Permutation {
    std::vector<int64_t> view, axes;
    bool is_identity() const { return axes.size() <= 1; }
    /// The shape of what is permuted.
    std::vector<int64_t> result() const {
      std::vector<int64_t> shape;
      for (const int64_t axis : axes) shape.push_back(view[static_cast<size_t>(axis)]);
      return shape;
    }
  };
  Permutation permutation() const;

 private:
  std::vector<int64_t> parts_;  // extents, as they lie in the tensor
  std::vector<size_t> order_;   // of the parts now, outermost first
  std::vector<int64_t> shape_;
};

}  // namespace tilewright::relax
