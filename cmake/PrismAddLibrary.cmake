# Helpers that every library, tool and test of Prism uses, so that flags,
# precompiled header and link rules stay equal.

# A folder may hold several targets; LLVM's check that it doesn't is switched off.
macro(prism_allow_other_sources)
  file(GLOB LLVM_OPTIONAL_SOURCES RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp *.c)
endmacro()

# prism_add_mlir_library(<name> SRC... [DEPENDS d...] [LINK_LIBS Prism...])
#   A library that may use MLIR. LINK_LIBS names Prism libraries only; MLIR and
#   LLVM always come from the shared libMLIR.so / libLLVM.so.
function(prism_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  prism_allow_other_sources()
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DEPENDS ${ARG_DEPENDS} PRISM_GENERATED
    LINK_LIBS PUBLIC ${ARG_LINK_LIBS}
    DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR)
  prism_count_lines(${name})
  mlir_target_link_libraries(${name} PUBLIC MLIRIR)
  prism_use_pch(${name})
endfunction()

# prism_add_mlir_tool(<name> SRC... [LINK_LIBS Prism...])
function(prism_add_mlir_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  set(LLVM_LINK_COMPONENTS Core Support)
  prism_allow_other_sources()
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS} DEPENDS PRISM_GENERATED)
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  mlir_target_link_libraries(${name} PRIVATE MLIROptLib)
  prism_use_pch(${name})
endfunction()

# prism_add_plain_library(<name> SRC... [LINK_LIBS ...])
#   A library without LLVM (the runtime). Exceptions stay on here because
#   nlohmann/json reports through them; none leaves the library.
function(prism_add_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  prism_count_lines(${name})
endfunction()

# Of the libraries in PRISM_COVERAGE. The others are compiled as ever.
function(prism_count_lines library)
  if(NOT library IN_LIST PRISM_COVERAGE)
    return()
  endif()
  foreach(target ${library} obj.${library})
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
    endif()
  endforeach()
endfunction()

# One precompiled header for everything that includes MLIR: a pass then costs
# about a second instead of five to ten. -DPRISM_PCH=OFF builds without it.
function(prism_use_pch target)
  if(PRISM_PCH AND TARGET PrismPCH AND NOT ${target} STREQUAL PrismPCH)
    if(TARGET obj.${target})
      target_precompile_headers(obj.${target} REUSE_FROM PrismPCH)
    else()
      target_precompile_headers(${target} REUSE_FROM PrismPCH)
    endif()
  endif()
endfunction()

# prism_export_only(<shared library> <version script>)
#   A library for host programs: what the script names is visible, nothing else,
#   and every symbol is resolved when it is linked.
function(prism_export_only name script)
  target_link_options(${name} PRIVATE -Wl,--version-script=${script} -Wl,-z,defs)
  if(PRISM_SANITIZE) # whose runtime is the program's
    target_link_options(${name} PRIVATE -Wl,-z,undefs)
  endif()
  set_target_properties(${name} PROPERTIES
    DEFINE_SYMBOL "" LINK_DEPENDS ${script}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
endfunction()
