#include "tilewright/lower/common/bounds_error.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/raise_error.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

// Limits on the length of an expression and the number of variables in messages, which people read.
constexpr size_t kMaxText = 200, kMaxVars = 6, kMaxLine = 500;

constexpr const char* kHelpDivision =
    "an index or an extent needs the result; guard it with a condition, or call with other values";

std::string short_text(const PrimExpr& expr) {
  std::string text = expr_text(expr);
  if (text.size() > kMaxText) text = text.substr(0, kMaxText) + "...";
  return text;
}

// Appends the variables of `index` with placeholders for their values: " at i = 3, j = 4".
void append_variables(const PrimExpr& index, NumberedText* out) {
  std::vector<Var> vars;
  walk(index, [&](const VarNode* var) {
    const bool is_number = var->dtype.is_integral() && var->dtype.is_scalar();
    if (is_number && std::find(vars.begin(), vars.end(), Var(var)) == vars.end()) vars.emplace_back(var);
  });
  if (vars.size() > kMaxVars) vars.resize(kMaxVars);
  for (const Var& var : vars) {
    out->text += fmt::format("{}{} = {}", var == vars[0] ? " at " : ", ", var->name_hint, kNumber);
    out->values.emplace_back(var);
  }
}

// "dimension 0 of buffer A has extent n = 4, but its index vi + 1 is", with a placeholder for the extent's
// value.
NumberedText begin_outside(const Buffer& buffer, size_t dim, const PrimExpr& index, const PrimExpr& number) {
  const PrimExpr& extent = buffer->shape[dim];
  NumberedText out;
  out.text = fmt::format("dimension {} of buffer {} has extent {}", dim, buffer->name, short_text(extent));
  if (!is<IntImmNode>(extent)) {
    out.text += fmt::format(" = {}", kNumber);
    out.values.push_back(number);
  }
  out.text +=
      is<IntImmNode>(index) ? ", but its index is" : fmt::format(", but its index {} is", short_text(index));
  return out;
}

std::string help_outside(const PrimExpr& extent) {
  const auto* count = extent.as<IntImmNode>();
  return fmt::format("indices are 0 to {}; guard the access with a condition, or shorten the loop",
                     count ? std::to_string(count->value - 1) : short_text(extent) + " - 1");
}

}  // namespace

Stmt raise_with_place(const std::string& function, const Span& place, NumberedText text,
                      const std::string& help) {
  const bool is_shown = place && place.source->line_text(place.line).size() <= kMaxLine;
  UserError error(is_shown ? place : Span(), "{}: {}", function, text.text);
  if (!help.empty()) error.help("{}", help);
  // without "error: ", which is added where the error is printed
  const std::string rendered = escaped(error.render().substr(std::string_view("error: ").size()));
  std::string format;
  auto value = text.values.begin();
  for (const char c : rendered) {
    if (c != kNumber) {
      format += c;
      continue;
    }
    const bool is_unsigned = (*value)->dtype == DataType::uint(64);
    format += is_unsigned ? "%llu" : "%lld";
    if (!is_unsigned) *value = tir::cast(kInt64, *value);
    ++value;
  }
  return raise_error("IndexError", std::move(format), text.values);
}

Stmt raise_outside(const std::string& function, const Span& place, const Buffer& buffer, size_t dim,
                   const PrimExpr& index, const PrimExpr& value) {
  NumberedText out = begin_outside(buffer, dim, index, buffer->shape[dim]);
  out.text += fmt::format(" {}", kNumber);
  out.values.push_back(value);
  if (!is<VarNode>(index)) append_variables(index, &out);
  return raise_with_place(function, place, std::move(out), help_outside(buffer->shape[dim]));
}

Stmt raise_outside_at(const std::string& function, const Span& place, const SizedAccess& access) {
  NumberedText out = begin_outside(access.buffer, access.dim, access.written, access.extent);
  out.text += fmt::format(" {}", kNumber);
  out.values.push_back(access.index);
  for (size_t n = 0; n < std::min(access.at.size(), kMaxVars); ++n) {
    const auto& [var, value] = access.at[n];
    out.text += fmt::format("{}{} = {}", n == 0 ? " at " : ", ", var->name_hint, kNumber);
    out.values.push_back(value);
  }
  return raise_with_place(function, place, std::move(out), help_outside(access.buffer->shape[access.dim]));
}

Stmt raise_region(const std::string& function, const Span& place, const BufferRegion& region, size_t dim,
                  const RegionEnds& ends) {
  return raise_with_place(function, place,
                          {fmt::format("match_buffer: {} reaches {}:{} in dimension {}, which has extent {}",
                                       region_text(region), kNumber, kNumber, dim, kNumber),
                           {ends.min, ends.end, ends.extent}},
                          "");
}

Stmt raise_division_by_zero(const std::string& function, const Span& place, const BinaryOpNode* division) {
  NumberedText out;
  out.text =
      fmt::format("{} divides by {}, which is 0", short_text(PrimExpr(division)), short_text(division->b));
  if (!is<VarNode>(division->b)) append_variables(division->b, &out);
  return raise_with_place(function, place, std::move(out), kHelpDivision);
}

Stmt raise_division_overflow(const std::string& function, const Span& place, const BinaryOpNode* division) {
  const PrimExpr least = min_value(division->dtype.element());
  return raise_with_place(function, place,
                          {fmt::format("{} divides {} by {}, which is -1: the quotient overflows {}",
                                       short_text(PrimExpr(division)), kNumber, short_text(division->b),
                                       division->dtype.element().str()),
                           {least}},
                          kHelpDivision);
}

}  // namespace tilewright::lower
