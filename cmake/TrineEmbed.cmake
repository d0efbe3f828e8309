# Puts files into a target as data: kernel sources, fatbins, golden digests.
#
#   trine_embed_files(trine_backend_opencl NAME opencl_sources FILES reduce/naive.cl …)
#
# makes "opencl_sources.h" for the target's sources:
#
#   struct trine_embedded_file { const char* name; const unsigned char* data; size_t size; };
#   extern const struct trine_embedded_file opencl_sources[];     in the order of FILES
#   extern const size_t opencl_sources_count;
#
# A file's name is its path below the current binary or source folder, else below the project's, or
# its last part where it lies elsewhere. A NUL follows the data and isn't counted. A changed file is embedded again, and
# FILES may be outputs of custom commands of the same folder.

function(trine_embed_files target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "FILES")
  if(NOT arg_NAME OR NOT arg_FILES)
    message(FATAL_ERROR "trine_embed_files(${target}): NAME and FILES are required")
  endif()
  set(files "")
  set(texts "")
  set(rows "")
  set(index 0)
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    trine_embedded_name("${file}" name)
    string(APPEND texts
      "name_${index}: .asciz \"${name}\"\n"
      "  .balign 16\n"
      "data_${index}: .incbin \"${file}\"\n"
      "end_${index}: .byte 0\n")
    string(APPEND rows "  .8byte name_${index}, data_${index}, end_${index} - data_${index}\n")
    list(APPEND files "${file}")
    math(EXPR index "${index} + 1")
  endforeach()

  set(stem "${CMAKE_CURRENT_BINARY_DIR}/embedded/${arg_NAME}")
  file(CONFIGURE OUTPUT "${stem}.s" @ONLY CONTENT
".section .rodata
@texts@
.section .data.rel.ro, \"aw\"
  .balign 8
  .globl @arg_NAME@
  .hidden @arg_NAME@
@arg_NAME@:
@rows@
  .globl @arg_NAME@_count
  .hidden @arg_NAME@_count
@arg_NAME@_count: .8byte @index@
.section .note.GNU-stack, \"\", %progbits
")
  file(CONFIGURE OUTPUT "${stem}.h" @ONLY CONTENT
"/* Files embedded in this library, written by trine_embed_files(). */
#pragma once
#include <stddef.h>

#ifndef TRINE_EMBEDDED_FILE
#define TRINE_EMBEDDED_FILE
struct trine_embedded_file {
  const char* name;
  const unsigned char* data; /* a NUL follows and isn't counted */
  size_t size;
};
#endif

#ifdef __cplusplus
extern \"C\" {
#endif
extern __attribute__((visibility(\"hidden\"))) const struct trine_embedded_file @arg_NAME@[];
extern __attribute__((visibility(\"hidden\"))) const size_t @arg_NAME@_count;
#ifdef __cplusplus
}
#endif
")
  # The assembler reads the files, so no compiler's dependency scan sees them.
  set_source_files_properties("${stem}.s" PROPERTIES OBJECT_DEPENDS "${files}")
  target_sources(${target} PRIVATE "${stem}.s")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/embedded")
endfunction()

function(trine_embedded_name file result)
  foreach(base "${CMAKE_CURRENT_BINARY_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}")
    cmake_path(IS_PREFIX base "${file}" NORMALIZE inside)
    if(inside)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${base}")
      set(${result} "${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  cmake_path(GET file FILENAME name)
  set(${result} "${name}" PARENT_SCOPE)
endfunction()
