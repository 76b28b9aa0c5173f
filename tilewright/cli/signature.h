// Inputs and outputs of a model, as its executable describes them, and arrays that match them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tilewright/cli/npz.h"
#include "tilewright/runtime/value.h"
#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::cli {

/// The parsed form of "float32[n, 784]".
struct TensorType {
  DataType dtype = DataType::void_();  // void: any
  bool has_shape = false;
  std::vector<std::string> dims;  // numbers, or names and formulas of symbolic sizes
};
/// Parses `text`.  Raises Unsupported, naming `input`, if it does not describe a tensor.
TensorType parse_tensor_type(const std::string& text, const std::string& input);

/// "  image  float32[n, 784]" for each value: the list of inputs in help lines.
std::string list_text(const std::vector<runtime::vm::Description>& values);

/// The arrays in the order of `function`'s parameters.  A single unnamed array matches a single parameter.
/// Raises UserError for missing or unknown names; the virtual machine checks shapes and dtypes.
std::vector<runtime::Value> match_inputs(const runtime::vm::BytecodeFunction& function,
                                         std::vector<NamedTensor> arrays, const std::string& file);

/// Sizes of symbolic dimensions that the user gives: {"n", 8}.
using DimSizes = std::map<std::string, int64_t>;
/// Parses {"n=8", ...}.  Raises UserError for anything else.
DimSizes parse_dim_sizes(std::string_view option, const std::vector<std::string>& texts);
/// Parses {"n=1,8", ...}; a name that is given again has all of its sizes.  Raises UserError for anything else.
std::map<std::string, std::vector<int64_t>> parse_size_lists(std::string_view option,
                                                             const std::vector<std::string>& texts);
/// Upper bounds of integer inputs, by the number of their parameter.
using IndexBounds = std::map<size_t, int64_t>;
/// Parses the note "indices" of an executable: the parameters that are indices, and the number of elements
/// they index.
IndexBounds parse_index_bounds(std::string_view note);
/// Arrays of random values: floats in [0, 1), bools, integers 0 and 1 or, for parameters in `bounds`, from 0
/// up to the bound.  Symbolic dimensions have their size in `sizes`, or 1.  The same seed gives the same
/// values.  Raises UserError for a size that no input has, Unsupported for inputs without a known dtype or
/// shape.
std::vector<runtime::Value> random_inputs(const runtime::vm::BytecodeFunction& function, uint64_t seed,
                                          const DimSizes& sizes, const IndexBounds& bounds = {});

}  // namespace tilewright::cli
