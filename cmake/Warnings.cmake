# Warnings: one interface target, errors everywhere; every target of ours links it.
add_library(maco_warnings INTERFACE)
target_compile_options(maco_warnings INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wundef -Wformat=2 -Wcast-qual
  -fstack-protector-strong)
target_compile_options(maco_warnings INTERFACE $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positive on std::string concatenation, GCC bug 105651.
  target_compile_options(maco_warnings INTERFACE -Wno-restrict)
endif()
