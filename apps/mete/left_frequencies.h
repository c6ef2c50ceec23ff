// What a command does about frequencies before it runs or measures something.
#pragma once

#include <string>

#include "machine/frequency_lock.h"
#include "mete/device.h"
#include "terminal.h"

namespace mete::cli {

// Where a process that was killed left frequencies changed, puts them back; a note says so, or what there is
// to do by hand.
inline void PutBackLeftFrequencies(const Context& context) {
  if (const std::string note = MendFrequencies("/", CacheFolder()); !note.empty()) PrintNote(context, note);
}

}  // namespace mete::cli
