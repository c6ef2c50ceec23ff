// Lets go of the files that this process maps, its own program included, as a system does that is short of
// memory.
#pragma once

namespace mete::cli {

// Moves the pages of files that this process maps only for reading out of its own memory; the system's memory
// still has them. The next access finds them there, or reads them again. What the process has written stays.
void ReleaseMappedFiles();

}  // namespace mete::cli
