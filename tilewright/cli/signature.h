// What a model takes and gives, as its executable describes it, and arrays that fit.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tilewright/cli/npz.h"
#include "tilewright/runtime/value.h"
#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::cli {

/// "float32[n, 784]" taken apart.
struct TensorType {
  DataType dtype = DataType::void_();  // void: any
  bool has_shape = false;
  std::vector<std::string> dims;  // numbers, or names and formulas of symbolic sizes
};
/// The type that `text` describes.  Raises Unsupported, naming `input`, if it is no tensor.
TensorType parse_tensor_type(const std::string& text, const std::string& input);

/// "  image  float32[n, 784]" for each: how help texts list inputs.
std::string list_text(const std::vector<runtime::vm::Description>& values);

/// The arrays in the order of `function`'s parameters.  A single array without name fits a single parameter.
/// Raises UserError for names that are missing or unknown; shapes and dtypes are left to the machine.
std::vector<runtime::Value> match_inputs(const runtime::vm::BytecodeFunction& function,
                                         std::vector<NamedTensor> arrays, const std::string& file);

/// Sizes that users give to symbolic dimensions: {"n", 8}.
using DimSizes = std::map<std::string, int64_t>;
/// {"n=8", ...} as sizes.  Raises UserError for anything else.
DimSizes parse_dim_sizes(std::string_view option, const std::vector<std::string>& texts);
/// Bounds of integers by the number of their parameter.
using IndexBounds = std::map<size_t, int64_t>;
/// What the note "indices" of an executable says: parameters that are indices, and of how many elements.
IndexBounds parse_index_bounds(std::string_view note);
/// Arrays of random numbers: floats in [0, 1), integers 0 and 1 or, of parameters in `bounds`, from 0 up to
/// the bound, bools.  Symbolic dimensions have the size of `sizes`, or 1.  The same seed gives the same
/// numbers.
/// Raises UserError for a size that no input has, Unsupported for inputs without a known dtype or shape.
std::vector<runtime::Value> random_inputs(const runtime::vm::BytecodeFunction& function, uint64_t seed,
                                          const DimSizes& sizes, const IndexBounds& bounds = {});

}  // namespace tilewright::cli
