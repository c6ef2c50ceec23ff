#include "serve/http/beast_messages.h"

#include <algorithm>
#include <cctype>

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
