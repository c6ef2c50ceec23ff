// What a server refuses for lack of memory or of a place in its queue.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "serve/http/http_server_testing.h"

namespace mete::serve {
namespace {

// Whose requests have bodies of a hundred bytes at most.
RouteOptions OfHundredBytes() {
  RouteOptions routing;
  routing.bounds.json_bytes = routing.bounds.input_bytes = 50;
  routing.most_picture_bytes = 100;
  return routing;
}

TEST_F(HttpServerTest, RefusesBytesBeyondThoseOfAllRequests) {
  HttpOptions options;
  options.limits.bytes_together = 100;
  Start(OfHundredBytes(), options);
  const std::string whole = Post("/v2/models/digits/classify", std::string(90, 'x'));
  tcp::socket first = Connect();
  net::write(first, net::buffer(whole.substr(0, whole.size() - 30)));
  Answer refused;
  while (refused.result_int() != 503) refused = Ask(whole);  // until the server has read the first one's
  EXPECT_EQ(refused["Retry-After"], "1");
  EXPECT_NE(refused.body().find("got more than 100, expected 100 at most"), std::string::npos);
  EXPECT_FALSE(refused.keep_alive());
  const std::string chunked =
      "POST /v2/models/digits/classify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(Ask(chunked + "5a\r\n" + std::string(90, 'x') + "\r\n0\r\n\r\n").result_int(), 503u);
  EXPECT_EQ(Ask(first, whole.substr(whole.size() - 30)).result_int(), 400u);
  for (int i = 0; i < 20; ++i)  // each gives back what it had
    EXPECT_EQ(Ask(whole).result_int(), 400u);
}

// Of 1.1 MB over 0.13 Mbit/s, which take 68 s, half has come after 34 s.
TEST(HttpLimits, GiveALongBodyTheTimeThatASlowLinkNeeds) {
  const HttpLimits limits;
  EXPECT_EQ(limits.BodyTime(0), limits.body);
  for (int s = 0; s < 100000; s += 1000)
    EXPECT_GT(limits.BodyTime(int64_t(s) * 130000 / 8), std::chrono::seconds(s));
  EXPECT_LT(limits.BodyTime(1000 * 1000), std::chrono::seconds(1000));  // of a byte each millisecond
}

TEST_F(HttpServerTest, ALengthThatIsToldKeepsNobodyOut) {
  HttpOptions options;
  options.limits.bytes_together = 100;
  Start(OfHundredBytes(), options);
  std::vector<tcp::socket> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(Connect());
    net::write(others.back(),
               net::buffer(std::string("POST /v2/models/digits/classify HTTP/1.1\r\nHost: x\r\n"
                                       "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n")));
    EXPECT_EQ(Read(others.back()).result_int(), 100u);  // the server waits for its body
  }
  EXPECT_EQ(Ask(Post("/v2/models/digits/classify", std::string(90, 'x'))).result_int(), 400u);
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

// Who has been answered for the last time and still sends keeps no other caller out.
TEST_F(HttpServerTest, AConnectionThatEndsMakesRoom) {
  HttpOptions options;
  options.limits.connections = 1;
  Start(OfHundredBytes(), options);
  tcp::socket first = Connect();
  EXPECT_EQ(Ask(first, Post("/v2/models/digits/classify", std::string(1000, 'x'))).result_int(), 413u);
  char byte = 0;
  boost::system::error_code problem;
  EXPECT_EQ(first.read_some(net::buffer(&byte, 1), problem), 0u);
  EXPECT_EQ(problem, net::error::eof);
  EXPECT_EQ(Ask(Get("/v2/health/live")).result_int(), 200u);
}

// The only slot is busy until it is opened.
class BusyServer : public HttpServerTest {
 protected:
  BusyServer() {
    ServerOptions options;
    options.repository = repository_.str();
    options.session = SessionOptions::Estimated();
    options.queue = {.slots = 1, .waiting_per_slot = 1};
    http_.reset();
    server_ = std::make_unique<Server>(options);
    Start({});
    server_->Infer("digits", "", Request(), std::nullopt, [this](Outcome&&) {
      begun_.set_value();
      open_.get_future().wait();
    });
    begun_.get_future().wait();
  }
  ~BusyServer() override {
    Open();
    server_->Drain(std::chrono::minutes(5));  // what it has uses this object
  }

