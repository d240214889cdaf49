# cmake --install: the tools, the C API with the compiler behind it, the runtime,
# their headers, and the package that find_package(Prism) finds. The tree can be
# moved; LLVM's shared libraries stay where they were found.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(prism_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Prism)
set_target_properties(PrismC PROPERTIES EXPORT_NAME C)
set_target_properties(PrismRuntime PROPERTIES EXPORT_NAME Runtime)
set_target_properties(PrismC PrismCompilerLibrary PROPERTIES
  INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIR}")
set_target_properties(prism-calibrate prism-compile prism-opt prism-lsp-server prism-reduce PROPERTIES
  INSTALL_RPATH "${LLVM_LIBRARY_DIR}")

install(TARGETS PrismC PrismRuntime EXPORT PrismTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS PrismCompilerLibrary LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS prism-calibrate prism-compile prism-opt prism-run prism-lsp-server prism-reduce
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/prism-c include/prism-runtime DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT PrismTargets NAMESPACE Prism:: DESTINATION ${prism_package_dir})
set(prism_compiler_library ${CMAKE_INSTALL_LIBDIR}/libPrismCompiler.so)
configure_package_config_file(cmake/PrismConfig.cmake.in ${CMAKE_BINARY_DIR}/PrismConfig.cmake
  INSTALL_DESTINATION ${prism_package_dir} PATH_VARS prism_compiler_library)
# Before 1.0 a minor version may break what the one before it had.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/PrismConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/PrismConfig.cmake ${CMAKE_BINARY_DIR}/PrismConfigVersion.cmake
  DESTINATION ${prism_package_dir})
