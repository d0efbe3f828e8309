# The settings that every target of Trine shares: build type, compiler launcher, output folders, and
# `trine_flags`, which each target of ours links PRIVATE and no target of others ever sees.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TRINE_CCACHE ccache DOC "Compiler cache, used where it is found")
  if(TRINE_CCACHE)
    # Paths below the tree count by where they are in it, so that another checkout finds what this one
    # compiled; and a precompiled header is as good as its text.
    set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
      CCACHE_SLOPPINESS=pch_defines,time_macros "${TRINE_CCACHE}")
    set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
  endif()
endif()

# The build tree has the shape of the installed one, so the registry finds backends in both:
# lib/libtrine.so, lib/trine/trine_<backend>.so, bin/trine.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/static")
set(TRINE_MODULE_DIR "${PROJECT_BINARY_DIR}/lib/trine")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(trine_flags INTERFACE)
target_compile_options(trine_flags INTERFACE
  # A fused multiply-add where the source says none would change the bits.
  $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:C,CXX>:-fvisibility=hidden>
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall> $<$<COMPILE_LANGUAGE:C,CXX>:-Wextra>
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wpedantic> $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow>
  # GCC notes every change of parameter passing since GCC 4; none of our interfaces is that old.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-psabi>)
if(TRINE_WERROR)
  target_compile_options(trine_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()

# Sanitizers must see every object of ours, so they are set for the whole directory tree. They slow
# down the optimizer more than the program: with -O1 core's tuning.cpp takes twice as long to
# compile as with -Og. Their reports need only line numbers of -g. -Og warns of sizes that it
# doesn't know.
if(TRINE_SANITIZE)
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${TRINE_SANITIZE};-fno-omit-frame-pointer;-Og;-g1;-Wno-stringop-overflow>")
  add_link_options(-fsanitize=${TRINE_SANITIZE})
  if(TRINE_SANITIZE MATCHES "undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=undefined>)
  endif()
endif()
