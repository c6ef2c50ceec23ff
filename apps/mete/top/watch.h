// Polls a source again and again, and shows what it says: on a screen, or as lines.
#pragma once

#include "top/source.h"

namespace mete::cli {

// Both end after TopFlags::count intervals. Error if the first poll has no answer, or if the source will give
// none again. Without a count a user's interrupt ends them as a key does; with one it is the Error CANCELLED.
void WatchOnScreen(TopSource& source, const TopFlags& flags, const Context& context);
// Prints a line for each interval, with --json an object. Error UNAVAILABLE if the last one had no answer.
void WatchInLines(TopSource& source, const TopFlags& flags, const Context& context);

}  // namespace mete::cli
