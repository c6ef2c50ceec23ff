// Memory that was freed and that the allocator keeps for later.
#pragma once

namespace mete {

// Gives the pages of freed memory back to the operating system, as far as the allocator can. What a driver's
// compiler has freed, and constants of a GPU, are hundreds of MiB that glibc would keep, by thread. Takes
// some milliseconds, in which other threads that allocate may wait.
void ReturnFreeMemory();

}  // namespace mete
