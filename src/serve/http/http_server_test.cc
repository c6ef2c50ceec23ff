// Requests over sockets: what the connection does, whatever the routes answer.
#include "serve/http/http_server.h"

#include <gtest/gtest.h>

#include <boost/asio/ssl.hpp>
#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "network/keys/keys.h"
#include "network/keys/make.h"
#include "serve/http/http_server_testing.h"

namespace mete::serve {
namespace {

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
  const Answer long_header = Ask("GET / HTTP/1.1\r\nA: " + std::string(100000, 'x') + "\r\n\r\n");
  EXPECT_EQ(long_header.result_int(), 431u);
  EXPECT_NE(long_header.body().find("got more than 16384 bytes, expected 16384 at most"), std::string::npos);
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
