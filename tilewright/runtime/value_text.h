// Values as text for people, for R.print and R.assert_op.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tilewright/runtime/value.h"

namespace tilewright::runtime {

/// The contents of a value: "3", "true", "[1, 2.5]", "(1, 2)", "shape(2, 3)".  For a tensor of more than 1000
/// elements, the first and last three along each dimension; for one that is not on the CPU, only the type.
std::string value_text(const Value& value);

/// `format` with each "{}" replaced by the text of the next value; "{{" and "}}" are braces.  Values left
/// over are appended, separated by blanks.  Raises UserError if there are fewer values than placeholders.
std::string format_values(std::string_view format, std::span<const Value> values);

}  // namespace tilewright::runtime
