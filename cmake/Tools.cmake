# Tools: how a library, a program and its install place are declared, once.
include(PrecompiledHeaders)
function(maco_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  maco_precompile(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE maco_warnings ${ARG_PRIVATE})
endfunction()

# A program is `main.cc` and one static library. All programs of a build lie in one directory,
# as they do when installed, so that they find each other the same way.
function(maco_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  maco_precompile(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} maco_warnings)
  if(NOT MACO_SANITIZE)
    # Loading and relocating these two takes most of the time of `git --version`.
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()
