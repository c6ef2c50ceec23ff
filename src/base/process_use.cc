#include "base/process_use.h"

#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace mete {
namespace {

// The value of a line such as "VmRSS:     1234 kB".
int64_t BytesOf(const std::string& status, const std::string& key) {
  const size_t at = ("\n" + status).find("\n" + key + ":");
  if (at == std::string::npos) return 0;
  return std::strtoll(status.c_str() + at + key.size() + 1, nullptr, 10) * 1024;
}

double Seconds(const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; }

}  // namespace

ProcessUse ParseProcessUse(const std::string& status, double cpu_s) {
  return {BytesOf(status, "VmRSS"), BytesOf(status, "VmHWM"), cpu_s};
}

ProcessUse ReadProcessUse() {
  std::ifstream file("/proc/self/status");
  const std::string status{std::istreambuf_iterator<char>(file), {}};
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return ParseProcessUse(status, Seconds(use.ru_utime) + Seconds(use.ru_stime));
}

}  // namespace mete
