// The profile of this machine as it lies in the cache folder.
#pragma once

#include <memory>
#include <string>

#include "costs/profile.h"
#include "machine/machine.h"

namespace mete {

// Returns the key for which a profile measured now on this machine would be valid.
ProfileKey KeyOf(const Machine& machine);

// Returns null if no profile serves. `why` then tells people the reason and what to do; it is empty if no
// profile was measured, or `folder` is empty.
std::unique_ptr<Profile> LoadProfile(const std::string& folder, const Machine& machine, std::string* why);

// Returns the path of the file for a profile with that key, and makes its folder. Error UNAVAILABLE if there
// is no folder.
std::string FileToKeep(const std::string& folder, const ProfileKey& key);

// Writes the whole file or nothing. Returns the file's path; Error UNAVAILABLE if the file cannot be written.
std::string SaveProfile(const std::string& folder, const Profile& profile);

}  // namespace mete
