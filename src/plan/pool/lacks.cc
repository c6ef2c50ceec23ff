#include "plan/pool/lacks.h"

#include <algorithm>

#include "base/error.h"
#include "partition/layers.h"

namespace mete {
namespace {

struct Lack {
  std::string first;  // the name of the first layer
  std::string why;
  int more = 0;  // layers that lack for the same reason
};

}  // namespace

std::vector<std::string> LacksOf(const Graph& graph, const ProcessorCosts& processor) {
  const std::vector<Layer> layers = LayersOf(graph);
  std::vector<Lack> lacks;
  for (size_t l = 0; l < layers.size(); ++l) {
    const std::string& why = processor.layers[l].why_not;
    if (why.empty()) continue;
    const auto known =
        std::find_if(lacks.begin(), lacks.end(), [&](const Lack& lack) { return lack.why == why; });
    if (known == lacks.end()) lacks.push_back({layers[l].name, why});
    else ++known->more;
  }
  std::vector<std::string> lines;
  for (const Lack& lack : lacks)
    lines.push_back(fmt::format("cannot compute layer '{}'{}: {}", Printable(lack.first),
                                lack.more > 0 ? fmt::format(" and {} more", lack.more) : "",
                                Printable(lack.why)));
  return lines;
}

}  // namespace mete
