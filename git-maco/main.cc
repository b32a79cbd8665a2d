// git-maco: finds the tool of a verb and becomes it.
// Manual: git-maco(1). Exit statuses: libcommon/base/exit_code.h.
#include "git-maco/dispatch.h"

int main(int argc, char** argv) { return maco::Dispatch(argc, argv); }
