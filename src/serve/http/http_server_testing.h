// A server of models/digits.onnx, and requests to it over sockets.
#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <string>

#include "serve/http/digits_server_testing.h"

namespace mete::serve {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = net::ip::tcp;
using Answer = http::response<http::string_body>;

class HttpServerTest : public DigitsServer {
 protected:
  tcp::socket Connect() {
    tcp::socket socket(context_);
    socket.connect({net::ip::make_address("127.0.0.1"), std::uint16_t(http_->port())});
    return socket;
  }

  template <class Stream>
  Answer Read(Stream& stream, bool head = false) {
    http::response_parser<http::string_body> parser;
    parser.skip(head);
    http::read(stream, buffer_, parser);
    return parser.release();
  }
  Answer Ask(tcp::socket& socket, const std::string& text, bool head = false) {
    net::write(socket, net::buffer(text));
    return Read(socket, head);
  }
  Answer Ask(const std::string& text) {
    tcp::socket socket = Connect();
    return Ask(socket, text);
  }

  net::io_context context_;
  beast::flat_buffer buffer_;
};

inline std::string Post(const std::string& target, const std::string& body, const std::string& headers = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: x\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline std::string Get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

}  // namespace mete::serve
