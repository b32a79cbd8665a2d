// A handler that stores the signal's number.
// Contract: git-maco/doctor/interruption.h.
#include "git-maco/doctor/interruption.h"

namespace maco::doctor {
namespace {

volatile std::sig_atomic_t remembered = 0;

extern "C" void RememberSignal(int number) { remembered = number; }

}  // namespace

Interruption::Interruption() {
  remembered = 0;
  struct sigaction action {};
  action.sa_handler = RememberSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      sigaction(kSignals[i], &action, nullptr);
    }
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &before_[i], nullptr);
  }
  if (remembered != 0) {
    raise(remembered);
  }
}

bool Interruption::Happened() { return remembered != 0; }

}  // namespace maco::doctor
