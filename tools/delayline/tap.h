// A network device of Ethernet frames whose cable is this program (TAP).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mete::delayline {

class Tap {
 public:
  // Makes the device `name` in the network namespace of the file `space` (as /run/netns/lab-0), where the
  // calling thread stays. The device lives as long as this object. Error UNAVAILABLE: no such namespace, no
  // right to it, or a device of this name is there.
  Tap(const std::string& space, const std::string& name);
  ~Tap();
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  int fd() const { return fd_; }

  // Reads the next frame that the device's side sent. Returns its bytes within `buffer`, which is as long as
  // a frame or longer; an empty span if there is none. Error UNAVAILABLE if the device is gone.
  std::span<const std::byte> Read(std::span<std::byte> buffer) const;

  // Gives a frame to the device's side. Returns whether that took it: a device that is down takes none.
  bool Write(std::span<const std::byte> frame) const;

 private:
  std::string name_;
  int fd_ = -1;
};

}  // namespace mete::delayline
