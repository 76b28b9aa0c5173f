#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tilewright/support/base64.h"
#include "tilewright/support/dtype.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"
#include "tilewright/support/fraction.h"
#include "tilewright/support/hash.h"
#include "tilewright/support/near.h"
#include "tilewright/support/utf8.h"

namespace tilewright {
namespace {

TEST(Error, ShowsPlaceCaretNotesAndHelp) {
  Ref<Source> source(new Source("my_module.py", "for i in range(128):\n    B[vi] = A[vi + 1]\n", 5));
  UserError error(Span{source, 6, 14, 6, 20}, "index {} of buffer {} may reach {}, but its extent is {}",
                  "vi + 1", "A", 128, 128);
  error.note(Span{source, 5, 0, 5, 20}, "i goes up to {} here", 127)
      .help("guard the access or shorten the loop");
  EXPECT_EQ(error.render(),
            "error: index vi + 1 of buffer A may reach 128, but its extent is 128\n"
            "  my_module.py:6:15\n"
            "   6 |     B[vi] = A[vi + 1]\n"
            "     |               ^^^^^^\n"
            "note: i goes up to 127 here\n"
            "   5 | for i in range(128):\n"
            "     | ^^^^^^^^^^^^^^^^^^^^\n"
            "help: guard the access or shorten the loop");
}

TEST(Error, CaretSkipsNonAsciiCharactersAsOneColumnEach) {
  Ref<Source> source(new Source("f.py", "x = \"\xC3\xA9\xC3\xA9\" + y"));
  UserError error(Span{source, 1, 13, 1, 14}, "y is unknown");
  EXPECT_EQ(error.render(),
            "error: y is unknown\n  f.py:1:14\n   1 | x = \"\xC3\xA9\xC3\xA9\" + y\n     |            ^");
}

TEST(Error, NeighboursAreShownWhereThereIsText) {
  const auto source = Ref<Source>(new Source("f.py", "first\n\nlast line\n"));
  UserError error(Span{source, 1, 0, 1, 5}, "no");
  error.show_neighbours();
  EXPECT_EQ(error.render(), "error: no\n  f.py:1:1\n   1 | first\n     | ^^^^^");
  UserError last(Span{source, 3, 5, 3, 9}, "no");
  last.show_neighbours();
  EXPECT_EQ(last.render(), "error: no\n  f.py:3:6\n   3 | last line\n     |      ^^^^");
  const auto three = Ref<Source>(new Source("f.py", "a\nb\nc\nd"));
  UserError middle(Span{three, 2, 0, 2, 1}, "no");
  middle.show_neighbours();
  EXPECT_EQ(middle.render(), "error: no\n  f.py:2:1\n   1 | a\n   2 | b\n     | ^\n   3 | c");
}

TEST(Error, InternalErrorAsksForTheScript) {
  EXPECT_EQ(InternalError("field {} is missing", "body").render(),
            "internal error: field body is missing\n"
            "help: this is a bug in tilewright; please report it with the script that shows it");
}

TEST(Error, SpanBeyondTheTextStillRenders) {
  Ref<Source> source(new Source("f.py", "a"));
  EXPECT_EQ(UserError(Span{source, 9, 40, 9, 50}, "no such line").render(),
            "error: no such line\n  f.py:9:41\n   9 | \n     | ^");
}

TEST(DataType, TextRoundTrips) {
  for (const char* text : {"bool", "int8", "uint64", "float16", "float32x4", "bfloat16", "float8_e4m3fn",
                           "int4x8", "handle", "void", "float32xvscalex4"}) {
    EXPECT_EQ(DataType::parse(text).str(), text);
  }
  EXPECT_EQ(DataType::parse("int").str(), "int32");
}

TEST(DataType, UnknownNamesAreRefused) {
  for (const char* text : {"", "float", "int7", "float32x", "float32x0", "x4", "int99999999999", "flaot32"}) {
    DataType result;
    EXPECT_EQ(DataType::try_parse(text, &result), std::string_view(text) == "float") << text;
  }
  try {
    DataType::parse("flaot32");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(
        error.render(),
        "error: unknown dtype \"flaot32\"\n"
        "help: dtypes are bool, int8..int64, uint8..uint64, float16, float32, float64, bfloat16, "
        "float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float4_e2m1fn, int4, "
        "handle; append x<lanes> for a vector, e.g. \"float32x4\"");
  }
}

TEST(Hasher, IsTheSameInEveryProcess) {
  EXPECT_EQ(Hasher().add("tile").add(uint64_t{7}).finish().hex(),
            Hasher().add("tile").add(uint64_t{7}).finish().hex());
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
}

TEST(Base64, RoundTripsEveryLength) {
  std::string bytes;
  for (int n = 0; n < 67; ++n) {
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
    bytes += static_cast<char>(n * 37);
  }
  EXPECT_EQ(base64_encode("tile"), "dGlsZQ==");
}

TEST(Base64, RefusesWhatIsNot) {
  for (const char* text : {"abc", "ab=c", "====", "a===", "ab!d", "ab==ab=="})
    EXPECT_THROW(base64_decode(text), UserError) << text;
}

TEST(Fraction, IsTheSimplestThatRoundsToTheFloat) {
  const auto text = [](double value) {
    const Fraction found = simplest_fraction(value);
    return fmt::format("{}/{}", found.over, found.under);
  };
  EXPECT_EQ(text(0.6f), "3/5");
  EXPECT_EQ(text(1.0f / 3), "1/3");
  EXPECT_EQ(text(2), "2/1");
  EXPECT_EQ(text(-0.25), "-1/4");
  EXPECT_EQ(text(1333.0f / 800), "1333/800");
  EXPECT_EQ(text(0), "0/1");
  EXPECT_EQ(text(4294967296.0), "4294967296/1");
  for (const float value : {0.7312345f, 127.00391f, 1e-6f, 0.99999994f}) {
    const Fraction found = simplest_fraction(value);
    EXPECT_EQ(static_cast<float>(static_cast<double>(found.over) / static_cast<double>(found.under)), value);
  }
}

TEST(NearNames, SuggestsByEditDistance) {
  EXPECT_EQ(nearest_names_text("flaot", {"float", "int", "bool"}), "did you mean float?");
  EXPECT_EQ(nearest_names_text("add", {"and", "odd", "subtract"}), "did you mean and or odd?");
  EXPECT_EQ(nearest_names_text("convolution", {"a", "b"}), "the names are a, b");
  EXPECT_EQ(nearest_names_text("AA", {"A", "B", "i"}), "did you mean A?");
  EXPECT_EQ(nearest_names_text("x", {"A", "B", "i"}), "the names are A, B, i");
  EXPECT_EQ(nearest_names_text("x", {"i"}), "the only one is i");
}

TEST(File, IsReadWholeOrNotAtAll) {
  const std::string path = testing::TempDir() + "tilewright_support_file";
  std::ofstream(path, std::ios::binary) << std::string("a\0\n\xff", 4);
  EXPECT_EQ(read_bytes(path), std::string("a\0\n\xff", 4));
  std::ofstream(path, std::ios::binary).flush();
  EXPECT_EQ(read_bytes(path), "");
  std::filesystem::remove(path);
  EXPECT_EQ(read_bytes(path), std::nullopt);
  EXPECT_EQ(read_bytes(testing::TempDir()), std::nullopt);
}

TEST(Utf8, CharactersOfEveryLengthComeBack) {
  for (const uint32_t code :
       {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xd7ffu, 0xe000u, 0xffffu, 0x10000u, 0x10ffffu}) {
    std::string text;
    append_character(text, code);
    text += "z";
    const Character character = first_character(text);
    EXPECT_EQ(character.code, code);
    EXPECT_EQ(character.length + 1, text.size());
  }
  EXPECT_EQ(first_character("\x80").length, 0u);
}

TEST(Utf8, TheFirstByteOfNoCharacter) {
  EXPECT_EQ(utf8_fault(""), std::string_view::npos);
  EXPECT_EQ(utf8_fault("a\xC3\xA9z"), std::string_view::npos);
  EXPECT_EQ(utf8_fault("a\xC3\xA9\xFFz"), 3u);
  EXPECT_EQ(utf8_fault("ab\xE2\x82"), 2u);  // cut short
}

TEST(Printable, WholeTextsAreCheckedForUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("abc\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  for (const char* text : {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "abc\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(Printable, BytesThatAreNoCharactersAreEscaped) {
  EXPECT_EQ(printable("abc\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), "abc\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(printable("a\xFF\x80z"), "a\\xff\\x80z");
  EXPECT_EQ(printable("\xC3"), "\\xc3");                             // cut short
  EXPECT_EQ(printable("\xC0\x80"), "\\xc0\\x80");                    // an overlong 0
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last character
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

}  // namespace
}  // namespace tilewright
