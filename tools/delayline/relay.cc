#include "tools/delayline/relay.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace mete::delayline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostAtOnce = 64;             // guess: frames of one device before the other one is looked at
constexpr size_t kFrameBytes = 2048;        // more than a frame of 1500 bytes with its addresses and tags
constexpr size_t kMostLineBytes = 1 << 16;  // guess: many times what a command needs

int64_t NowNs() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

int Made(int fd, const char* what) {
  if (fd < 0) Fail(Code::kUnavailable, what, "the kernel makes none; got '{}'", std::strerror(errno));
  return fd;
}

}  // namespace

void FramesOneWay::Take() {
  std::array<std::byte, kFrameBytes> buffer;
  for (int i = 0; i < kMostAtOnce; ++i) {
    const std::span<const std::byte> frame = from_.Read(buffer);
    if (frame.empty()) return;
    const std::optional<int64_t> arrives_ns = times_.Take(int64_t(frame.size()), NowNs());
    if (arrives_ns) frames_.push_back({*arrives_ns, {frame.begin(), frame.end()}});
    else ++dropped_;
  }
}

void FramesOneWay::Deliver(int64_t now_ns) {
  for (; NextArrival() <= now_ns; frames_.pop_front()) {
    const Frame& frame = frames_.front();
    if (!to_.Write(frame.bytes)) {
      ++dropped_;
      continue;
    }
    ++delivered_;
    delivered_bytes_ += int64_t(frame.bytes.size());
    latest_ns_ = std::max(latest_ns_, now_ns - frame.arrives_ns);
  }
}

Json FramesOneWay::Counts() const {
  return {{"frames", delivered_},
          {"bytes", delivered_bytes_},
          {"dropped", dropped_},
          {"latest_us", latest_ns_ / 1000}};
}

Relay::Relay(const Tap& first, const Tap& second) : up_(first, second, 1), down_(second, first, 2) {
  epoll_ = Made(epoll_create1(EPOLL_CLOEXEC), "epoll");
  timer_ = Made(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd");
  for (int fd : {first.fd(), second.fd(), timer_, STDIN_FILENO}) Watch(fd);
}

Relay::~Relay() {
  close(timer_);
  close(epoll_);
}

void Relay::Watch(int fd) {
  epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0)
    Fail(Code::kUnavailable, "epoll", "cannot watch a descriptor; got '{}', expected a pipe or a device",
         std::strerror(errno));
}

// Every round takes, delivers and sets the timer, whatever woke it: each of these is short where there is
// nothing to do.
void Relay::Run() {
  std::array<epoll_event, 4> events;
  for (bool open = true; open;) {
    SetTimer();
    const int count = epoll_wait(epoll_, events.data(), int(events.size()), -1);
    for (int i = 0; i < count; ++i)
      if (events[size_t(i)].data.fd == STDIN_FILENO) open = ReadCommands();
    up_.Take();
    down_.Take();
    const int64_t now_ns = NowNs();
    up_.Deliver(now_ns);
    down_.Deliver(now_ns);
  }
}

// An expired timer stays readable until it is set again; setting it forgets that it has expired.
void Relay::SetTimer() {
  const int64_t next_ns = std::min(up_.NextArrival(), down_.NextArrival());
  if (next_ns == timer_ns_) return;
  timer_ns_ = next_ns;
  itimerspec at = {};  // zero: never
  if (next_ns != INT64_MAX)
    at.it_value = {.tv_sec = next_ns / 1'000'000'000, .tv_nsec = next_ns % 1'000'000'000};
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

// Returns false at the end of stdin.
bool Relay::ReadCommands() {
  std::array<char, 4096> part;
  const ssize_t bytes = read(STDIN_FILENO, part.data(), part.size());
  if (bytes < 0 && errno == EINTR) return true;
  if (bytes <= 0) return false;
  unread_.append(part.data(), size_t(bytes));
  for (size_t end; (end = unread_.find('\n')) != std::string::npos; unread_.erase(0, end + 1)) {
    fmt::print("{}\n", Obey(unread_.substr(0, end)));
    std::fflush(stdout);
  }
  if (unread_.size() > kMostLineBytes)
    Invalid("stdin", "a line is too long; got {} bytes, expected at most {}", unread_.size(), kMostLineBytes);
  return true;
}

// Both directions are read before one is changed.
std::string Relay::Obey(const std::string& line) {
  try {
    const Json command = ParseJson(line, "stdin");
    std::optional<WaySettings> up, down;
    for (const auto& [key, value] : Object(command, "stdin", "a command").items()) {
      if (key == "up") up = WaySettingsFrom(value, key);
      else if (key == "down") down = WaySettingsFrom(value, key);
      else Invalid("stdin", "unknown key; got '{}', expected up or down", Printable(key.substr(0, 100)));
    }
    if (up) up_.Change(*up, NowNs());
    if (down) down_.Change(*down, NowNs());
    return JsonText({{"up", up_.Counts()}, {"down", down_.Counts()}}, -1);
  } catch (const Json::exception& e) {
    return JsonText({{"error", fmt::format("[stdin] not a command; got '{}'", ReasonOf(e))}}, -1);
  } catch (const Error& e) {
    return JsonText({{"error", e.what()}}, -1);
  }
}

}  // namespace mete::delayline
