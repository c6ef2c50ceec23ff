// Memory that was freed and that the allocator keeps for later.
#pragma once

namespace mete {

// Gives the pages of freed memory back to the operating system, as far as the allocator can. glibc
// keeps what a driver's compiler and the constants of a GPU have freed, for each thread. The call blocks
// other threads that allocate until it returns.
void ReturnFreeMemory();

}  // namespace mete
