#include "network/worker/serving.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <latch>

#include "network/protocol/chunk.h"

namespace mete {
namespace {

// Accepts connections and never answers.
class Silent {
 public:
  Silent() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* any = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(bind(fd_, any, size) | listen(fd_, 1) | getsockname(fd_, any, &size), 0);
    address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  ~Silent() { close(fd_); }
  std::string address;

 private:
  const int fd_;
};

TEST(Feeder, NobodyWaitsUntilItHasConnected) {
  const Silent silent;
  pb::Peer peer;
  peer.set_processor(2);
  peer.set_name("silent");
  peer.set_address(silent.address);
  const Security security;
  const auto unwritten = std::make_shared<Unwritten>();
  Code broken = Code::kCancelled;  // also where the queue ended before it had begun to connect
  {
    Feeder feeder(peer, "sixteen letters!", 1, Coding::kF32, security,
                  [&](const Error& error) { broken = error.code(); });
    for (uint64_t request = 0; request < 3; ++request)
      feeder.Send(request, {0, 0, 0}, Tensor(DType::kF32, {1000}), unwritten->Add());
  }
  // Connecting was given up by the destructor, not after a time.
  EXPECT_EQ(broken, Code::kCancelled);
  unwritten->Wait();  // the feeder has dropped the unwritten messages
}

// A caller of one lane, which reads what a worker writes.
class Caller {
 public:
  Caller() {
    pb::Deploy deploy;
    deploy.set_index(1);
    deploy.set_lanes(1);
    serving_.emplace([this](const grpc::ByteBuffer& bytes) { return Read(bytes); }, deploy, Coding::kF32,
                     security_, [](int) { return nullptr; });
  }
  Serving& serving() { return *serving_; }

  std::function<void()> has_read_an_answer = [] {};
  std::atomic<int> answers{0};
  std::latch done{1};

 private:
  bool Read(grpc::ByteBuffer bytes) {
    const auto message = Unpack<pb::FromWorker>(bytes).message;
    if (message.has_done()) done.count_down();
    if (!message.has_waiting()) return true;
    ++answers;
    has_read_an_answer();
    return true;
  }

  const Security security_;
  std::optional<Serving> serving_;
};

TEST(Serving, WhoAsksAgainAtOnceIsAnswered) {
  Caller caller;
  caller.has_read_an_answer = [&] {
    if (caller.answers > 1) return;
    caller.serving().SendWaiting(1, 0);
    caller.serving().SendDone(0, {}, {});
  };
  caller.serving().SendWaiting(0, 0);
  caller.done.wait();
  EXPECT_EQ(caller.answers, 2);
}

TEST(Serving, WhoAsksWithoutReadingFillsNoMemory) {
  Caller caller;
  std::latch asked{1};
  caller.has_read_an_answer = [&] { asked.wait(); };
  for (int i = 0; i < 10; ++i) caller.serving().SendWaiting(0, 0);
  asked.count_down();
  caller.serving().SendDone(0, {}, {});
  caller.done.wait();
  EXPECT_EQ(caller.answers, 2);
}

}  // namespace
}  // namespace mete
