// Values as text for people: what R.print and R.assert_op show.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tilewright/runtime/value.h"

namespace tilewright::runtime {

/// "3", "true", "[1, 2.5]", "(1, 2)", "shape(2, 3)": what the value holds.  A tensor of more than 1000
/// elements shows the first and last three along each dimension; one that is not on the CPU only its type.
std::string value_text(const Value& value);

/// `format` with each "{}" replaced by the text of the next value; "{{" and "}}" are braces.  Without
/// placeholders for them, further values follow after blanks. Raises UserError if there are fewer values than
/// placeholders.
std::string format_values(std::string_view format, std::span<const Value> values);

}  // namespace tilewright::runtime
