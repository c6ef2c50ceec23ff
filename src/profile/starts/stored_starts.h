// The costs of starts as they lie in the cache folder: a file for each model, its settings and this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costs/profile.h"
#include "costs/starts.h"

namespace mete {

// Returns the path of the file for a model of these files, as they are now (by path, size and time), started
// with `settings` (the words of the command line that decide about a start), by programs of this key. Errors
// NOT_FOUND, if a file is not there, and FAILED_PRECONDITION if `cache_folder` is empty.
std::string StartCostsPath(const std::string& cache_folder, const ProfileKey& key,
                           const std::vector<std::string>& model_files,
                           const std::vector<std::string>& settings);

// Returns the verified costs in a file; nothing if there is no such file. Error INVALID_ARGUMENT if it is
// damaged or of another version.
std::optional<StartCosts> StoredStartCosts(const std::string& path);

// Writes the whole file or leaves it as it was. Error UNAVAILABLE.
void StoreStartCosts(const StartCosts& costs, const std::string& path);

}  // namespace mete
