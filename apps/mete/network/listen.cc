#include "network/listen.h"

#include <fmt/format.h>

#include "terminal.h"

namespace mete::cli {

// gRPC would listen on port 443 where none is given.
void CheckListen(const std::string& flag, const std::string& listen) {
  const size_t colon = listen.rfind(':');
  const std::string port = colon == std::string::npos ? "" : listen.substr(colon + 1);
  const bool good = colon > 0 && !port.empty() && port.size() <= 5 &&
                    port.find_first_not_of("0123456789") == std::string::npos && std::stoi(port) <= 65535;
  if (!good)
    throw UsageError(
        fmt::format("[{}] is not an address; got '{}', expected HOST:PORT; try 0.0.0.0:7077 for all networks",
                    flag, listen));
}

bool IsLoopback(const std::string& listen) {
  return listen.starts_with("127.") || listen.starts_with("localhost:") || listen.starts_with("[::1]:");
}

Security SecurityFor(const std::string& flag, const std::string& listen, const Security& security,
                     bool insecure, const Context& context) {
  if (!security.plain() || IsLoopback(listen)) return security;
  if (!insecure)
    throw UsageError(fmt::format(
        "[{}] {} can be reached from other hosts, and callers have to prove nothing; try --keys "
        "FOLDER (mete keys make), --token FILE (mete keys token) on a closed network, or --insecure",
        flag, listen));
  PrintNote(
      context,
      fmt::format("every program that reaches {} may compute here, and everything is sent as plain text",
                  listen));
  return security;
}

}  // namespace mete::cli
