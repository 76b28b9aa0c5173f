// Printing in tests: the text of a program, and the way back.
#pragma once
#include "script_testing.h"
#include "tilewright/script/print.h"

namespace tilewright::script {

inline std::string printed(const ir::ObjectRef& node, std::string dialect = "native") {
  PrintOptions options;
  options.dialect = std::move(dialect);
  options.show_header = false;
  return print(node, options);
}

/// `program` prints as itself.
inline void expect_prints_itself(std::string_view program, const std::string& dialect = "native") {
  EXPECT_EQ(printed(parse_text(program), dialect), dedent(program));
}

/// `program` prints as `expected`, and that means the same again.
inline void expect_prints(std::string_view program, std::string_view expected) {
  const ir::ObjectRef parsed = parse_text(program);
  EXPECT_EQ(printed(parsed), dedent(expected));
  expect_equal(parsed, parse_text(expected));
}

/// In each dialect that says everything, the text of `node` means `node`, and prints the same again.
inline void expect_round_trip(const ir::ObjectRef& node) {
  for (const char* dialect : {"native", "0.23", "0.27"}) {
    PrintOptions options;
    options.dialect = dialect;
    options.show_meta = true;
    const std::string text = print(node, options);
    SCOPED_TRACE(text);
    try {
      ParseOptions unchecked;  // printing keeps what a program says, also where the check would refuse it
      unchecked.check_well_formed = false;
      const ir::ObjectRef again = parse(source_of(text), unchecked);
      expect_equal(node, again);
      EXPECT_EQ(print(again, options), text);
    } catch (const Error& error) {
      ADD_FAILURE() << error.render();
    }
  }
}
inline void expect_round_trip(std::string_view program) { expect_round_trip(parse_text(program)); }

}  // namespace tilewright::script
