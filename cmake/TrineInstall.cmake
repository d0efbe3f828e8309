# What `cmake --install` puts where: headers under include/trine, libtrine, backends under
# lib/trine/ beside it, the trine program, and the CMake package that find_package(trine) reads.
# Everything finds everything else relative to itself, so the tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/trine")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/include/trine"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/backends/ops.h" "${PROJECT_SOURCE_DIR}/backends/abi.h"
  "${TRINE_GENERATED_INCLUDE}/trine/version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trine")

if(TARGET trine)
  set_property(TARGET trine PROPERTY INSTALL_RPATH "$ORIGIN")
  install(TARGETS trine trine_headers EXPORT trine_targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT trine_targets NAMESPACE trine:: DESTINATION "${package_dir}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/trineConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/trineConfig.cmake" INSTALL_DESTINATION "${package_dir}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/trineConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/trineConfig.cmake"
    "${PROJECT_BINARY_DIR}/trineConfigVersion.cmake" DESTINATION "${package_dir}")
endif()

get_property(modules GLOBAL PROPERTY TRINE_MODULES)
get_property(packs GLOBAL PROPERTY TRINE_PACKS)
foreach(module IN LISTS modules)
  set_property(TARGET ${module} PROPERTY INSTALL_RPATH "$ORIGIN:$ORIGIN/..")
  install(TARGETS ${module} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/trine")
endforeach()
foreach(pack IN LISTS packs)
  set_property(TARGET ${pack} PROPERTY INSTALL_RPATH "$ORIGIN:$ORIGIN/../..")
  install(TARGETS ${pack} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/trine/packs")
endforeach()

if(TARGET trine_program)
  file(RELATIVE_PATH to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_property(TARGET trine_program PROPERTY INSTALL_RPATH "$ORIGIN/${to_lib}")
  install(TARGETS trine_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
