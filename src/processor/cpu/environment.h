// The settings of a process that come from environment variables.
#pragma once

namespace mete {

// Reads METE_TARGET and METE_WITHOUT (kernels/fast/target/features.h).
//
// Returns whether METE_TARGET is "reference", which switches the fast kernels off; otherwise the variable
// names their instruction set. A process reads both variables once, because they decide for all sessions. The
// caller asks before anything depends on the instruction set.
bool ReferenceFromEnvironment();

}  // namespace mete
