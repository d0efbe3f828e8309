# Backends and rung packs: shared libraries that show one symbol and hide everything else, so that
# two of them, or one of them and the program, can hold the same library without meeting.
#
#   trine_add_backend(opencl SOURCES backend.cpp … [LIBRARIES …])   target trine_backend_opencl
#   trine_add_pack(openblas  SOURCES pack.cpp …    [LIBRARIES …])   target trine_pack_openblas
#   trine_add_module(fake ENTRY trine_backend_v1 OUTPUT trine_fake FOLDER dir SOURCES … )
#
# Backends land in lib/trine/ where the registry looks; packs in lib/trine/packs/, because a pack
# is loaded only when it is asked for. Both are installed. A module made with trine_add_module
# (a fake of the tests) is installed nowhere.
#
#   trine_show_namespace(trine)    the library itself shows what its headers mark, C functions and
#                                  namespace trine, under the version that its name has too, and none
#                                  of libstdc++'s templates

function(trine_add_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ENTRY;OUTPUT;FOLDER" "SOURCES;LIBRARIES")
  foreach(required ENTRY OUTPUT FOLDER SOURCES)
    if(NOT arg_${required})
      message(FATAL_ERROR "trine_add_module(${target}): ${required} is missing")
    endif()
  endforeach()
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE trine_flags trine_contract ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME "${arg_OUTPUT}" LIBRARY_OUTPUT_DIRECTORY "${arg_FOLDER}")

  # Without the version script, libstdc++'s own templates leak out of a hidden library.
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
  file(CONFIGURE OUTPUT "${script}" CONTENT "{ global: ${arg_ENTRY}; local: *; };\n")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE
    "LINKER:--exclude-libs,ALL" "LINKER:-Bsymbolic" "LINKER:--version-script,${script}"
    "LINKER:-z,now")
endfunction()

function(trine_add_backend name)
  trine_add_module(trine_backend_${name} ENTRY trine_backend_v1 OUTPUT trine_${name}
    FOLDER "${TRINE_MODULE_DIR}" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TRINE_MODULES trine_backend_${name})
endfunction()

function(trine_add_pack name)
  trine_add_module(trine_pack_${name} ENTRY trine_rungs_v1 OUTPUT trine_${name}
    FOLDER "${TRINE_MODULE_DIR}/packs" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TRINE_PACKS trine_pack_${name})
endfunction()

# Removes modules that an earlier configuration built and this one leaves out: the registry would
# still find them.
function(trine_remove_stale_modules)
  get_property(kept GLOBAL PROPERTY TRINE_MODULES)
  get_property(packs GLOBAL PROPERTY TRINE_PACKS)
  list(TRANSFORM kept REPLACE "^trine_backend_(.*)$" "${TRINE_MODULE_DIR}/trine_\\1.so")
  list(TRANSFORM packs REPLACE "^trine_pack_(.*)$" "${TRINE_MODULE_DIR}/packs/trine_\\1.so")
  file(GLOB stale "${TRINE_MODULE_DIR}/trine_*.so" "${TRINE_MODULE_DIR}/packs/trine_*.so")
  list(REMOVE_ITEM stale ${kept} ${packs} "")
  if(stale)
    file(REMOVE ${stale})
  endif()
endfunction()

function(trine_show_namespace target)
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
  file(CONFIGURE OUTPUT "${script}" CONTENT
"TRINE_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} {
  global:
    trine_*;
    extern \"C++\" { trine::*; typeinfo?for?trine::*; typeinfo?name?for?trine::*; vtable?for?trine::*; };
  local: *;
};
")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  target_link_options(${target} PRIVATE "LINKER:--version-script,${script}")
endfunction()
