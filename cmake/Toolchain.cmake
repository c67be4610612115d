# Finds LLVM and MLIR: the PyPI wheels, or with MLIR_DIR (the folder that holds MLIRConfig.cmake)
# another MLIR 22 built with shared libraries.
#
# Sets TWINJIT_INCLUDE_DIRS, TWINJIT_LLVM_LIBRARY, TWINJIT_MLIR_LIBRARIES and TWINJIT_INSTALL_RPATH.
#
# From the wheels, MLIR is libMLIRPythonCAPI.so: it exports MLIR's C++ symbols and is the library
# behind `mlir.ir`, so that a live module's types are ours too. Two MLIRs in one process have two
# sets of TypeIDs, and casts between them assert.
if(NOT MLIR_DIR AND DEFINED ENV{MLIR_DIR})
  set(MLIR_DIR "$ENV{MLIR_DIR}")
endif()

if(MLIR_DIR)
  # Not find_package: its targets are MLIR's static libraries, which must not be linked here.
  get_filename_component(prefix "${MLIR_DIR}/../../.." ABSOLUTE)
  if(NOT EXISTS "${prefix}/include/mlir/IR/MLIRContext.h")
    message(FATAL_ERROR "MLIR_DIR is ${MLIR_DIR}, but ${prefix}/include has no MLIR headers; "
                        "give the folder that holds MLIRConfig.cmake, PREFIX/lib/cmake/mlir")
  endif()
  set(TWINJIT_INCLUDE_DIRS "${prefix}/include")
  find_library(TWINJIT_LLVM_LIBRARY NAMES LLVM LLVM-22 PATHS "${prefix}/lib" NO_DEFAULT_PATH REQUIRED)
  # The library behind the bindings first, then MLIR's own shared library.
  find_library(TWINJIT_MLIR_LIBRARIES NAMES MLIRPythonCAPI MLIR
               PATHS "${prefix}/python_packages/mlir_core/mlir/_mlir_libs" "${prefix}/lib"
               NO_DEFAULT_PATH REQUIRED)
  get_filename_component(llvm_folder "${TWINJIT_LLVM_LIBRARY}" DIRECTORY)
  get_filename_component(mlir_folder "${TWINJIT_MLIR_LIBRARIES}" DIRECTORY)
  set(TWINJIT_INSTALL_RPATH "${llvm_folder};${mlir_folder}")
else()
  execute_process(COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/find_wheels.py"
                  OUTPUT_VARIABLE wheels COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "llvm=([^\n]+)" _ "${wheels}")
  set(llvm_folder "${CMAKE_MATCH_1}")
  string(REGEX MATCH "mlir=([^\n]+)" _ "${wheels}")
  set(mlir_folder "${CMAKE_MATCH_1}")
  set(TWINJIT_INCLUDE_DIRS "${mlir_folder}/include" "${llvm_folder}/include")
  set(TWINJIT_LLVM_LIBRARY "${llvm_folder}/lib/libLLVM.so")
  set(TWINJIT_MLIR_LIBRARIES "${mlir_folder}/_mlir_libs/libMLIRPythonCAPI.so")
  # site-packages/twinjit/_native/ -> site-packages/{llvm,mlir}
  set(TWINJIT_INSTALL_RPATH "$ORIGIN/../../llvm/lib;$ORIGIN/../../mlir/_mlir_libs")
endif()
list(APPEND TWINJIT_MLIR_LIBRARIES "${TWINJIT_LLVM_LIBRARY}")

list(GET TWINJIT_INCLUDE_DIRS -1 llvm_headers)
file(STRINGS "${llvm_headers}/llvm/Config/llvm-config.h" version_line
     REGEX "define LLVM_VERSION_STRING")
if(NOT version_line MATCHES "\"22\\.")
  message(FATAL_ERROR "Twinjit needs LLVM and MLIR 22, but found ${version_line}")
endif()
message(STATUS "LLVM: ${TWINJIT_LLVM_LIBRARY} (${version_line})")
message(STATUS "MLIR: ${TWINJIT_MLIR_LIBRARIES}")

# The exact builds linked against, for the check at import (empty where the linker wrote no ID).
function(twinjit_build_id library variable)
  execute_process(COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/build_id.py"
                  "${library}" OUTPUT_VARIABLE id OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${id}" PARENT_SCOPE)
endfunction()
list(GET TWINJIT_MLIR_LIBRARIES 0 mlir_library)
twinjit_build_id("${TWINJIT_LLVM_LIBRARY}" TWINJIT_LLVM_BUILD)
twinjit_build_id("${mlir_library}" TWINJIT_MLIR_BUILD)
if(MLIR_DIR)
  set(TWINJIT_MLIR_AT_RUN_TIME "${mlir_library}")
else()
  set(TWINJIT_MLIR_AT_RUN_TIME "$ORIGIN/../../mlir/_mlir_libs/libMLIRPythonCAPI.so")
endif()
add_compile_definitions(TWINJIT_LLVM_BUILD="${TWINJIT_LLVM_BUILD}"
                        TWINJIT_MLIR_BUILD="${TWINJIT_MLIR_BUILD}"
                        TWINJIT_MLIR_AT_RUN_TIME="${TWINJIT_MLIR_AT_RUN_TIME}")
