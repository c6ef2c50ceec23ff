// A request and its answer over HTTP, as values: what routes see of a connection.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mete::serve {

// The bytes of a request's body.
class HttpBody {
 public:
  HttpBody() = default;
  HttpBody(std::string text);                                  // NOLINT: tests write bodies as texts
  HttpBody(const char* text) : HttpBody(std::string(text)) {}  // NOLINT
  // For the connection to fill: byte `aligned` of them lies at a multiple of 64, so that elements which begin
  // there can be used where they lie.
  HttpBody(size_t bytes, size_t aligned);

  char* data() { return data_; }
  size_t size() const { return size_; }
  std::string_view text() const { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {reinterpret_cast<const std::byte*>(data_), size_}; }
  const std::shared_ptr<void>& owner() const { return owner_; }
  std::string TakeText() const;  // copies it only if it was made with an alignment; once

 private:
  std::shared_ptr<void> owner_;
  std::shared_ptr<std::string> string_;  // of a body that was made of one
  char* data_ = nullptr;
  size_t size_ = 0;
};

struct HttpRequest {
  std::string method;                          // "GET"
  std::string target;                          // "/v2/models/net/infer?x=1", as it was sent
  std::map<std::string, std::string> headers;  // the names in small letters
  HttpBody body;

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
