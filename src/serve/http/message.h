// A request and its answer over HTTP, as values: what routes see of a connection.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mete::serve {

struct HttpRequest {
  std::string method;                          // "GET"
  std::string target;                          // "/v2/models/net/infer?x=1", as it was sent
  std::map<std::string, std::string> headers;  // the names in small letters
  std::shared_ptr<std::string> body = std::make_shared<std::string>();

  // The value of a header; "" if there is none.
  const std::string& header(const std::string& name) const {
    static const std::string none;
    const auto at = headers.find(name);
    return at == headers.end() ? none : at->second;
  }
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// Gets the answer, once, from any thread. The function makes it, so that the connection's thread does that
// work.
using Respond = std::function<void(std::function<HttpAnswer()>)>;

// The parts of a target: "/v2/models/a%20b/?classes=3" has the path {"v2", "models", "a b"} and one query.
struct Target {
  std::vector<std::string> path;  // without empty parts at the end
  std::map<std::string, std::string> query;
};
// Error INVALID_ARGUMENT for a target that does not begin with '/', or has a '%' without two hex digits
// behind it.
Target ParseTarget(const std::string& target);

}  // namespace mete::serve
