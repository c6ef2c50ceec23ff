#include "tools/delayline/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace mete::delayline {
namespace {

[[noreturn]] void FailAt(const std::string& where, const char* what) {
  Fail(Code::kUnavailable, where, "{}; got '{}', expected the right to it; try as root (CAP_NET_ADMIN)", what,
       std::strerror(errno));
}

void Enter(const std::string& space) {
  const int fd = open(space.c_str(), O_RDONLY | O_CLOEXEC);
  const bool entered = fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  if (!entered) FailAt(space, "cannot enter this network namespace");
}

ifreq Request(const std::string& name) {
  ifreq request = {};
  if (name.empty() || name.size() >= sizeof(request.ifr_name))
    Invalid("device", "a name has a wrong length; got '{}', expected 1 to {} bytes", name,
            sizeof(request.ifr_name) - 1);
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_flags = int16_t(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL);  // the highest bit is a flag, too
  return request;
}

}  // namespace

Tap::Tap(const std::string& space, const std::string& name) : name_(name) {
  ifreq request = Request(name);
  Enter(space);
  fd_ = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0) FailAt("/dev/net/tun", "cannot open it");
  if (ioctl(fd_, TUNSETIFF, &request) == 0) return;
  const int error = errno;
  close(fd_);
  errno = error;
  FailAt(name, "cannot make this device");
}

Tap::~Tap() { close(fd_); }

std::span<const std::byte> Tap::Read(std::span<std::byte> buffer) const {
  const ssize_t bytes = read(fd_, buffer.data(), buffer.size());
  if (bytes >= 0) return buffer.first(size_t(bytes));
  if (errno == EAGAIN || errno == EINTR) return {};
  FailAt(name_, "cannot read from this device");
}

bool Tap::Write(std::span<const std::byte> frame) const {
  return write(fd_, frame.data(), frame.size()) == ssize_t(frame.size());
}

}  // namespace mete::delayline
