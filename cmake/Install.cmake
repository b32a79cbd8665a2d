# Install: git-maco on the PATH, everything that it executes in libexec/git-maco.
include(GNUInstallDirs)
set(MACO_LIBEXEC ${CMAKE_INSTALL_LIBEXECDIR}/git-maco)
