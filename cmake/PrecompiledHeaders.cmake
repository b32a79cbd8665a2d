# Precompiled headers: what most files include, read once. Off, unless a whole build has to be fast:
# with them a file that forgets one of its includes compiles all the same.
option(MACO_PCH "precompile the headers of libraries" OFF)
function(maco_precompile name)
  if(NOT MACO_PCH)
    return()
  endif()
  if(TARGET maco_precompiled)
    target_precompile_headers(${name} REUSE_FROM maco_precompiled)
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "")
  add_library(maco_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(maco_precompiled PRIVATE maco_warnings)
  target_precompile_headers(maco_precompiled PRIVATE
    <algorithm> <array> <chrono> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>
    <nlohmann/json.hpp> <tl/expected.hpp>)
  target_precompile_headers(${name} REUSE_FROM maco_precompiled)
endfunction()
