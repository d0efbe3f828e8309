# The headers as a program sees them, <trine/…>, in the build tree too.
#
#   trine_headers    the public API: core/include, version.h, ops.h, lists.h, abi.h
#   trine_contract   what backends, packs and fakes see: <trine/…> of the contract, and "backends/…"

set(TRINE_GENERATED_INCLUDE "${PROJECT_BINARY_DIR}/include")
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.h.in"
  "${TRINE_GENERATED_INCLUDE}/trine/version.h" @ONLY)
# The contract lives in backends/ and is installed under trine/: forward one to the other.
foreach(header ops.h lists.h abi.h)
  file(CONFIGURE OUTPUT "${TRINE_GENERATED_INCLUDE}/trine/${header}"
    CONTENT "#include \"${PROJECT_SOURCE_DIR}/backends/${header}\"\n")
endforeach()

add_library(trine_headers INTERFACE)
target_include_directories(trine_headers INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/include>"
  "$<BUILD_INTERFACE:${TRINE_GENERATED_INCLUDE}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(trine_headers INTERFACE cxx_std_20)

add_library(trine_contract INTERFACE)
target_include_directories(trine_contract INTERFACE
  "${PROJECT_SOURCE_DIR}" "${TRINE_GENERATED_INCLUDE}")
