#include "processor/cpu/environment.h"

#include <cstdlib>
#include <string_view>

#include "kernels/fast/target/features.h"
#include "kernels/fast/target/target.h"

namespace mete {

bool ReferenceFromEnvironment() {
  static const bool reference = [] {
    if (const char* without = std::getenv("METE_WITHOUT")) ForceWithout(without);
    const char* name = std::getenv("METE_TARGET");
    if (!name || !*name) return false;
    if (std::string_view(name) == "reference") return true;
    ForceTarget(name);
    return false;
  }();
  return reference;
}

}  // namespace mete
