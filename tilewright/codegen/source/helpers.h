// Functions that printed text needs before it, in the words of a language: arithmetic that its operators do not
// provide, conversions of small floats, polynomials of math functions.
#pragma once
#include <string>
#include <string_view>

#include "tilewright/support/dtype.h"

namespace tilewright::codegen {

/// How a language writes such functions.
struct Spelling {
  std::string_view function;      // before a function: "static inline"
  std::string (*type)(DataType);  // "int32_t"; for small floats of which it has no arithmetic, of their bits
  bool has_float_functions = false;  // functions of float32 end in `f`: fabsf
  std::string_view take_bits;   // gives uint32 {0} the bits of float {1}: "memcpy(&{0}, &{1}, sizeof {0})"
  std::string_view take_float;  // gives float {0} the bits of uint32 {1}
};

/// The definition of tw_<name>_<dtype>: "floordiv", "max" and others (helpers.cc); empty if there is none.
std::string helper_text(std::string_view name, DataType dtype, const Spelling& spelling);

/// The function of C's <math.h> that computes operator `op`, without the `f` of float32; empty if there is none.
std::string_view math_function(std::string_view op);
/// True if `name` is one of these functions, with or without the `f`.
bool is_math_function(std::string_view name);
/// True for operators on bits and counts of them.
bool is_of_whole_numbers(std::string_view op);

/// `text` with its words that begin with @ in those of the language: @function, @uint32, @int32, @uint16, @uint8,
/// @f (the end of functions of float32), @bits(to, from) and @float(to, from).
std::string spelled(std::string_view text, const Spelling& spelling);

/// The definition of tw_<dtype>_of_float32: the bits of small float `dtype`; tw_float32_of_<dtype>, its inverse.
std::string narrow_text(DataType dtype, const Spelling& spelling);
std::string widen_text(DataType dtype, const Spelling& spelling);
/// The definition of tw_<dtype>_of_float64, which calls tw_<dtype>_of_float32.
std::string narrow_double_text(DataType dtype, const Spelling& spelling);

/// The definition of tw_<name>_float32, "exp", "sigmoid", "tanh", "erf" or "log", without branches and calls of the
/// language; empty for others.  "small_exp" is tw_small_exp.
std::string polynomial_text(std::string_view name, const Spelling& spelling);
/// The polynomial whose definition it needs besides, or "".
std::string_view polynomial_needs(std::string_view name);

}  // namespace tilewright::codegen
