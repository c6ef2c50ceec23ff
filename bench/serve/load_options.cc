#include "load_options.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>

namespace mete::load {
namespace {

using Take = std::function<bool(const std::string&)>;

template <class Number>
Take NumberInto(Number& to, Number least) {
  return [&to, least](const std::string& text) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), to);
    return problem == std::errc() && end == text.data() + text.size() && to >= least;
  };
}

Take TextInto(std::string& to) {
  return [&to](const std::string& text) {
    to = text;
    return !text.empty();
  };
}

Take FileInto(std::string& to) {
  return [&to](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    to.assign(std::istreambuf_iterator<char>(file), {});
    return bool(file);
  };
}

}  // namespace

std::optional<Options> ReadOptions(int argc, char** argv) {
  Options options;
  const std::map<std::string, Take> flags{
      {"--host", TextInto(options.host)},
      {"--port", NumberInto(options.port, 1)},
      {"--path", TextInto(options.path)},
      {"--body", FileInto(options.body)},
      {"--header",
       [&](const std::string& line) {
         options.headers.push_back(line);
         return line.find(": ") != line.npos;
       }},
      {"--connections", NumberInto(options.connections, 1)},
      {"--rate", NumberInto(options.rate, 0.0)},
      {"--arrivals",
       [&](const std::string& kind) {
         options.even = kind == "even";
         return kind == "even" || kind == "random";
       }},
      {"--seed", NumberInto(options.seed, uint64_t(0))},
      {"--seconds", NumberInto(options.seconds, 0.001)},
  };
  for (int i = 1; i < argc; i += 2) {
    const auto flag = flags.find(argv[i]);
    if (flag != flags.end() && i + 1 < argc && flag->second(argv[i + 1])) continue;
    fmt::print(stderr, "[serve_load] a flag cannot be read; got '{}{}{}', expected one of", argv[i],
               i + 1 < argc ? " " : "", i + 1 < argc ? argv[i + 1] : "");
    for (const auto& [name, take] : flags) fmt::print(stderr, " {}", name);
    fmt::print(stderr, ", each with a value\n");
    return std::nullopt;
  }
  if (!options.path.empty()) return options;
  fmt::print(stderr, "[serve_load] --path is missing; try --path /v2/models/NAME/infer\n");
  return std::nullopt;
}

}  // namespace mete::load
