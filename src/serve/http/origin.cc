#include "serve/http/origin.h"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>

#include "base/error.h"

namespace mete::serve {
namespace {

constexpr size_t kMostShown = 100;  // characters, in an error

// The name or address of "HOST", "HOST:PORT", "[ADDRESS]:PORT".
std::string NameOf(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool IsAddressOrLocal(const std::string& name) {
  boost::system::error_code problem;
  boost::asio::ip::make_address(name, problem);
  return !problem || boost::beast::iequals(name, "localhost");
}

}  // namespace

std::string WhyForeign(const std::string& origin, const std::string& host, bool local) {
  if (origin.empty()) return "";
  const size_t scheme = origin.find("://");
  const std::string of = scheme == std::string::npos ? "" : origin.substr(scheme + 3);
  if (!of.empty() && boost::beast::iequals(of, host) && (!local || IsAddressOrLocal(NameOf(host)))) return "";
  return fmt::format(
      "[Origin] a web page of another origin asks; got '{}' for the host '{}', expected this server's own "
      "page; try a server with --token",
      Printable(origin.substr(0, kMostShown)), Printable(host.substr(0, kMostShown)));
}

}  // namespace mete::serve
