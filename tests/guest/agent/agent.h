// The guest's own program: first process of the guest (boot), runner of the command (run).
#pragma once

#include <sys/types.h>
#include <string>
#include <string_view>
#include <vector>

namespace guest {

// Where the host's control directory appears in the running guest. Only root can enter it.
inline constexpr char kControlDir[] = "/run/guest/control";

enum class Engine { kUml, kQemu };

struct User {
  std::string name;
  uid_t uid;
  gid_t gid;
  std::string home;
};

// --- agent.cc: what both halves need ---------------------------------------------------------

// Prints "agent: WHAT: errno text" on standard error, which is the guest's console until then.
void Complain(std::string_view what);

// Ends the guest at once. Does nothing but exit when this is not the guest of a `vm`.
[[noreturn]] void PowerOff();

[[noreturn]] void Die(std::string_view what);

std::string ReadFile(const std::string& path);
std::vector<std::string> Split(std::string_view text, char separator);

// The value of NAME=VALUE on the kernel command line, or an empty string.
std::string KernelParameter(std::string_view name);
Engine CurrentEngine();

// Looks NAME up in a passwd(5) file; ends the guest when there is no such user.
User FindUser(const std::string& passwd_file, std::string_view name);

// --- the two halves --------------------------------------------------------------------------

[[noreturn]] void Boot();
[[noreturn]] void RunCommand();

}  // namespace guest
