// Interruption: postpones the signals that end a program, so that what it made can be removed
// first. Source: sigaction(2). One object at a time.
#pragma once
#include <csignal>

#include <array>

namespace maco::doctor {

class Interruption {
 public:
  // SIGHUP, SIGINT, SIGQUIT and SIGTERM are only remembered from now on; those that are ignored
  // stay ignored. Programs that are started meanwhile have them as usual.
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  // Puts everything back, then lets the last remembered signal do what it does.
  ~Interruption();

  static bool Happened();

 private:
  static constexpr std::array kSignals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace maco::doctor
