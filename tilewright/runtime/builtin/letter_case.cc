// Source: the simple case mappings of UnicodeData.txt (unicode.org, version 16).
#include "tilewright/runtime/builtin/letter_case.h"

#include <algorithm>
#include <iterator>

#include "tilewright/support/error.h"
#include "tilewright/support/utf8.h"

namespace tilewright::runtime::builtin {
namespace {

/// Characters first to last.
struct Range {
  uint32_t first, last;
  enum Kind : uint8_t {
    kNone,   // letters and signs without case
    kUpper,  // upper case; the other letter is `distance` after
    kLower,  // lower case; the other letter is `distance` before
    kSmall,  // lower case, without an upper case of one letter
    kPairs,  // upper and lower case in turn, the first is upper
  } kind;
  uint8_t distance = 0;
};

// In order; what lies between is not supported.
constexpr Range kRanges[] = {
    {0x0, 0x40, Range::kNone},         {'A', 'Z', Range::kUpper, 32},     {0x5b, 0x60, Range::kNone},
    {'a', 'z', Range::kLower, 32},     {0x7b, 0xb4, Range::kNone},        {0xb6, 0xbf, Range::kNone},
    {0xc0, 0xd6, Range::kUpper, 32},   {0xd7, 0xd7, Range::kNone},        {0xd8, 0xde, Range::kUpper, 32},
    {0xdf, 0xdf, Range::kSmall},       {0xe0, 0xf6, Range::kLower, 32},   {0xf7, 0xf7, Range::kNone},
    {0xf8, 0xfe, Range::kLower, 32},   {0x100, 0x12f, Range::kPairs},     {0x132, 0x137, Range::kPairs},
    {0x138, 0x138, Range::kNone},      {0x139, 0x148, Range::kPairs},     {0x14a, 0x177, Range::kPairs},
    {0x179, 0x17e, Range::kPairs},     {0x2b9, 0x344, Range::kNone},      {0x386, 0x386, Range::kUpper, 38},
    {0x387, 0x387, Range::kNone},      {0x388, 0x38a, Range::kUpper, 37}, {0x391, 0x3a1, Range::kUpper, 32},
    {0x3a3, 0x3ab, Range::kUpper, 32}, {0x3ac, 0x3ac, Range::kLower, 38}, {0x3ad, 0x3af, Range::kLower, 37},
    {0x3b1, 0x3c1, Range::kLower, 32}, {0x3c2, 0x3c2, Range::kLower, 31}, {0x3c3, 0x3cb, Range::kLower, 32},
    {0x400, 0x40f, Range::kUpper, 80}, {0x410, 0x42f, Range::kUpper, 32}, {0x430, 0x44f, Range::kLower, 32},
    {0x450, 0x45f, Range::kLower, 80}, {0x460, 0x481, Range::kPairs},     {0x48a, 0x4bf, Range::kPairs},
    {0x559, 0x560, Range::kNone},      {0x589, 0x109f, Range::kNone},      // Hebrew to Burmese
    {0x1100, 0x139f, Range::kNone},                                        // Hangul, Ethiopic
    {0x1400, 0x1bff, Range::kNone},                                        // Canadian syllables to Batak
    {0x2000, 0x2101, Range::kNone},                                        // punctuation, currencies
    {0x2190, 0x24b5, Range::kNone},                                        // arrows, mathematics
    {0x24ea, 0x2bff, Range::kNone},                                        // boxes, symbols
    {0x2e00, 0xa63f, Range::kNone},                                        // Chinese, Japanese, Yi
    {0xa840, 0xaaff, Range::kNone},                                        // Indic and south-east Asian
    {0xabc0, 0xfaff, Range::kNone},                                        // Hangul, private use
    {0xfb1d, 0xff20, Range::kNone},                                        // Hebrew and Arabic forms
    {0xff5b, 0x103ff, Range::kNone},                                       // halfwidth forms to Linear B
    {0x1b000, 0x1d3ff, Range::kNone},  {0x1f000, 0x10ffff, Range::kNone},  // pictures
};

uint32_t with_case(uint32_t code, bool is_upper) {
  const Range* range = std::lower_bound(std::begin(kRanges), std::end(kRanges), code,
                                        [](const Range& each, uint32_t value) { return each.last < value; });
  const bool is_known = range != std::end(kRanges) && range->first <= code;
  if (!is_known || (range->kind == Range::kSmall && is_upper))
    throw Unsupported("the case of the character U+{:04X} is not known", code)
        .help(
            "letters of ASCII, Latin, Greek and Cyrillic change their case; do it before the model is "
            "called");
  switch (range->kind) {
    case Range::kUpper: return is_upper ? code : code + range->distance;
    case Range::kLower: return is_upper ? code - range->distance : code;
    case Range::kPairs: {
      const bool is_lower = (code - range->first) % 2 != 0;
      return is_lower == is_upper ? (is_upper ? code - 1 : code + 1) : code;
    }
    default: return code;
  }
}

}  // namespace

std::string with_case(std::string_view text, bool is_upper) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    append_character(result, with_case(character.code, is_upper));
    text.remove_prefix(character.length);
  }
  return result;
}

}  // namespace tilewright::runtime::builtin
