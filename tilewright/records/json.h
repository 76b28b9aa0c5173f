// Records as JSON: lines of files that people exchange, and notes in the libraries of models.
#pragma once
#include <string>
#include <string_view>

#include "tilewright/records/record.h"

namespace tilewright::records {

/// One line of JSON without Record::id, which is of a database.
std::string to_json(const Record& record);
/// The record of such a line.  Raises UserError for other texts, and for those of newer versions.
Record from_json(std::string_view text);

}  // namespace tilewright::records
