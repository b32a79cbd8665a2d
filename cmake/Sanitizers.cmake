# Sanitizers: MACO_SANITIZE is a list for -fsanitize=, applied to all targets.
set(MACO_SANITIZE "" CACHE STRING "sanitizers, comma separated (address,undefined | thread)")
if(MACO_SANITIZE)
  add_compile_options(-fsanitize=${MACO_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MACO_SANITIZE})
endif()
if(MACO_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
