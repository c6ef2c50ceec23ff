#include "serve/http/model_path.h"

namespace mete::serve {

std::optional<ModelPath> ModelPathOf(const std::vector<std::string>& path) {
  if (path.size() < 3 || path[0] != "v2" || path[1] != "models") return std::nullopt;
  ModelPath of{path[2], "", ""};
  size_t next = 3;
  if (path.size() > 4 && path[3] == "versions") {
    of.version = path[4];
    next = 5;
  }
  if (path.size() > next + 1) return std::nullopt;
  if (path.size() == next + 1) of.action = path[next];
  return of;
}

}  // namespace mete::serve
