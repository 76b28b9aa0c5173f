#include "tilewright/records/sqlite.h"

#include "tilewright/support/error.h"

namespace tilewright::records {

void fail(int code, sqlite3* handle, const std::string& path) {
  const std::string reason = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw UserError("{} is damaged, or no database of tuning records: {}", path, reason)
          .help("it was left as it is; `sqlite3 {} .recover` prints what can be read of it", path);
    case SQLITE_FULL:
      throw UserError("{} cannot grow: {}", path, reason)
          .help("free some space on its disk; all records before this one are kept");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw UserError("{} is locked by another process: {}", path, reason)
          .help("records are added one by one, so that no program should lock it for a minute");
    case SQLITE_READONLY: throw UserError("{} cannot be written: {}", path, reason);
    default: throw UserError("{}: {}", path, reason);
  }
}

Statement::Statement(sqlite3* handle, const std::string& path, const std::string& sql)
    : handle_(handle), path_(path) {
  require(sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::require(int code) const {
  if (code != SQLITE_OK) fail(code, handle_, path_);
}

Statement& Statement::bind(int place, const std::string& value) {
  require(
      sqlite3_bind_text(statement_, place, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(int place, int64_t value) {
  require(sqlite3_bind_int64(statement_, place, value));
  return *this;
}

Statement& Statement::bind(int place, double value) {
  require(sqlite3_bind_double(statement_, place, value));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code, handle_, path_);
  return code == SQLITE_ROW;
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))) : "";
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

}  // namespace tilewright::records
