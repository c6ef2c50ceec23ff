// The settings of a process that come from environment variables.
#pragma once

namespace mete {

// Returns whether METE_TARGET is "reference", which switches the fast kernels off; otherwise the variable
// names their instruction set. A process reads the variable once, because it decides for all sessions. The
// caller asks before anything depends on the instruction set.
bool ReferenceFromEnvironment();

}  // namespace mete
