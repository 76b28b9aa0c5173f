#include "tilewright/lower/common/raise_error.h"

#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

std::string unescaped(const std::string& format) {
  std::string result;
  for (size_t n = 0; n < format.size(); ++n) {
    result += format[n];
    if (format[n] == '%') ++n;
  }
  return result;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

tir::Stmt raise_error(const char* kind, std::string format, const std::vector<tir::PrimExpr>& values) {
  if (values.empty()) format = unescaped(format);
  std::vector<tir::PrimExpr> args{tir::string_imm(kind), tir::string_imm(std::move(format))};
  args.insert(args.end(), values.begin(), values.end());
  return tir::EvaluateNode::make(tir::call(kInt32, "raise_error", std::move(args)));
}

}  // namespace tilewright::lower
