#include "chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "context.h"
#include "inputs.h"
#include "model_flags.h"

namespace mete::cli {
namespace {

// Returns the number of the port of this name, or -1 and what is wrong.
int PortOf(const std::vector<Port>& ports, const std::string& name, const char* kind, std::string& problem) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return int(found - names.begin());
  problem = fmt::format("no {} of the model; got '{}'{}", kind, name, ExpectedOneOf(name, names));
  return -1;
}

// Returns whether a tensor of the output may be one of the input, as far as that is known before a run.
bool MayFeed(const Port& from, const Port& to) {
  const bool types = from.type == DType::kUnknown || to.type == DType::kUnknown || from.type == to.type;
  const bool ranks = !from.shape.known() || !to.declared.known() || from.shape.rank() == to.declared.rank();
  return types && ranks;
}

// Appends the feed of a word, or returns what is wrong with the word.
std::string AddFeed(const Model& model, const std::string& word, std::vector<Chain::Feed>& feeds) {
  const auto [input, output] = SplitAssignment(word, "--feed");
  std::string problem;
  const int to = PortOf(model.inputs(), input, "input", problem);
  if (to < 0) return problem;
  const int from = PortOf(model.outputs(), output, "output", problem);
  if (from < 0) return problem;
  const auto has_input = [to](const Chain::Feed& feed) { return feed.input == size_t(to); };
  if (std::any_of(feeds.begin(), feeds.end(), has_input))
    return fmt::format("input '{}' is given twice; got '{}' again, expected it once", input, word);
  const Port &of_output = model.outputs()[size_t(from)], &of_input = model.inputs()[size_t(to)];
  if (!MayFeed(of_output, of_input))
    return fmt::format("the output does not fit the input; got {}, expected {}", DescribePort(of_output),
                       DescribePort(of_input));
  feeds.push_back({size_t(to), size_t(from)});
  return "";
}

}  // namespace

Chain ChainOf(const Model& model, int steps, const std::vector<std::string>& words) {
  Chain chain{steps};
  std::string problems;
  for (const std::string& word : words)
    if (const std::string problem = AddFeed(model, word, chain.feeds); !problem.empty())
      problems += fmt::format("{}[--feed] {}", problems.empty() ? "" : "\n", problem);
  if (!problems.empty()) throw UsageError(problems);
  return chain;
}

std::vector<Tensor> RunChain(Session& session, const Chain& chain, std::vector<Tensor> inputs,
                             const RunOptions& options) {
  std::vector<Tensor> outputs = session.Run(inputs, options);
  for (int step = 1; step < chain.steps; ++step) {
    for (const Chain::Feed& feed : chain.feeds) inputs[feed.input] = outputs[feed.output];
    outputs = session.Run(inputs, options);
  }
  return outputs;
}

}  // namespace mete::cli
