// Statements of SQLite whose errors are UserErrors with the name of the file.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <string>

namespace tilewright::records {

/// Raises the UserError of an error `code` of SQLite in the file `path`.
[[noreturn]] void fail(int code, sqlite3* handle, const std::string& path);

/// One statement; places are numbered from 1, columns from 0.
class Statement {
 public:
  Statement(sqlite3* handle, const std::string& path, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int place, const std::string& value);
  Statement& bind(int place, int64_t value);
  Statement& bind(int place, double value);
  /// The next row; false after the last one.
  bool step();
  std::string text(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;

 private:
  void require(int code) const;
  sqlite3* handle_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace tilewright::records
