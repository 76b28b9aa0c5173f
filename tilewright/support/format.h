// {fmt} for messages.  Its code is compiled once, in format.cc: in header-only mode every file that throws an
// error would compile and optimise it again, which took half of the build's time.
#pragma once
#include <fmt/core.h>

#ifndef FMT_HEADER_ONLY  // other projects that include the installed headers use {fmt} themselves
extern template void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view,
                                             fmt::basic_format_args<fmt::buffer_context<char>>,
                                             fmt::detail::locale_ref);
#endif
