// How a pool reaches the workers that its file names. The implementation is in network/pool, a library of its
// own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/pool_file.h"
#include "run/member.h"

namespace mete {

class Network {
 public:
  virtual ~Network() = default;
  // Returns a member for each processor of the file that belongs to a worker, in the file's order, without
  // connecting to it. `note` gets what the caller should know, such as keys that others can read.
  virtual std::vector<std::unique_ptr<Member>> Open(
      const PoolFile& file, const std::function<void(const std::string&)>& note) const = 0;
  // Returns the names of the processors that the worker of a device of the file offers. Error if it does not
  // answer.
  virtual std::vector<std::string> OfferedBy(const PoolFile& file, const DeviceInPool& device,
                                             const std::function<void(const std::string&)>& note) const = 0;
};

}  // namespace mete
