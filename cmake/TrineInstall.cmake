# The places where `cmake --install` puts files: headers under include/trine, libtrine, backends
# under lib/trine/ beside it, the trine program, and the files that find_package(trine) and
# pkg-config read.
# Everything finds everything else relative to itself, so the tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/trine")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/include/trine"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/backends/ops.h" "${PROJECT_SOURCE_DIR}/backends/lists.h"
  "${PROJECT_SOURCE_DIR}/backends/abi.h"
  "${TRINE_GENERATED_INCLUDE}/trine/version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trine")

if(TARGET trine)
  trine_set_runpath(trine "$ORIGIN")
  install(TARGETS trine trine_headers EXPORT trine_targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  if(TARGET trine_fortran)
    trine_set_runpath(trine_fortran "$ORIGIN")
    install(TARGETS trine_fortran EXPORT trine_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(FILES "${PROJECT_BINARY_DIR}/fortran/modules/trine.mod"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trine/fortran")
  endif()
  install(EXPORT trine_targets NAMESPACE trine:: DESTINATION "${package_dir}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/trineConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/trineConfig.cmake" INSTALL_DESTINATION "${package_dir}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/trineConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/trineConfig.cmake"
    "${PROJECT_BINARY_DIR}/trineConfigVersion.cmake" DESTINATION "${package_dir}")

  # trine::mpi is a file of its own, read where it is asked for: it needs an MPI.
  if(TARGET trine_mpi)
    trine_set_runpath(trine_mpi "$ORIGIN")
    install(TARGETS trine_mpi EXPORT trine_mpi_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT trine_mpi_targets NAMESPACE trine:: DESTINATION "${package_dir}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/mpi/include/trine" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  if(TARGET trine_mpi_fortran)
    trine_set_runpath(trine_mpi_fortran "$ORIGIN")
    install(TARGETS trine_mpi_fortran EXPORT trine_mpi_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(FILES "${PROJECT_BINARY_DIR}/fortran/modules/trine_mpi.mod"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trine/fortran")
  endif()

  # The same for other build systems.
  set(pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH to_prefix "${pc_dir}" "${CMAKE_INSTALL_PREFIX}")
  file(RELATIVE_PATH lib_dir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  file(RELATIVE_PATH include_dir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  set(pc_files trine.pc)
  if(TARGET trine_mpi)
    list(APPEND pc_files trine-mpi.pc)
    list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE mpi_cflags)
    list(JOIN mpi_cflags " " mpi_cflags)
    list(JOIN MPI_C_LIBRARIES " " mpi_libs)
  endif()
  foreach(file IN LISTS pc_files)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${file}.in" "${PROJECT_BINARY_DIR}/${file}" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  endforeach()
endif()

get_property(modules GLOBAL PROPERTY TRINE_MODULES)
get_property(packs GLOBAL PROPERTY TRINE_PACKS)
foreach(module IN LISTS modules)
  trine_set_runpath(${module} "$ORIGIN" "$ORIGIN/..")
  install(TARGETS ${module} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/trine")
endforeach()
foreach(pack IN LISTS packs)
  trine_set_runpath(${pack} "$ORIGIN" "$ORIGIN/../..")
  install(TARGETS ${pack} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/trine/packs")
endforeach()

if(TARGET trine_blas)
  trine_set_runpath(trine_blas "$ORIGIN/../..")
  install(TARGETS trine_blas LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/trine/blas")
  install(FILES "${TRINE_MODULE_DIR}/blas/libblas.so.3"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/trine/blas")
endif()

if(TARGET trine_program)
  file(RELATIVE_PATH to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  trine_link_lib("${PROJECT_BINARY_DIR}/bin/${to_lib}")
  trine_set_runpath(trine_program "$ORIGIN/${to_lib}")
  install(TARGETS trine_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(TARGET trine_ranks)
    trine_set_runpath(trine_ranks "$ORIGIN/${to_lib}")
    install(TARGETS trine_ranks RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
  install(FILES "${PROJECT_BINARY_DIR}/bench/trine.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${PROJECT_BINARY_DIR}/bench/trine.bash" RENAME trine
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endif()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# A library inside these binaries, linked statically or compiled in, comes with its licence: NAME,
# then the places where its text may lie, in the library's own tree or as Debian keeps it; the first
# text found is installed.
function(trine_install_license name)
  foreach(place IN LISTS ARGN)
    file(GLOB texts "${place}")
    if(texts)
      list(GET texts 0 text)
      install(FILES "${text}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/licenses" RENAME "${name}.txt")
      return()
    endif()
  endforeach()
  message(STATUS "trine: no licence text of ${name} found: whoever passes this build on must add it")
endfunction()

function(trine_install_package_license name folder package)
  trine_install_license(${name} "${folder}/../../../share/licenses/${name}*/*"
    "${folder}/../../../share/doc/${name}/LICENSE*" "/usr/share/doc/${package}/copyright")
endfunction()

if(TARGET trine_backend_cpu)
  trine_install_license(Kokkos "${Kokkos_SOURCE_DIR}/LICENSE*" "${Kokkos_DIR}/../../../../kokkos-source/LICENSE*"
    "${Kokkos_DIR}/../../../share/doc/?okkos/LICENSE*")
  trine_install_package_license(Highway "${hwy_DIR}" libhwy-dev)
endif()
trine_install_license(xxHash "${TRINE_XXHASH_INCLUDE}/../share/licenses/xxhash*/*"
  "${TRINE_XXHASH_INCLUDE}/../share/doc/xxhash/LICENSE*" "/usr/share/doc/libxxhash-dev/copyright")
if(TARGET trine_program)
  trine_install_package_license(CLI11 "${CLI11_DIR}" libcli11-dev)
  trine_install_package_license(fmt "${fmt_DIR}" libfmt-dev)
  trine_install_package_license(nlohmann_json "${nlohmann_json_DIR}" nlohmann-json3-dev)
  if(TRINE_CHART_JS)
    cmake_path(GET TRINE_CHART_JS PARENT_PATH folder)
    trine_install_license(Chart.js "${folder}/LICENSE*" "${folder}/../LICENSE*"
      /usr/share/doc/libjs-chart.js/copyright)
  endif()
endif()
if(TARGET trine_pack_cub OR TARGET trine_pack_cublas)
  trine_install_license(CUDA "${TRINE_CUDA_INCLUDE}/../EULA*" "${TRINE_CUDA_INCLUDE}/../LICENSE*"
    "${TRINE_CUDA_INCLUDE}/../dist-info/nvidia_cuda_runtime-*/licenses/*")
endif()
