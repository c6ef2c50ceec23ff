// The profile of this machine as it lies in the cache folder.
#pragma once

#include <memory>
#include <string>

#include "costs/profile.h"
#include "machine/machine.h"

namespace mete {

// What a profile of this machine is valid for, measured now.
ProfileKey KeyOf(const Machine& machine);

// Nothing where there is none that serves: `why` then says why and what to do, for people; it is empty where
// nobody has measured one, or `folder` is empty.
std::unique_ptr<Profile> LoadProfile(const std::string& folder, const Machine& machine, std::string* why);

// The file where a profile with that key is kept; its folder is made. Error UNAVAILABLE where there is none.
std::string FileToKeep(const std::string& folder, const ProfileKey& key);

// All or nothing. Returns the file's path; Error UNAVAILABLE where it cannot be written.
std::string SaveProfile(const std::string& folder, const Profile& profile);

}  // namespace mete
