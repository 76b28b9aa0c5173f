// Products of matrices by the tensor cores of NVIDIA's GPUs: C [16, 16] += A [16, k] * B [k, 16], with 32 bytes of terms.
//
// The matrices lie in memory of scope "warp", [32, n]: n elements of each of the 32 lanes ("fragments").  Which element
// a lane has is part of the program (MmaPlace), so that what is loaded, multiplied and stored can be compared with what
// it takes the place of.
#pragma once
#include <array>
#include <optional>

#include "tilewright/schedule/intrinsics/tensor_intrin.h"

namespace tilewright::schedule {

/// Rows and columns of C; lanes of a warp.
inline constexpr int64_t kMmaSize = 16, kMmaLanes = 32;

/// What tensor cores multiply.
struct MmaElement {
  std::string_view name;   // in names of intrinsics: "f16"
  std::string_view dtype;  // in memory
  std::string_view ptx;    // in calls of ptx_mma
  std::string_view sum;    // dtype of the sums; float16 has "float16" too
};
/// The element of this dtype; with `tf32`, float32 with the precision that tensor cores keep of it.  Null if there is none.
const MmaElement* mma_element(DataType dtype, bool tf32 = false);

/// The terms of a step: columns of A and rows of B.
int64_t mma_terms(const MmaElement& element);

enum class MmaOperand { kA, kB, kC };
/// A place of a matrix as [lane, element of the lane]: of A by row and term, of B by term and column, of C by row and
/// column (PTX ISA, "Matrix fragments for mma.m16n8k16" and its kin; C and B are two of those side by side).  `pack`:
/// elements of A and B in 32 bits.
std::array<PrimExpr, 2> mma_place(MmaOperand operand, const PrimExpr& row, const PrimExpr& column,
                                  int64_t pack);

/// "mma_ldmatrix_f16_a", "mma_ldmatrix_f16_b_trans": B [16, k] -> fragment of B.
std::string mma_load_name(const MmaElement& element, MmaOperand operand, bool is_transposed);
/// "mma_f16f16f32"; `halves`: by two instructions of half the terms, as sm_75 has them; `is_column_first`: the program
/// multiplies B by A.
std::string mma_product_name(const MmaElement& a, const MmaElement& b, DataType sum, bool halves,
                             bool is_column_first);

/// "mma_fill_16x16_f32"
std::string mma_fill_name(DataType sum);

/// The intrinsic of that name; nothing for other names.
///   mma_ldmatrix_<element>_<a or b>[_trans][_dyn]   a tile of shared memory to a fragment; by ldmatrix where terms lie
///                                                   side by side or elements have 16 bits, else element by element
///   mma_<a><b><sum>[_trans_a][_trans_b][_half_steps][_columns_first]
///   mma_fill_16x16_<sum>                            zeros
///   mma_store_16x16_<sum>_<global, shared or shared_dyn>
std::optional<TensorIntrin> mma_intrinsic(const std::string& name);

}  // namespace tilewright::schedule
