# Where the loader looks, in both trees. CMake pads a RUNPATH of the build tree's own with colons, to be able to
# replace it at the installation, and an empty entry is the current folder to the loader. (Without a RUNPATH in the
# installed tree, as distributions want it, the build tree keeps its own.)
#
#   trine_set_runpath(trine_program "$ORIGIN/../lib")
#   trine_link_lib("${PROJECT_BINARY_DIR}/bin/../lib64")
function(trine_set_runpath target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${ARGN}" INSTALL_RPATH_USE_LINK_PATH ON)
  if(NOT CMAKE_SKIP_INSTALL_RPATH)
    set_property(TARGET ${target} PROPERTY BUILD_WITH_INSTALL_RPATH ON)
  endif()
endfunction()
# Makes `place`, where the libraries of the installed tree would be, the same folder as lib/ in the build tree.
function(trine_link_lib place)
  get_filename_component(place "${place}" ABSOLUTE)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${place}" is_inside)
  if(is_inside AND NOT EXISTS "${place}" AND NOT place STREQUAL "${PROJECT_BINARY_DIR}/lib")
    get_filename_component(parent "${place}" DIRECTORY)
    file(MAKE_DIRECTORY "${parent}")
    file(CREATE_LINK "${PROJECT_BINARY_DIR}/lib" "${place}" SYMBOLIC)
  endif()
endfunction()
