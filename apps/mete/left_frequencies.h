// Restores clock frequencies before a command runs or measures something.
#pragma once

#include <string>

#include "machine/frequency_lock.h"
#include "mete/device.h"
#include "terminal.h"

namespace mete::cli {

// If a killed process has left frequencies changed, this function restores them. A note says so, or says what
// the user has to do by hand.
inline void PutBackLeftFrequencies(const Context& context) {
  if (const std::string note = MendFrequencies("/", CacheFolder()); !note.empty()) PrintNote(context, note);
}

}  // namespace mete::cli
