// The caller's credentials for workers, read from the files that a pool names.
#pragma once

#include <functional>
#include <string>

#include "network/protocol/channel.h"

namespace mete {

// An empty path stands for no credentials. `note` gets warnings, such as keys that others can read.
Security ReadSecurity(const std::string& keys_folder, const std::string& token_file,
                      const std::function<void(const std::string&)>& note);

}  // namespace mete
