# find_package(slotrt) gives the targets
#   slotrt::tables         CPython's tables without Python, static
#   slotrt::tables_shared  the same, shared
#   slotrt::static         the runtime for the Python of the build, static; its user links what an extension module links
#   slotrt::shared         the same, shared
# The last two are of one CPython release: slotrt_PYTHON_VERSION (3.13), else what find_package(Python) has found, else what
# pybind11 and older builds call PYTHON_VERSION. Without any of these the kit's only release is taken, if there is only one.

get_filename_component(_slotrt_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(slotrt_PYTHON_VERSIONS "@PYTHONS@")

if(NOT TARGET slotrt::tables)
  add_library(slotrt::tables STATIC IMPORTED)
  set_target_properties(slotrt::tables PROPERTIES
    IMPORTED_LOCATION "${_slotrt_prefix}/lib/libslotrt_tables.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_slotrt_prefix}/include")
  add_library(slotrt::tables_shared SHARED IMPORTED)
  set_target_properties(slotrt::tables_shared PROPERTIES
    IMPORTED_LOCATION "${_slotrt_prefix}/lib/libslotrt_tables.so"
    IMPORTED_SONAME libslotrt_tables.so
    INTERFACE_INCLUDE_DIRECTORIES "${_slotrt_prefix}/include")
endif()

set(_slotrt_python "${slotrt_PYTHON_VERSION}")
foreach(_slotrt_name Python Python3)
  if(NOT _slotrt_python AND ${_slotrt_name}_VERSION_MINOR)
    set(_slotrt_python "${${_slotrt_name}_VERSION_MAJOR}.${${_slotrt_name}_VERSION_MINOR}")
  endif()
endforeach()
if(NOT _slotrt_python AND PYTHON_VERSION MATCHES "^3\\.[0-9]+")
  set(_slotrt_python "${CMAKE_MATCH_0}")
endif()
list(LENGTH slotrt_PYTHON_VERSIONS _slotrt_count)
if(NOT _slotrt_python AND _slotrt_count EQUAL 1)
  set(_slotrt_python "${slotrt_PYTHON_VERSIONS}")
endif()

if(_slotrt_python IN_LIST slotrt_PYTHON_VERSIONS)
  if(NOT TARGET slotrt::static)
    set(_slotrt_folder "${_slotrt_prefix}/lib/slotrt/${_slotrt_python}")
    add_library(slotrt::static STATIC IMPORTED)
    set_target_properties(slotrt::static PROPERTIES
      IMPORTED_LOCATION "${_slotrt_folder}/libslotrt.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_slotrt_prefix}/include"
      INTERFACE_LINK_LIBRARIES "slotrt::tables;gcc_s;m;pthread;dl")
    add_library(slotrt::shared SHARED IMPORTED)
    set_target_properties(slotrt::shared PROPERTIES
      IMPORTED_LOCATION "${_slotrt_folder}/libslotrt.so"
      IMPORTED_NO_SONAME TRUE
      INTERFACE_INCLUDE_DIRECTORIES "${_slotrt_prefix}/include"
      INTERFACE_LINK_LIBRARIES "slotrt::tables")
  endif()
elseif(_slotrt_python)
  set(_slotrt_reason "this kit has no runtime for Python ${_slotrt_python}; it has one for: ${slotrt_PYTHON_VERSIONS}")
else()
  set(_slotrt_reason "set slotrt_PYTHON_VERSION to one of: ${slotrt_PYTHON_VERSIONS}")
endif()

# find_package(slotrt COMPONENTS runtime) fails in words where there is no runtime for the Python of the build.
foreach(_slotrt_component ${slotrt_FIND_COMPONENTS})
  if(_slotrt_component STREQUAL "tables" OR (_slotrt_component STREQUAL "runtime" AND TARGET slotrt::static))
    set(slotrt_${_slotrt_component}_FOUND TRUE)
  elseif(slotrt_FIND_REQUIRED_${_slotrt_component})
    set(slotrt_FOUND FALSE)
    if(NOT _slotrt_reason OR NOT _slotrt_component STREQUAL "runtime")
      set(_slotrt_reason "the components are tables and runtime, not ${_slotrt_component}")
    endif()
    set(slotrt_NOT_FOUND_MESSAGE "${_slotrt_reason}")
  endif()
endforeach()
