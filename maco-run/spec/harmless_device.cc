// The device nodes of a private /dev that anybody may write.
// Contract: maco-run/spec/run_spec.h.
#include "maco-run/spec/run_spec.h"

namespace maco::run {

bool IsHarmlessDevice(std::string_view path) {
  for (const char* device :
       {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}) {
    if (path == device) {
      return true;
    }
  }
  return false;
}

}  // namespace maco::run
