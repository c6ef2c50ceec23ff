#include "left_frequencies.h"

#include <string>

#include "machine/frequency_lock.h"
#include "mete/device.h"

namespace mete::cli {

void PutBackLeftFrequencies(const Context& context) {
  if (const std::string note = MendFrequencies("/", CacheFolder()); !note.empty()) PrintNote(context, note);
}

}  // namespace mete::cli
