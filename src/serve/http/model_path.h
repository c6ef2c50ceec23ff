// /v2/models/M[/versions/V][/ACTION]: which model a path is about.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mete::serve {

struct ModelPath {
  std::string model, version;  // version "": the latest
  std::string action;          // "infer", ...; "" for the model itself
};

// Returns nothing for a path of another form.
std::optional<ModelPath> ModelPathOf(const std::vector<std::string>& path);

}  // namespace mete::serve
