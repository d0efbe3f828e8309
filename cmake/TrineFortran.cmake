# Decides whether the Fortran module is built. TRINE_FORTRAN is ON, OFF or AUTO: AUTO builds it
# where there is a Fortran compiler, and the C compiler has the header of its array descriptors. A
# subproject is asked for it.
#
# Sets TRINE_BUILD_FORTRAN, and enables the language.
if(PROJECT_IS_TOP_LEVEL)
  set(trine_fortran_default AUTO)
else()
  set(trine_fortran_default OFF)
endif()
set(TRINE_FORTRAN ${trine_fortran_default} CACHE STRING "Build the Fortran module: ON, OFF or AUTO")
set_property(CACHE TRINE_FORTRAN PROPERTY STRINGS AUTO ON OFF)
set(TRINE_BUILD_FORTRAN OFF)
if(TRINE_FORTRAN)  # AUTO counts as true
  include(CheckIncludeFile)
  include(CheckLanguage)
  check_language(Fortran)
  check_include_file(ISO_Fortran_binding.h TRINE_FORTRAN_BINDING)
  if(CMAKE_Fortran_COMPILER AND TRINE_FORTRAN_BINDING)
    enable_language(Fortran)
    set(TRINE_BUILD_FORTRAN ON)
  elseif(NOT TRINE_FORTRAN STREQUAL "AUTO")
    message(FATAL_ERROR "TRINE_FORTRAN=ON, but there is no Fortran compiler, or no \
ISO_Fortran_binding.h for the C compiler (Debian: gfortran has both)")
  endif()
endif()
