// The flags of serve_load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mete::load {

struct Options {
  std::string host = "127.0.0.1";  // an IPv4 address
  int port = 8080;
  std::string path;                  // "/v2/models/net/infer"
  std::string body;                  // of every request
  std::vector<std::string> headers;  // lines "Name: value"
  int connections = 1;               // at most, where requests arrive by themselves; else all of them
  double rate = 0;     // requests a second that arrive whatever becomes of the others; 0: each connection
                       // sends when it has its answer
  bool even = false;   // arrivals at equal distances; otherwise at random (exponential distances)
  uint64_t seed = 1;   // of these
  double seconds = 5;  // during which requests are sent
};

// Reads `--flag value` pairs. Writes what is wrong to stderr, and then returns nothing.
std::optional<Options> ReadOptions(int argc, char** argv);

}  // namespace mete::load
