# Install: git-maco on the PATH, everything that it executes in libexec/git-maco.
include(GNUInstallDirs)
set(MACO_LIBEXEC ${CMAKE_INSTALL_LIBEXECDIR}/git-maco)
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
