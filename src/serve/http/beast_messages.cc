#include "serve/http/beast_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "serve/http/answers.h"

namespace mete::serve {

namespace http = boost::beast::http;

HttpRequest RequestOf(const http::request_header<>& header) {
  HttpRequest request;
  request.method = std::string(header.method_string());
  request.target = std::string(header.target());
  for (const auto& field : header) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    request.headers[name] = std::string(field.value());
  }
  return request;
}

std::optional<HttpAnswer> RefusalOf(boost::system::error_code problem, bool in_body, int64_t header_bytes) {
  if (problem == http::error::header_limit || problem == http::error::body_limit)
    return in_body
               ? ErrorAnswer(413, "[server] the body is too large for one whose length is not told")
               : ErrorAnswer(431, fmt::format("[server] the header is too large; got more than {0} bytes, "
                                              "expected {0} at most; try fewer or shorter fields",
                                              header_bytes));
  if (!problem || problem.category() != http::make_error_code(http::error::end_of_stream).category())
    return std::nullopt;
  return ErrorAnswer(400, std::string("[server] the request") + (in_body ? "'s body" : "") +
                              " is no HTTP/1.1: " + problem.message());
}

HttpBody RoomFor(const HttpRequest& request, size_t bytes) {
  return HttpBody(bytes,
                  std::strtoull(request.header("inference-header-content-length").c_str(), nullptr, 10));
}

http::response<http::string_body> MessageOf(HttpAnswer answer, const HttpRequest& request, bool stay) {
  http::response<http::string_body> message(http::status(answer.status), 11);
  message.set(http::field::server, "mete");
  message.set(http::field::content_type, answer.type);
  for (const auto& [name, value] : answer.headers) message.set(name, value);
  if (const std::string& trace = request.header("traceparent"); !trace.empty())
    message.set("traceparent", trace);
  message.keep_alive(stay);
  if (request.method == "HEAD") {
    message.content_length(answer.body.size());
  } else {
    message.body() = std::move(answer.body);
    message.prepare_payload();
  }
  return message;
}

}  // namespace mete::serve
