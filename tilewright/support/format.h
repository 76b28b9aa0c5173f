// {fmt} for messages.  Its code is compiled once, in format.cc: as headers alone it would be compiled, and
// optimised, in every file that throws an error, which took half of the build's time.
#pragma once
#include <fmt/core.h>

#ifndef FMT_HEADER_ONLY  // other projects, which include installed headers, bring their own {fmt}
extern template void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view,
                                             fmt::basic_format_args<fmt::buffer_context<char>>,
                                             fmt::detail::locale_ref);
#endif
