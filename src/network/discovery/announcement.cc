#include <algorithm>

#include "base/error.h"
#include "network/discovery/avahi.h"
#include "network/discovery/discovery.h"

namespace mete {
namespace {

// Avahi asks the network three times, 250 ms apart, whether a name is free (RFC 6762, 8.1). The time here is
// more than twice that, because boards are slow.
constexpr std::chrono::seconds kConfirmation{2};
// This value is a guess: the time between the end of a program's output and the end of the program.
constexpr std::chrono::milliseconds kLastWords{200};
// Bytes of output until Avahi confirms. This value is a guess: Avahi writes a line of 50.
constexpr size_t kMostOutput = 16 << 10;
// characters; the limit of one record (RFC 6763, 6.1), which is plenty for all records of a worker
constexpr size_t kMostRecords = 255;

std::vector<std::string> ArgumentsFor(const std::string& name, int port,
                                      const std::map<std::string, std::string>& records) {
  if (!IsServiceName(name))
    Invalid("name", "not a service's name; got '{}', expected 1 to 63 printable ASCII characters",
            Printable(name));
  if (port < 1 || port > 65535) Invalid("port", "got {}, expected 1 to 65535", port);
  std::vector<std::string> arguments{"--", name, kServiceType, std::to_string(port)};
  size_t length = 0;
  for (const auto& [key, value] : records) {
    arguments.push_back(key + "=" + value);
    length += arguments.back().size();
    const bool is_key = !key.empty() && key.find('=') == key.npos && IsPrintable(key);
    if (!is_key || !IsPrintable(value))
      Invalid(Printable(key), "not a record of a service; expected printable ASCII characters");
  }
  if (length > kMostRecords)
    Invalid(name, "the records are too long; got {} characters, expected at most {}", length, kMostRecords);
  return arguments;
}

}  // namespace

Announcement::Announcement(const std::string& name, int port,
                           const std::map<std::string, std::string>& records, Clock& clock) {
  const std::vector<std::string> arguments = ArgumentsFor(name, port, records);
  const std::string path = AvahiProgram("avahi-publish-service");
  child_ = std::make_unique<Child>(path, arguments, Child::WhenFull::kLose, clock);
  const Clock::Time deadline = clock.Now() + kConfirmation;
  std::string said;
  child_->Read(said, kMostOutput, "Established", deadline);
  const bool confirmed = said.find("Established") != said.npos;
  if (!confirmed && child_->EndsBefore(std::min(deadline, clock.Now() + kLastWords))) FailOfAvahi(path, said);
}

Announcement::~Announcement() = default;

bool Announcement::alive() const { return child_->Running(); }

}  // namespace mete
