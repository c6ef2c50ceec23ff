#include "base/free_memory.h"

#include <malloc.h>

namespace mete {

void ReturnFreeMemory() {
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

}  // namespace mete
