// What `git maco ...` does: usage, version, or becoming the tool of the verb.
// Manual: git-maco(1). Exit statuses: libcommon/base/exit_code.h.
#pragma once
#include <string>

namespace maco {

// Runs the command line of git-maco. Returns an exit status, or does not return: the process
// becomes the tool, whose status is then its own.
int Dispatch(int argc, char** argv);

// Usage as `-h` prints it, with a line for each tool.
std::string DispatchUsage();

}  // namespace maco
