// What the environment says of a process.
#pragma once

namespace mete {

// METE_TARGET names the instruction set of the fast kernels, or "reference" for none of them: whether it does
// the latter. Read once a process, because it decides for all sessions, and to be asked before anything
// depends on the instruction set.
bool ReferenceFromEnvironment();

}  // namespace mete