  void Open() {
    if (!std::exchange(is_open_, true)) open_.set_value();
  }

  static InferRequest Request() {
    InferRequest request;
    NamedTensor& input = request.inputs.emplace_back();
    input.name = "image";
    input.shape = {1, 3, 32, 32};
    input.tensor = Tensor(DType::kF32, input.shape);
    return request;
  }
  static std::string Header(size_t bytes, const std::string& more = "") {
    return "POST /v2/models/digits/versions/1/infer HTTP/1.1\r\nHost: x\r\nContent-Length: " +
           std::to_string(bytes) + "\r\n" + more + "\r\n";
  }

  std::promise<void> begun_, open_;
  bool is_open_ = false;
};

TEST_F(BusyServer, ComputesNothingForACallerThatHasGone) {
  {
    tcp::socket socket = Connect();
    std::ifstream file("models/digit.png", std::ios::binary);
    const std::string picture{std::istreambuf_iterator<char>(file), {}};
    net::write(socket, net::buffer(Post("/v2/models/digits/classify", picture)));
    while (server_->waiting() == 0) std::this_thread::yield();
  }
  while (server_->waiting() > 0) std::this_thread::yield();
  Open();
  EXPECT_TRUE(server_->Drain(std::chrono::minutes(5)));
  EXPECT_EQ(server_->Statistics("digits", "1")[0].executions, 1);
}

TEST_F(BusyServer, TakesTheNextRequestOfAConnectionForNoFarewell) {
  tcp::socket socket = Connect();
  std::ifstream file("models/digit.png", std::ios::binary);
  const std::string picture{std::istreambuf_iterator<char>(file), {}};
  net::write(socket, net::buffer(Post("/v2/models/digits/classify", picture)));
  while (server_->waiting() == 0) std::this_thread::yield();
  net::write(socket, net::buffer(Get("/v2")));
  // The server's only thread for connections has seen the bytes when it answers another caller.
  EXPECT_EQ(Ask(Get("/v2/health/live")).result_int(), 200u);
  Open();
  EXPECT_EQ(Read(socket).result_int(), 200u);
  EXPECT_EQ(Read(socket).result_int(), 200u);
}

class FullServer : public BusyServer {
 protected:
  FullServer() {
    server_->Infer("digits", "", Request(), std::nullopt, [](Outcome&&) {});
    EXPECT_EQ(server_->waiting(), 1);
  }
};

TEST_F(FullServer, SaysSoBeforeABodyComes) {
  for (const std::string& header : {Header(10, "Expect: 100-continue\r\n"), Header(2 << 20)}) {
    const auto answer = Ask(header);
    EXPECT_EQ(answer.result_int(), 429u) << header;
    EXPECT_FALSE(answer["Retry-After"].empty());
    EXPECT_FALSE(answer["Mete-Wait-Ms"].empty());
    EXPECT_FALSE(answer.keep_alive());
  }
}

TEST_F(FullServer, ReadsAShortBodyAwaySoThatTheConnectionGoesOn) {
  tcp::socket socket = Connect();
  for (const size_t bytes : {size_t(0), size_t(10), size_t(1) << 20}) {
    const auto answer = Ask(socket, Header(bytes) + std::string(bytes, 'x'));
    EXPECT_EQ(answer.result_int(), 429u) << bytes;
    EXPECT_TRUE(answer.keep_alive());
  }
  EXPECT_EQ(Ask(socket, Get("/v2/health/live")).result_int(), 200u);
}

TEST_F(FullServer, TellsOfMistakesWhereThereIsAPlace) {
  EXPECT_EQ(Ask(Post("/v2/models/none/infer", "{}")).result_int(), 400u);  // of a body that is no request
  Open();
  EXPECT_TRUE(server_->Drain(std::chrono::minutes(5)));
  EXPECT_EQ(Ask(Header(2 << 20)).result_int(), 503u);
}

}  // namespace
}  // namespace mete::serve
