#include "base/log.h"

#include <atomic>
#include <memory>
#include <mutex>

#include "base/error.h"

namespace mete {
namespace {

using LogFunction = std::function<void(LogLevel, std::string_view)>;

constexpr int kNobody = int(LogLevel::kWarning) + 1;

struct ProgramLog {
  std::mutex mutex;  // guards `function`
  std::shared_ptr<const LogFunction> function;
  std::atomic<int> least = kNobody;
};

ProgramLog& TheLog() {
  static ProgramLog* const log = new ProgramLog;  // threads may tell something until the process ends
  return *log;
}

}  // namespace

const char* Name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
  }
  return "unknown";
}

void SetLog(LogFunction log, LogLevel least) {
  auto function = log ? std::make_shared<const LogFunction>(std::move(log)) : nullptr;
  ProgramLog& to = TheLog();
  const std::lock_guard lock(to.mutex);
  to.least = function ? int(least) : kNobody;
  to.function.swap(function);  // the former one ends without the lock
}

bool Logs(LogLevel level) { return int(level) >= TheLog().least.load(std::memory_order_relaxed); }

// The function is called without the lock, so that it may call the library.
void LogLine(LogLevel level, const std::string& where, const std::string& what) {
  std::shared_ptr<const LogFunction> function;
  {
    const std::lock_guard lock(TheLog().mutex);
    function = TheLog().function;
  }
  if (!function) return;
  try {
    (*function)(level, Printable("[" + where + "] " + what));
  } catch (...) {  // the library's work does not depend on the program's log
  }
}

}  // namespace mete
