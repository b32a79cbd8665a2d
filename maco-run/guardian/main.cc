// maco-guardian: the main process of a run's unit; holds the target behind the start gate.
// Started by maco-run only, with the control socket as standard input. Protocol:
// docs/formats/gate.md.
#include "maco-run/guardian/outer.h"

int main() { return maco::run::RunOuterGuardian(); }
