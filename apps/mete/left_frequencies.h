// Restores clock frequencies before a command runs or measures something.
#pragma once

#include "terminal.h"

namespace mete::cli {

// If a killed process has left frequencies changed, this function restores them. A note says so, or says what
// the user has to do by hand.
void PutBackLeftFrequencies(const Context& context);

}  // namespace mete::cli
