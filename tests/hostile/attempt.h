// The frame of the hostile programs: a table of attempts, one line of output for each.
// Output: "NAME worked" or "NAME stopped WHY", WHY an errno name, SIGNAME, or IGNORED (the call
// said yes and nothing happened). Exit status: 0 all worked, 1 all were stopped, 2 some of both.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace hostile {

struct Attempt {
  std::string name;
  std::function<int()> run;  // 0: it worked; else an errno or one of the values below
};

inline constexpr int kIgnored = 5000;
inline constexpr int kSignalBase = 6000;  // plus the signal that ended the attempt's process

// Arguments NAME choose attempts (default: all), KEY=VALUE are parameters.
int RunAttempts(int argc, char** argv, const std::vector<Attempt>& attempts);

// The value of a parameter, empty if it was not given.
std::string Parameter(const std::string& key);
long Number(const std::string& key);

// The errno of a call that returns -1 when it fails.
int Outcome(long result);
// The same, and closes the descriptor that it returned.
int CloseAfter(long fd);

// Runs it in a child, where it may change, trap or kill its process.
int InChild(const std::function<int()>& attempt);

// Whether this file can be changed: opens it for writing and writes one byte at its end.
int WriteTo(const std::string& path);

}  // namespace hostile
