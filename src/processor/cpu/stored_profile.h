// The profile of this machine as it lies in the cache folder.
#pragma once

#include <memory>
#include <string>

#include "costs/profile.h"
#include "machine/machine.h"

namespace mete {

// What a profile of this machine is valid for, measured now.
ProfileKey KeyOf(const Machine& machine);

// Returns null if no profile serves. `why` then tells people the reason and what to do; it is empty if no
// profile was measured, or `folder` is empty.
std::unique_ptr<Profile> LoadProfile(const std::string& folder, const Machine& machine, std::string* why);

// The file where a profile with that key is kept; its folder is made. Error UNAVAILABLE where there is none.
std::string FileToKeep(const std::string& folder, const ProfileKey& key);

// All or nothing. Returns the file's path; Error UNAVAILABLE where it cannot be written.
std::string SaveProfile(const std::string& folder, const Profile& profile);

}  // namespace mete
