# Dependencies: all from the distribution, each with the oldest version that is tested.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tl-expected 1.0 REQUIRED)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle>=3.8)
pkg_check_modules(LIBSYSTEMD REQUIRED IMPORTED_TARGET libsystemd>=252)
pkg_check_modules(LIBSECCOMP REQUIRED IMPORTED_TARGET libseccomp>=2.5.4)
pkg_check_modules(LIBCURL REQUIRED libcurl>=7.85)
find_package(cxxopts 3.0 REQUIRED)
if(MACO_TESTS)
  find_package(GTest 1.12 REQUIRED)
  find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)  # a peer of the benchmark of the log
endif()
