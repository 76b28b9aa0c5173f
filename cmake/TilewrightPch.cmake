# Precompiled headers: what most files of the layers above tir include, compiled once (about 1.6 s less per file).
# Off while a header below is being changed often: everything that uses it compiles again anyway.
# Files must still include what they use: the layers below, installed headers and make tidy compile without.
option(TILEWRIGHT_PCH "precompile the headers that most files include" OFF)

set(tilewright_pch_headers
  <algorithm> <functional> <map> <optional> <string> <unordered_map> <variant> <vector>
  ${PROJECT_SOURCE_DIR}/tilewright/ir/rewrite.h ${PROJECT_SOURCE_DIR}/tilewright/ir/services.h
  ${PROJECT_SOURCE_DIR}/tilewright/ir/walk.h ${PROJECT_SOURCE_DIR}/tilewright/support/error.h
  ${PROJECT_SOURCE_DIR}/tilewright/tir/builder.h)
set(tilewright_pch_layers arith analysis te relax script schedule tune lower driver explain frontend cli codegen)

if(TILEWRIGHT_PCH)
  file(WRITE ${PROJECT_BINARY_DIR}/pch/empty.cc "")
  add_library(tilewright_pch OBJECT ${PROJECT_BINARY_DIR}/pch/empty.cc)
  target_link_libraries(tilewright_pch PRIVATE tilewright_flags tilewright_format)
  # ccache compares contents, and instances made once serve all users
  set(tilewright_pch_options -Xclang -fno-pch-timestamp -fpch-instantiate-templates)
  target_compile_options(tilewright_pch PRIVATE ${tilewright_pch_options})
  target_precompile_headers(tilewright_pch PRIVATE ${tilewright_pch_headers})
endif()

# tilewright_use_pch(<layer> [headers...]): the layer's library; with the headers that most of its files include besides
function(tilewright_use_pch layer)
  if(NOT TILEWRIGHT_PCH)
    return()
  endif()
  if(layer IN_LIST tilewright_pch_layers)
    set(common ${tilewright_pch_headers})
  endif()
  if(ARGN)
    tilewright_own_pch(tilewright_${layer} ${ARGN} ${common})
  elseif(common)
    target_compile_options(tilewright_${layer} PRIVATE ${tilewright_pch_options})
    target_precompile_headers(tilewright_${layer} REUSE_FROM tilewright_pch)
  endif()
endfunction()

# tilewright_own_pch(<target> <headers...>): headers from the root of the project, or in <>
function(tilewright_own_pch target)
  if(TILEWRIGHT_PCH)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ REGEX "^tilewright/")
    target_compile_options(${target} PRIVATE ${tilewright_pch_options})
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# tilewright_use_test_pch(<program>): GoogleTest and the same headers, for test programs without definitions of their own
function(tilewright_use_test_pch program)
  if(NOT TILEWRIGHT_PCH)
    return()
  endif()
  if(NOT TARGET tilewright_test_pch)
    add_executable(tilewright_test_pch ${PROJECT_BINARY_DIR}/pch/main.cc)
    file(WRITE ${PROJECT_BINARY_DIR}/pch/main.cc "int main() { return 0; }\n")
    target_link_libraries(tilewright_test_pch PRIVATE tilewright_flags tilewright_format GTest::gtest GTest::gmock)
    target_compile_options(tilewright_test_pch PRIVATE ${tilewright_pch_options} ${tilewright_test_options})
    target_precompile_headers(tilewright_test_pch PRIVATE <gtest/gtest.h> <gmock/gmock.h> ${tilewright_pch_headers})
  endif()
  target_compile_options(${program} PRIVATE ${tilewright_pch_options})
  target_precompile_headers(${program} REUSE_FROM tilewright_test_pch)
endfunction()
