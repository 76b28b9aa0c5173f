// EXPECT_ERROR(statement, text): the statement raises an Error whose whole rendered text is `text`.
#pragma once
#include <gtest/gtest.h>

#include "tilewright/support/error.h"

#define EXPECT_ERROR(statement, expected)        \
  do {                                           \
    try {                                        \
      statement;                                 \
      ADD_FAILURE() << "nothing was raised";     \
    } catch (const ::tilewright::Error& error) { \
      EXPECT_EQ(error.render(), expected);       \
    }                                            \
  } while (false)
