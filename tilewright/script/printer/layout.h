// Breaks long lines as the formatter `black` does, and puts carets under chosen places.
#pragma once
#include <string>
#include <vector>

#include "tilewright/script/print.h"
#include "tilewright/tir/text.h"

namespace tilewright::script {

using TextPlace = tir::ExprWriter::Place;  // offsets into a text

/// `text` with each line longer than `width` broken inside brackets; `places` are moved accordingly.
/// Every line of `text` is a whole logical line: it has no newline inside strings or brackets.
std::string wrap_lines(const std::string& text, size_t width, size_t indent_spaces,
                       std::vector<TextPlace>* places);

/// `text` with a line of carets below each line that contains one of `marked`.
std::string underline(const std::string& text, const std::vector<TextPlace>& places,
                      const std::vector<ObjectRef>& marked);

/// Converts offsets to lines and columns.
std::vector<PrintedProgram::Place> to_lines(const std::string& text, const std::vector<TextPlace>& places);

}  // namespace tilewright::script
