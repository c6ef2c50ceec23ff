// Requests over sockets: what the connection does, whatever the routes answer.
#include "serve/http/http_server.h"

#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "network/keys/keys.h"
#include "network/keys/make.h"
#include "serve/http/digits_server_testing.h"

namespace mete::serve {
namespace {

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

std::string Post(const std::string& target, const std::string& body, const std::string& headers = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: x\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Whose requests have bodies of a hundred bytes at most.
RouteOptions OfHundredBytes() {
  RouteOptions routing;
  routing.bounds.json_bytes = routing.bounds.input_bytes = 50;
  routing.most_picture_bytes = 100;
  return routing;
}

std::string Get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

TEST_F(HttpServerTest, AnswersSeveralRequestsOfAConnection) {
  tcp::socket socket = Connect();
  for (int i = 0; i < 3; ++i) {
    const Answer answer = Ask(socket, Get("/v2/health/live", "traceparent: 00-a-b-01\r\n"));
    EXPECT_EQ(answer.result_int(), 200u);
    EXPECT_EQ(answer["traceparent"], "00-a-b-01");
    EXPECT_FALSE(answer["Mete-Wait-Ms"].empty());
    EXPECT_TRUE(answer.keep_alive());
  }
  net::write(socket, net::buffer(Get("/v2") + Get("/nothing")));  // both before the first answer
  EXPECT_EQ(Read(socket).result_int(), 200u);
  EXPECT_EQ(Read(socket).result_int(), 404u);
  EXPECT_EQ(http_->connections(), 1);
}

TEST_F(HttpServerTest, AHeadHasTheLengthAndNoBody) {
  tcp::socket socket = Connect();
  const Answer answer = Ask(socket, "HEAD /v2 HTTP/1.1\r\nHost: x\r\n\r\n", true);
  EXPECT_EQ(answer.result_int(), 200u);
  EXPECT_NE(answer[http::field::content_length], "0");
  EXPECT_EQ(Ask(socket, Get("/v2")).result_int(), 200u);  // what follows is the next answer
}

TEST_F(HttpServerTest, ClassifiesAPicture) {
  std::ifstream file("models/digit.png", std::ios::binary);
  const std::string picture{std::istreambuf_iterator<char>(file), {}};
  tcp::socket socket = Connect();
  const Answer answer =
      Ask(socket, Post("/v2/models/digits/classify?classes=2", picture, "Content-Type: image/png\r\n"));
  EXPECT_EQ(answer.result_int(), 200u) << answer.body();
  EXPECT_NE(answer["Server-Timing"].find("decode;dur="), beast::string_view::npos);
  EXPECT_FALSE(answer["Mete-Wait-Ms"].empty());
  // in pieces of any size, without a length
  std::string chunked =
      "POST /v2/models/digits/classify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (size_t at = 0; at < picture.size(); at += 1000) {
    const std::string piece = picture.substr(at, 1000);
    chunked += (std::ostringstream() << std::hex << piece.size()).str() + "\r\n" + piece + "\r\n";
  }
  EXPECT_EQ(Ask(socket, chunked + "0\r\n\r\n").result_int(), 200u);
}

TEST_F(HttpServerTest, RefusesABodyByItsLengthBeforeItComes) {
  RouteOptions routing;
  routing.most_picture_bytes = 1000;
  Start(routing);
  const Answer answer =
      Ask("POST /v2/models/digits/classify HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_EQ(answer.result_int(), 413u);
  EXPECT_FALSE(answer.keep_alive());
  EXPECT_EQ(
      Ask("POST /v2/models/digits/classify HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999999999\r\n\r\n")
          .result_int(),
      413u);
}

TEST_F(HttpServerTest, RefusesAChunkedBodyWhenItIsTooLarge) {
  RouteOptions routing;
  routing.most_picture_bytes = 1000;
  Start(routing);
  const std::string piece = "3e8\r\n" + std::string(1000, 'x') + "\r\n";
  EXPECT_EQ(Ask("POST /v2/models/digits/classify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                piece + piece)
                .result_int(),
            413u);
}

TEST_F(HttpServerTest, RefusesBytesBeyondThoseOfAllRequests) {
  HttpOptions options;
  options.limits.bytes_together = 100;
  Start(OfHundredBytes(), options);
  const std::string whole = Post("/v2/models/digits/infer", std::string(90, 'x'));
  tcp::socket first = Connect();
  net::write(first, net::buffer(whole.substr(0, whole.size() - 30)));
  Answer refused;
  while (refused.result_int() != 503) refused = Ask(whole);  // until the server has read the first one's
  EXPECT_EQ(refused["Retry-After"], "1");
  EXPECT_FALSE(refused.keep_alive());
  const std::string chunked =
      "POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(Ask(chunked + "5a\r\n" + std::string(90, 'x') + "\r\n0\r\n\r\n").result_int(), 503u);
  EXPECT_EQ(Ask(first, whole.substr(whole.size() - 30)).result_int(), 400u);
  for (int i = 0; i < 20; ++i)  // each gives back what it had
    EXPECT_EQ(Ask(whole).result_int(), 400u);
}

TEST_F(HttpServerTest, ALengthThatIsToldKeepsNobodyOut) {
  HttpOptions options;
  options.limits.bytes_together = 100;
  Start(OfHundredBytes(), options);
  std::vector<tcp::socket> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(Connect());
    net::write(others.back(), net::buffer(std::string("POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\n"
                                                      "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n")));
    EXPECT_EQ(Read(others.back()).result_int(), 100u);  // the server waits for its body
  }
  EXPECT_EQ(Ask(Post("/v2/models/digits/infer", std::string(90, 'x'))).result_int(), 400u);
}

TEST_F(HttpServerTest, TakesABodyAsLargeAsOneMayBe) {
  HttpOptions options;
  options.limits.bytes_together = 10;  // fewer than a tensor of this server
  Start({}, options);
  EXPECT_EQ(Ask(Post("/v2/models/digits/infer", std::string(100, 'x'))).result_int(), 400u);
}

TEST_F(HttpServerTest, RefusesAnAnswerBeyondTheBytesOfAll) {
  HttpOptions options;
  options.limits.bytes_together = 100;
  Start(OfHundredBytes(), options);
  EXPECT_EQ(Ask(Get("/v2/health/live")).result_int(), 200u);
  EXPECT_EQ(Ask(Get("/openapi.json")).result_int(), 200u);  // is small, as it is
  options.limits.small_answer = 0;
  Start(OfHundredBytes(), options);
  tcp::socket socket = Connect();
  const Answer refused = Ask(socket, Get("/openapi.json"));
  EXPECT_EQ(refused.result_int(), 503u);
  EXPECT_EQ(refused["Retry-After"], "1");
  EXPECT_EQ(Ask(socket, Get("/v2/health/live")).result_int(), 200u);
}

TEST_F(HttpServerTest, AHeaderIsNotWaitedForAsLongAsARequest) {
  HttpOptions options;
  options.limits.header = std::chrono::seconds(0);
  Start({}, options);
  tcp::socket socket = Connect();
  net::write(socket, net::buffer(std::string("GET /v2 HTTP/1.1\r\nHost: x\r\n")));
  boost::system::error_code problem;
  char byte = 0;
  EXPECT_EQ(socket.read_some(net::buffer(&byte, 1), problem), 0u);
  EXPECT_TRUE(problem);
  EXPECT_EQ(Ask(Get("/v2")).result_int(), 200u);  // one that comes at once
}

TEST_F(HttpServerTest, ContinuesWhereACallerWaitsForThat) {
  tcp::socket socket = Connect();
  net::write(socket,
             net::buffer(std::string("POST /v2/repository/index HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                                     "Expect: 100-continue\r\n\r\n")));
  EXPECT_EQ(Read(socket).result_int(), 100u);
  EXPECT_EQ(Ask(socket, "{}").result_int(), 200u);
}

TEST_F(HttpServerTest, WhatIsNoHttpHasAnAnswer) {
  EXPECT_EQ(Ask("nonsense\r\n\r\n").result_int(), 400u);
  EXPECT_EQ(Ask("GET / HTTP/1.1\r\nA: " + std::string(100000, 'x') + "\r\n\r\n").result_int(), 431u);
  EXPECT_EQ(
      Ask("POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
          .result_int(),
      400u);
  EXPECT_EQ(Ask(Get("/v2/models/%zz")).result_int(), 400u);
}

TEST_F(HttpServerTest, AsksForTheTokenButForHealth) {
  RouteOptions routing;
  routing.token = "0123456789abcdef";
  Start(routing);
  EXPECT_EQ(Ask(Get("/v2")).result_int(), 401u);
  EXPECT_EQ(Ask(Get("/v2", "Authorization: Bearer 0123456789abcdeg\r\n")).result_int(), 401u);
  EXPECT_EQ(Ask(Get("/v2", "Authorization: Bearer 0123456789abcdef\r\n")).result_int(), 200u);
  EXPECT_EQ(Ask(Get("/v2/health/live")).result_int(), 200u);
  EXPECT_EQ(Ask(Post("/v2/health/x/infer", "{}")).result_int(), 401u);
}

TEST_F(HttpServerTest, ALogThatFailsEndsNoServer) {
  HttpOptions options;
  options.log = [](const HttpLogLine&) { throw std::runtime_error("the disk is full"); };
  Start({}, options);
  EXPECT_EQ(Ask(Get("/v2")).result_int(), 200u);
  EXPECT_EQ(Ask(Get("/v2")).result_int(), 200u);
}

TEST_F(HttpServerTest, TheLongestIdleConnectionMakesRoom) {
  HttpOptions options;
  options.limits.connections = 2;
  Start({}, options);
  tcp::socket first = Connect(), second = Connect();
  EXPECT_EQ(Ask(first, Get("/v2")).result_int(), 200u);
  EXPECT_EQ(Ask(second, Get("/v2")).result_int(), 200u);
  tcp::socket third = Connect();
  EXPECT_EQ(Ask(third, Get("/v2")).result_int(), 200u);
  char byte = 0;
  boost::system::error_code problem;
  EXPECT_EQ(first.read_some(net::buffer(&byte, 1), problem), 0u);
  EXPECT_TRUE(problem);
  EXPECT_EQ(Ask(second, Get("/v2")).result_int(), 200u);
}

TEST_F(HttpServerTest, ClosesIdleConnectionsAtItsEnd) {
  const int port = http_->port();
  tcp::socket socket = Connect();
  EXPECT_EQ(Ask(socket, Get("/v2")).result_int(), 200u);
  http_->Close(std::chrono::minutes(5));
  EXPECT_EQ(http_->connections(), 0);
  boost::system::error_code problem;
  char byte = 0;
  EXPECT_EQ(socket.read_some(net::buffer(&byte, 1), problem), 0u);
  EXPECT_EQ(problem, net::error::eof);
  tcp::socket late(context_);
  late.connect({net::ip::make_address("127.0.0.1"), std::uint16_t(port)}, problem);
  EXPECT_TRUE(problem);
}

TEST_F(HttpServerTest, LogsEachRequest) {
  std::vector<HttpLogLine> lines;
  HttpOptions options;
  options.log = [&](const HttpLogLine& line) { lines.push_back(line); };
  Start({}, options);
  Ask(Get("/v2/health/live?x=1", "traceparent: t\r\n"));
  http_->Close(std::chrono::minutes(5));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].method, "GET");
  EXPECT_EQ(lines[0].target, "/v2/health/live?x=1");
  EXPECT_EQ(lines[0].traceparent, "t");
  EXPECT_EQ(lines[0].status, 200);
  EXPECT_EQ(lines[0].peer, "127.0.0.1");
}

TEST(Targets, AreTakenApart) {
  const Target target = ParseTarget("/v2/models/a%20b%2f/?classes=3&x&y=%41+b#end");
  EXPECT_EQ(target.path, (std::vector<std::string>{"v2", "models", "a b/"}));
  EXPECT_EQ(target.query, (std::map<std::string, std::string>{{"classes", "3"}, {"x", ""}, {"y", "A b"}}));
  EXPECT_TRUE(ParseTarget("/").path.empty());
  EXPECT_EQ(ParseTarget("/%41").path[0], "A");
  for (const char* bad : {"", "v2", "/%", "/%4", "/%g0", "/x?%"})
    EXPECT_THROW(ParseTarget(bad), Error) << bad;
}

}  // namespace
}  // namespace mete::serve
