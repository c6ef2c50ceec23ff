// Reads the devices of a pool's file that are described, because they are not present.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine/pool_file.h"
#include "machine/toml_keys.h"

namespace mete {

// Reads the keys that only described devices have, and each machine file once.
class DescribedDevices {
 public:
  // `path`: of the pool's file, to which the paths of machine files are relative.
  DescribedDevices(std::string path, Problems& problems) : path_(std::move(path)), problems_(problems) {}

  DescribedDevice Read(TomlKeys& keys);
  std::vector<MachineFile> TakeMachines() { return std::move(machines_); }

 private:
  static void ReadLink(TomlKeys& keys, DescribedDevice& device);
  int MachineOf(const std::string& name);

  const std::string path_;
  Problems& problems_;
  std::vector<MachineFile> machines_;
  std::map<std::string, int> numbers_;  // by path as it is written
};

}  // namespace mete
