# tilewright_shared: libtilewright.so, every layer below cli and python as a whole, with LLVM inside.
# Only symbols of namespace tilewright and of the C interface leave it (cmake/exports.map), so that another LLVM may live in
# the same process.  The runtime stays in its own library.  Never link one program with both this and a layer.
add_library(tilewright_shared SHARED)
set_target_properties(tilewright_shared PROPERTIES
  OUTPUT_NAME tilewright
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_libraries(tilewright_shared PUBLIC tilewright_runtime_shared tilewright_flags
  $<BUILD_INTERFACE:tilewright_format> $<INSTALL_INTERFACE:fmt::fmt-header-only>)
target_link_options(tilewright_shared PRIVATE
  -Wl,--gc-sections -Wl,--as-needed -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
get_property(built_layers GLOBAL PROPERTY TILEWRIGHT_LAYERS)
foreach(target ${built_layers})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    # all its objects; the archive itself brings the libraries that the layer links
    target_sources(tilewright_shared PRIVATE $<TARGET_OBJECTS:${target}>)
    target_link_libraries(tilewright_shared PRIVATE ${target})
  endif()
endforeach()
