// A driver of OpenCL that takes the program with it as soon as it is loaded, for tests.
#include <cstdlib>

namespace {

struct Crash {
  Crash() { std::abort(); }
} const crash;

}  // namespace
