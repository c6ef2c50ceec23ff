// Another device, reached over the network: a worker (network/protocol/worker.proto) as its caller sees it.
// Every call has a deadline, and ends when the device is cancelled.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "network/protocol/channel.h"
#include "network/protocol/chunk.h"
#include "network/protocol/programs.h"
#include "network/protocol/streams.h"
#include "network/protocol/write_queue.h"
#include "run/member.h"
#include "run/time_graph.h"

namespace mete {

struct RemoteAddress {
  std::string name;     // in the devices file, and in its certificate
  std::string address;  // HOST:PORT
};

struct RemoteHello {
  std::string version, machine;
  int threads = 0, deployments = 0;
  std::vector<std::string> processors;  // names of the processors that it offers
  std::vector<std::string> hardware;    // by processor: its cores, CPU and instruction set
};

// What a worker does now, and has done since it was started (StatusReply of worker.proto). The numbers are as
// the worker tells them, and not checked.
struct RemoteStatus {
  struct Processor {
    std::string name;
    double busy_s = 0;
    int waiting = 0;
    int64_t memory_bytes = 0;
  };
  std::string version, machine;
  double uptime_s = 0;
  int deployments = 0, most_deployments = 0, waiting = 0;
  uint64_t requests = 0, failures = 0;
  std::vector<double> upper_s;   // of the buckets of the requests' times
  std::vector<uint64_t> counts;  // by bucket, as many as there are ends
  double sum_s = 0;
  std::vector<Processor> processors;
  int64_t resident_bytes = 0, peak_bytes = 0;
  double cpu_s = 0;
  int64_t taken_bytes = 0, most_taken_bytes = 0;      // memory for shares
  int64_t weights_bytes = 0, most_weights_bytes = 0;  // on its disk
};

// Ends a call when `stop` asks for it; a call that begins later ends at once. `context` outlives this
// object.
class CancelOn {
 public:
  CancelOn(std::stop_token stop, grpc::ClientContext& context)
      : callback_(std::move(stop), Cancel{context}) {}

 private:
  struct Cancel {
    grpc::ClientContext& context;
    void operator()() const { context.TryCancel(); }
  };
  std::stop_callback<Cancel> callback_;
};

class RemoteDevice {
 public:
  RemoteDevice(RemoteAddress address, Security security);

  const std::string& name() const { return address_.name; }
  const RemoteAddress& address() const { return address_; }
  pb::Worker::Stub& stub() { return *stub_; }
  grpc::Channel& channel() { return *channel_; }
  const Security& security() const { return security_; }

  // Ends all calls and deployments with CANCELLED, those under way and those to come. Thread-safe.
  void Cancel() { stop_.request_stop(); }
  std::stop_token cancelled() const { return stop_.get_token(); }

  // Asks the worker who it is. Error UNAVAILABLE or DEADLINE_EXCEEDED without an answer, FAILED_PRECONDITION
  // for another protocol or a token or certificate that is not accepted. After an error the device closes the
  // connection and opens a new one, because gRPC checks an idle broken connection only every five seconds and
  // a restarted worker would stay unseen for that time. One thread at a time.
  RemoteHello Hello(std::chrono::milliseconds timeout);

  // Asks the worker what it does. Errors as of Hello(); FAILED_PRECONDITION also of a worker of an older
  // version, which does not tell, and DATA_LOSS of an answer that is none. One thread at a time.
  RemoteStatus Status(std::chrono::milliseconds timeout);

  // Sends the weights that the worker lacks; `sent` is called with the bytes sent so far and with the bytes
  // of all these weights. `note` becomes the worker's message about keeping them.
  void SendWeights(const std::map<Digest, Tensor>& weights, const std::function<void(int64_t, int64_t)>& sent,
                   std::string* note);

  // Returns the microseconds of each run of a graph on the worker, which computes nothing else and uses
  // made-up weights, and of the graph's nodes in the shortest run. `processor` names one of the worker's
  // processors; empty: its first.
  GraphTimes Time(const Graph& graph, int runs, std::chrono::milliseconds timeout,
                  const std::string& processor = "");
  // What the worker measures of its own hand-over from one of its processors to another.
  LinkProfile HandOver(const std::string& from, const std::string& to);

 private:
  struct Call;

  void Check(const grpc::Status& status) const;
  void Connect();

  const RemoteAddress address_;
  const Security security_;
  std::stop_source stop_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::Worker::Stub> stub_;
};

// A program on a worker. The constructor sends it, and the destructor gives it up.
class RemoteDeployment : public MemberProgram {
 public:
  // Sends the program; the weights must be there. `events` outlives it. Does not wait.
  RemoteDeployment(RemoteDevice& remote, int device, const pb::Deploy& deploy, Coding coding,
                   PlanEvents& events);
  ~RemoteDeployment() override;
  RemoteDeployment(const RemoteDeployment&) = delete;
  RemoteDeployment& operator=(const RemoteDeployment&) = delete;

  void WaitReady(std::chrono::milliseconds timeout, Clock& clock) override;  // Error if it is late
  void Begin(uint64_t request) override;
  void Send(int from, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) override;
  std::shared_ptr<Inbox> InboxOf(uint64_t) override { return nullptr; }
  void Stop() override;
  // Returns the device for whose piece the worker waits in this request, -1 for none; nothing without an
  // answer before `until`. One thread for each request.
  std::optional<int> WaitsFor(uint64_t request, Clock::Time until, Clock& clock) override;

 private:
  void Write(const pb::ToWorker& message);
  void Read();
  Error ReadAll();  // returns why the stream has ended
  void Tell(const Unpacked<pb::FromWorker>& got);
  void Put(const Chunk& chunk);

  RemoteDevice& remote_;
  const int device_;
  const Coding coding_;
  PlanEvents& events_;
  grpc::ClientContext context_;
  CancelOn cancel_;
  std::unique_ptr<ServeCall> stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false, stopping_ = false;
  std::map<uint64_t, std::optional<int>> waits_for_;  // by the request that the question is about
  std::exception_ptr error_;
  std::unique_ptr<WriteQueue> queue_;
  std::thread reader_;
};

}  // namespace mete
