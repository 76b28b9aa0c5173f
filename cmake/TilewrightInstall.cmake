# cmake --install: headers, both shared libraries, the command line, and a package for find_package(tilewright).
# Component "wheel", which a plain installation leaves out: the binaries of the Python package, side by side in it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(libraries tilewright_shared tilewright_runtime_shared)
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
foreach(target ${libraries} tilewright_core tilewright_command)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION tilewright COMPONENT wheel EXCLUDE_FROM_ALL
            RUNTIME DESTINATION tilewright COMPONENT wheel EXCLUDE_FROM_ALL)
  endif()
endforeach()

# the emulation of CUDA lies beside the runtime library
set(emulation ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/cuda_emulation)
install(DIRECTORY ${emulation} DESTINATION ${CMAKE_INSTALL_LIBDIR} USE_SOURCE_PERMISSIONS)
install(DIRECTORY ${emulation} DESTINATION tilewright USE_SOURCE_PERMISSIONS COMPONENT wheel EXCLUDE_FROM_ALL)

install(DIRECTORY tilewright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN python EXCLUDE PATTERN cli EXCLUDE)
install(TARGETS ${libraries} tilewright_flags EXPORT tilewrightTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_target_properties(tilewright_shared PROPERTIES EXPORT_NAME tilewright)
set_target_properties(tilewright_runtime_shared PROPERTIES EXPORT_NAME runtime)
if(TARGET tilewright_command)
  set_target_properties(tilewright_command PROPERTIES INSTALL_RPATH "$ORIGIN:$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS tilewright_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
install(EXPORT tilewrightTargets NAMESPACE tilewright:: DESTINATION ${package})
configure_package_config_file(cmake/tilewrightConfig.cmake.in ${CMAKE_BINARY_DIR}/gen/tilewrightConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gen/tilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/gen/tilewrightConfig.cmake ${CMAKE_BINARY_DIR}/gen/tilewrightConfigVersion.cmake
  DESTINATION ${package})
