// delayline: the cable between two network devices that it makes, with a rate and a delay for each direction.
// tools/lab starts it; docs/lab.md has what it is for.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "tools/delayline/relay.h"

namespace {

// As mete's.
constexpr int kOk = 0, kFailure = 1, kUsage = 2;

constexpr const char* kUsageText =
    "usage: delayline NAMESPACE DEVICE NAMESPACE DEVICE\n"
    "Makes both devices, each in the network namespace of a file such as /run/netns/NAME, and moves "
    "Ethernet\n"
    "frames between them until stdin ends. Lines of JSON on stdin say how; each is answered by a line:\n"
    "  {\"up\": {\"mbit\": 5.85, \"delay_ms\": 30, \"jitter_ms\": 0, \"queue_bytes\": 262144}, \"down\": "
    "{...}}\n"
    "Needs root (CAP_NET_ADMIN and CAP_SYS_ADMIN).\n";

// On cores that others keep busy, an ordinary thread is late by milliseconds. Without the right to a
// real-time priority the program goes on, and its counts say how late it was.
void BecomeRealTime() {
  const sched_param param{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
  sched_setscheduler(0, SCHED_FIFO, &param);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fputs(kUsageText, stderr);
    return kUsage;
  }
  try {
    const mete::delayline::Tap first(words[1], words[2]), second(words[3], words[4]);
    BecomeRealTime();
    mete::delayline::Relay(first, second).Run();
    return kOk;
  } catch (const mete::Error& e) {
    fmt::print(stderr, "delayline: error: {}\n", e.what());
    return kFailure;
  }
}
