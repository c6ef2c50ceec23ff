#include "network/worker/worker.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <deque>

#include "base/clock.h"
#include "base/error.h"
#include "machine/machine.h"
#include "network/protocol/check.h"
#include "network/protocol/reflection.h"
#include "run/program_bytes.h"
#include "run/errors.h"
#include "run/local_member.h"
#include "run/member.h"
#include "run/time_graph.h"
#include "network/worker/call_watch.h"
#include "network/worker/ready_cache.h"
#include "network/worker/serving.h"
#include "network/worker/weight_receiver.h"
#include "network/worker/weight_store.h"
#include "network/worker/worker_status.h"
#include "processor/cpu/cpu.h"
#include "processor/cpu/stored_profile.h"

namespace mete {
namespace {

constexpr int kMostRuns = 1000;
constexpr int kMostEchoBytes = 16 << 20;  // guess: the largest activation of VGG-16
// Bytes of the incomplete messages of all callers. This value is a guess: three of the largest messages.
// Without the limit, the messages of one caller took 330 MiB within 4 s.
constexpr size_t kMostReceiving = size_t(192) << 20;
constexpr int kMostThreads = 128;  // of calls at a time, each with a stream; guess

void PutInto(Deployment& deployment, int from, const Chunk& chunk) {
  const std::shared_ptr<Inbox> inbox = deployment.InboxOf(chunk.frame.request());
  if (!inbox) return;  // it has failed
  CheckChunk(chunk);
  PutChunk(*inbox, from, chunk);
}

// Returns what the times of this machine's processors depend on, beside their own cores.
std::string HardwareOf(const Machine& machine) {
  const ProfileKey key = KeyOf(machine);
  return fmt::format("{} with {} cores for this process, {}", key.cpu, machine.affinity.allowed.size(),
                     key.target);
}

WireLimits LimitsOf(const WorkerOptions& options) {
  WireLimits limits;
  limits.max_value_bytes = std::min(limits.max_value_bytes, options.memory_bytes);
  limits.max_weight_bytes = std::min(limits.max_weight_bytes, options.memory_bytes);
  return limits;
}

}  // namespace

class Worker::Service : public WorkerService {
 public:
  explicit Service(const WorkerOptions& options)
      : options_(options),
        limits_(LimitsOf(options)),
        memory_(options.memory_bytes),
        sessions_(memory_),
        store_(options.weights_folder, options.weights_bytes,
               [this](int64_t bytes, const std::string& what) { return sessions_.Take(bytes, what); }) {
    for (const auto& processor : options.processors) offered_.emplace_back(processor);
    for (const Offered& offered : offered_) offered.processor->CheckThere();  // callers ask for its hardware
    if (offered_.empty()) offered_.emplace_back(std::make_shared<Cpu>("cpu", options.session));
  }

  grpc::Status Hello(grpc::ServerContext* context, const pb::HelloRequest*, pb::HelloReply* reply) override {
    return Guarded(*context, [&] {
      reply->set_protocol(options_.protocol);
      reply->set_version(METE_VERSION);
      reply->set_machine(machine_);
      reply->set_threads(options_.session.threads);
      for (const Offered& offered : offered_) {
        const ProcessorInfo& info = offered.processor->info();
        reply->add_processors(info.name);
        reply->add_hardware(fmt::format("{} of {}", info.description, hardware_));
      }
      std::lock_guard lock(mutex_);
      reply->set_deployments(int32_t(deployments_.size()));
      reply->set_most_message_bytes(kMostMessageBytes);
    });
  }

  grpc::Status Status(grpc::ServerContext* context, const pb::StatusRequest*,
                      pb::StatusReply* reply) override {
    return Guarded(*context, [&] {
      reply->set_version(METE_VERSION);
      reply->set_machine(machine_);
      reply->set_uptime_s(double(NowNs() - began_ns_) * 1e-9);
      reply->set_most_deployments(options_.max_deployments);
      reply->set_waiting(waiting());
      counts_.Tell(*reply);
      TellProcessors(*reply);
      TellMemory(memory_, store_, *reply);
      std::lock_guard lock(mutex_);
      reply->set_deployments(int32_t(deployments_.size()));
    });
  }

  int waiting() {
    std::lock_guard lock(mutex_);
    int waiting = 0;
    for (const auto& [id, weak] : deployments_)
      if (const auto deployment = weak.lock()) waiting += deployment->waiting();
    return waiting;
  }

  grpc::Status Missing(grpc::ServerContext* context, const pb::Digests* asked,
                       pb::Digests* missing) override {
    return Guarded(*context, [&] {
      for (const std::string& digest : asked->digest())
        if (!store_.Has(DigestFrom(digest))) missing->add_digest(digest);
    });
  }

  grpc::Status Store(grpc::ServerContext* context, grpc::ServerReader<pb::WeightChunk>* reader,
                     pb::Stored* stored) override {
    return Guarded(*context, [&] {
      WeightReceiver receiver(store_, *stored);
      for (pb::WeightChunk chunk; reader->Read(&chunk);) receiver.Add(chunk);
      if (!context->IsCancelled()) receiver.End();
    });
  }

  grpc::Status ServeBytes(grpc::ServerContext* context, ServeStream* stream) override {
    return Guarded(*context, [&] {
      grpc::ByteBuffer bytes;
      if (!stream->Read(&bytes)) Invalid("deployment", "does not begin with its programs");
      ServeDeployment(*context, bytes, *stream);
    });
  }

  grpc::Status FeedBytes(grpc::ServerContext* context, FeedStream* stream, pb::FeedReply*) override {
    return Guarded(*context, [&] {
      std::optional<pb::Fed> first;
      for (grpc::ByteBuffer bytes; stream->Read(&bytes);) {
        const Unpacked<pb::Fed> fed = Unpack<pb::Fed>(bytes);
        if (!first) first = fed.message;
        if (first->from() == 0) Invalid("deployment", "is fed by its caller; expected another worker");
        // the deployment is looked up for each chunk, because it ends with its caller's stream
        if (!fed.chunk) Invalid("deployment", "is fed without a piece");
        const auto deployment = Find(KeyOf(first->deployment(), fed.chunk->frame.to()));
        if (!deployment) Fail(Code::kNotFound, "deployment", "is not here (any more)");
        PutInto(*deployment, first->from(), *fed.chunk);
      }
    });
  }

  grpc::Status Time(grpc::ServerContext* context, const pb::TimeRequest* request,
                    pb::TimeReply* reply) override {
    return Guarded(*context, [&] {
      CheckProtocol(request->protocol());
      const CallWatch watch(*context);
      // Graphs are timed one after the other: a graph that is timed while another is prepared or timed would
      // seem slow.
      Offered& offered = OfferedAs(request->processor());
      const Turn::Taken taken(offered.timing, [&] { CheckThere(watch); });
      const std::shared_ptr<Timed> timed = ToTime(offered, request->graph(), *reply);
      const GraphTimes times =
          TimeRuns(*timed->ready, timed->graph, timed->inputs, std::clamp(request->runs(), 1, kMostRuns),
                   offered.turn, &watch.ended(), offered.processor->SharedMemory());
      for (const double us : times.us) reply->add_us(us);
      for (const auto& [name, us] : times.nodes) {
        pb::NodeTime* node = reply->add_nodes();
        node->set_name(name);
        node->set_us(us);
      }
    });
  }

  grpc::Status HandOver(grpc::ServerContext* context, const pb::HandOverRequest* request,
                        pb::HandOverReply* reply) override {
    return Guarded(*context, [&] {
      CheckProtocol(request->protocol());
      const CallWatch watch(*context);
      Offered &from = OfferedAs(request->from()), &to = OfferedAs(request->to());
      if (&from == &to)
        Invalid("hand-over", "is from a processor to itself; got '{}', expected two processors",
                from.processor->info().name);
      // All calls take the turns in the order of the processors, so that none waits for another.
      const bool in_order = IsBefore(from, to);
      const Turn::Taken first((in_order ? from : to).timing, [&] { CheckThere(watch); });
      const Turn::Taken second((in_order ? to : from).timing, [&] { CheckThere(watch); });
      LocalMember there(to.processor);
      const LinkProfile link = LocalMember(from.processor).MeasureHandOver(there);
      reply->set_round_trip_us(link.round_trip_us);
      reply->set_message_us(link.message_us);
      reply->set_up_mbit_per_s(link.up_mbit_per_s);
      reply->set_down_mbit_per_s(link.down_mbit_per_s);
    });
  }

  grpc::Status Echo(grpc::ServerContext* context,
                    grpc::ServerReaderWriter<pb::EchoReply, pb::EchoRequest>* stream) override {
    return Guarded(*context, [&] {
      pb::EchoReply reply;
      for (pb::EchoRequest request; stream->Read(&request);) {
        if (request.answer_bytes() < 0 || request.answer_bytes() > kMostEchoBytes)
          Invalid("echo", "asks for too much; got {} bytes, expected 0 to {}", request.answer_bytes(),
                  kMostEchoBytes);
        reply.mutable_data()->resize(size_t(request.answer_bytes()));
        if (!stream->Write(reply)) break;
      }
    });
  }

 private:
  // Calls `f` and returns an exception of it as the call's status. A caller without the token is refused
  // before.
  template <class F>
  grpc::Status Guarded(const grpc::ServerContext& context, F f) {
    if (!HasToken(context, options_.security))
      return {grpc::StatusCode::UNAUTHENTICATED,
              "[worker] the token is missing or wrong; try the one that this worker was started with"};
    try {
      f();
      return grpc::Status::OK;
    } catch (const std::exception& error) {
      return StatusOf(AsError(error, "worker", "a smaller --memory-gib of the worker"));
    }
  }

  void TellProcessors(pb::StatusReply& reply) {
    for (Offered& offered : offered_) {
      const std::string& name = offered.processor->info().name;
      const ProcessorMemory memory = offered.processor->memory();
      pb::ProcessorStatus* status = reply.add_processors();
      status->set_name(name);
      status->set_busy_s(counts_.BusyS(name));
      status->set_waiting(offered.turn.waiting());
      status->set_weights_bytes(memory.weights_bytes);
      status->set_values_bytes(memory.values_bytes);
    }
  }

  void CheckProtocol(uint32_t protocol) const {
    if (protocol != options_.protocol)
      Fail(Code::kFailedPrecondition, "worker",
           "speaks another version of the protocol; got {}, expected {}; try the same version of mete "
           "on all devices",
           protocol, options_.protocol);
  }

  // A graph that is timed on made-up values.
  struct Timed {
    Digest digest;
    MemoryBudget::Part memory;  // of the values
    Graph graph;
    std::vector<Tensor> inputs;
    std::shared_ptr<Ready> ready;
  };

  // A processor that callers may use.
  struct Offered {
    explicit Offered(std::shared_ptr<Processor> p) : processor(std::move(p)) {}
    const std::shared_ptr<Processor> processor;
    Turn turn;                   // held while a deployment computes on it
    Turn timing;                 // held while a graph is prepared and timed on it; taken before `turn`
    std::weak_ptr<Timed> timed;  // guarded by `timing`; sessions_ owns the share
  };

  Offered& OfferedAs(const std::string& name) {
    if (name.empty()) return offered_.front();
    std::string names;
    for (Offered& offered : offered_) {
      if (offered.processor->info().name == name) return offered;
      names += (names.empty() ? "" : ", ") + offered.processor->info().name;
    }
    Fail(Code::kFailedPrecondition, "worker",
         "has no processor of this name; got '{}', expected one of {}; try another name in the pool file, or "
         "--processors of the worker",
         Printable(name.substr(0, 80)), names);
  }

  bool IsBefore(const Offered& a, const Offered& b) const {
    for (const Offered& offered : offered_)
      if (&offered == &a || &offered == &b) return &offered == &a;
    return false;
  }

  // A plan has at most one deployment here for each of its processors.
  static std::string KeyOf(const std::string& plan, int processor) {
    return plan + ":" + std::to_string(processor);
  }

  std::shared_ptr<Deployment> Find(const std::string& key) {
    std::lock_guard lock(mutex_);
    const auto at = deployments_.find(key);
    return at == deployments_.end() ? nullptr : at->second.lock();
  }

  // Reserves one of the limited number of deployments and the deployment's id.
  class Place {
   public:
    Place(Service& service, const std::string& id) : service_(service), id_(id) {
      std::lock_guard lock(service_.mutex_);
      if (int(service_.deployments_.size()) >= service_.options_.max_deployments)
        Fail(Code::kResourceExhausted, "worker",
             "has as many deployments as it may have; got {}; try --deployments of the worker",
             service_.deployments_.size());
      if (!service_.deployments_.emplace(id, std::weak_ptr<Deployment>()).second)
        Invalid("deployment", "is there already");
    }
    ~Place() {
      std::lock_guard lock(service_.mutex_);
      service_.deployments_.erase(id_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    void Fill(const std::shared_ptr<Deployment>& deployment) {
      std::lock_guard lock(service_.mutex_);
      service_.deployments_[id_] = deployment;
    }

   private:
    Service& service_;
    const std::string id_;
  };

  // Clears `bytes`.
  static pb::Deploy DeployIn(grpc::ByteBuffer& bytes) {
    const Unpacked<pb::ToWorker> first = Unpack<pb::ToWorker>(bytes);
    bytes.Clear();
    if (!first.message.has_deploy()) Invalid("deployment", "does not begin with its programs");
    return Unseal(first.message.deploy());
  }

  void CheckDeploy(const pb::Deploy& deploy) const {
    CheckProtocol(deploy.protocol());
    if (deploy.id().size() != kPlanIdBytes)
      Invalid("deployment", "has a name of {} bytes, expected {}", deploy.id().size(), kPlanIdBytes);
    if (deploy.peers_size() > kMostProcessorsOfPlan)
      Invalid("deployment", "has too many peers; got {}, expected {} at most", deploy.peers_size(),
              kMostProcessorsOfPlan);
    if (deploy.at_caller_size() > kMostProcessorsOfPlan)
      Invalid("deployment", "has too many processors at its caller; got {}, expected {} at most",
              deploy.at_caller_size(), kMostProcessorsOfPlan);
    if (deploy.index() < 1 || deploy.index() > kMostProcessorsOfPlan || deploy.lanes() < 1 ||
        deploy.lanes() > kMostLanes)
      Invalid("deployment",
              "has numbers that cannot be; got processor {} and {} lanes, expected 1 to {} and 1 to {}",
              deploy.index(), deploy.lanes(), kMostProcessorsOfPlan, kMostLanes);
  }

  // Stops the deployment before the stream is destroyed: the call of another worker that feeds it may hold it
  // longer.
  struct Ending {
    Deployment& deployment;
    ~Ending() { deployment.Stop(); }
  };

  // Deletes unused sessions when a deployment has ended.
  struct Trimming {
    ReadyCache& sessions;
    ~Trimming() { sessions.Trim(); }
  };

  void ServeDeployment(grpc::ServerContext& context, grpc::ByteBuffer& bytes, ServeStream& stream) {
    // three times: the bytes as received, the parsed message, and its content
    MemoryBudget::Part memory = sessions_.Take(3 * int64_t(bytes.Length()), "a deployment's programs");
    pb::Deploy deploy = DeployIn(bytes);
    CheckDeploy(deploy);
    Offered& offered = OfferedAs(deploy.processor());
    Place place(*this, KeyOf(deploy.id(), deploy.index()));
    const Trimming trimming{sessions_};
    const int64_t start_ns = NowNs();
    const Coding coding = CodingOf(deploy.coding());
    const auto here = [this, plan = deploy.id()](int processor) { return Find(KeyOf(plan, processor)); };
    Serving serving([&stream](const grpc::ByteBuffer& bytes) { return stream.Write(bytes); }, deploy, coding,
                    options_.security, here);
    serving.on_done = [this, name = offered.processor->info().name](std::span<const StageTimes> times) {
      counts_.Done(name, times);
    };
    serving.on_failed = [this] { counts_.Failed(); };
    const auto deployment = MakeDeployment(offered, deploy, coding, serving);
    serving.on_broken = [weak = std::weak_ptr(deployment)](const Error& error, int processor) {
      if (const auto there = weak.lock()) there->Fail(error, processor);
    };
    pb::Deploy().Swap(&deploy);
    memory.Shrink(0);
    place.Fill(deployment);
    const Ending ending{*deployment};
    store_.Trim();
    pb::FromWorker ready;
    ready.mutable_ready()->set_prepare_ms(double(NowNs() - start_ns) * 1e-6);
    stream.Write(Pack(ready));
    ReadAll(stream, *deployment, serving);
    // a pending write to a caller that has ended the deployment and does not read is given up
    context.TryCancel();
  }

  // A program, and the memory that its requests may take.
  struct Held {
    MemoryBudget::Part memory;
    PreparedProgram program;
  };

  std::shared_ptr<Deployment> MakeDeployment(Offered& offered, const pb::Deploy& deploy, Coding coding,
                                             Serving& serving) {
    const auto find = [&](const Digest& digest, DType, const Shape&) { return store_.Find(digest); };
    const auto make = [&](const Graph& graph) { return sessions_.Of(*offered.processor, graph); };
    Program unpacked = UnpackProgram(deploy.stages(), deploy.index(), find, limits_);
    MemoryBudget::Part memory = sessions_.Take(
        deploy.lanes() * RequestBytes(unpacked, deploy.index(), coding), "a deployment's requests");
    const std::shared_ptr<const Held> held(
        new Held{std::move(memory), {std::move(unpacked), deploy.index(), *offered.processor, make}});
    const std::shared_ptr<const PreparedProgram> program(held, &held->program);
    return std::make_shared<Deployment>("worker", program, coding, deploy.lanes(), offered.turn, serving);
  }

  static void ReadAll(ServeStream& stream, Deployment& deployment, Serving& serving) {
    for (grpc::ByteBuffer bytes; stream.Read(&bytes);) {
      const auto [message, chunk] = Unpack<pb::ToWorker>(bytes);
      if (chunk) PutInto(deployment, chunk->frame.from(), *chunk);
      else if (message.has_begin()) deployment.Begin(message.begin().request());
      else if (message.has_ask())
        serving.SendWaiting(message.ask().request(), deployment.WaitsFor(message.ask().request()));
      else Invalid("deployment", "gets a message of another kind than requests' pieces");
    }
  }

  static void CheckThere(const CallWatch& watch) {
    if (watch.ended().cancelled()) Fail(Code::kCancelled, "timing", "was given up by its caller");
  }

  MemoryBudget::Part TakeForTiming(DType type, const Shape& shape) {
    return sessions_.Take(shape.Elements() * int64_t(SizeOf(type)), "tensors to time with");
  }

  // The graph timed last is kept, because a profile times a model again after a while.
  std::shared_ptr<Timed> ToTime(Offered& offered, const std::string& packed, pb::TimeReply& reply) {
    const Digest digest = DigestOfText(packed);
    if (std::shared_ptr<Timed> last = offered.timed.lock(); last && last->digest == digest) return last;
    sessions_.KeepLast(*offered.processor, nullptr);
    const auto timed = std::make_shared<Timed>();
    timed->digest = digest;
    Graph& graph = timed->graph;
    graph = UnpackGraph(
        packed,
        [&](const Digest&, DType type, const Shape& shape) {
          timed->memory.Join(TakeForTiming(type, shape));
          return MadeUp(type, shape);
        },
        limits_);
    for (const ValueId id : graph.inputs)
      if (!graph.value(id).shape.known()) Invalid(graph.value(id).name, "has no shape to be timed with");
    for (const auto* list : {&graph.inputs, &graph.outputs})
      for (const ValueId id : *list)
        if (graph.value(id).shape.known())
          timed->memory.Join(TakeForTiming(graph.value(id).type, graph.value(id).shape));
    timed->inputs = MadeUpInputs(graph, graph.inputs, offered.processor->SharedMemory());
    timed->ready = sessions_.Fresh(*offered.processor, graph);
    reply.set_prepare_ms(timed->ready->prepare_ms());
    sessions_.KeepLast(*offered.processor, {timed, timed->ready.get()});
    offered.timed = timed;
    return timed;
  }

  const WorkerOptions options_;
  const WireLimits limits_;  // at most the memory that shares may have
  const int64_t began_ns_ = NowNs();
  WorkerCounts counts_;
  const std::string machine_ = ReadMachine().name;
  const std::string hardware_ = HardwareOf(ReadMachine());
  MemoryBudget memory_;
  ReadyCache sessions_;
  std::deque<Offered> offered_;  // the same ones from the beginning
  WeightStore store_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Deployment>> deployments_;
};

Worker::Worker(const WorkerOptions& options) : service_(std::make_unique<Service>(options)) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  // Reflection is only for workers without a token, which trust all callers that have a connection: a caller
  // that lacks the token must not be able to keep threads.
  if (!options.security.token.empty()) LeaveOutReflection(builder);
  LimitServer(builder);
  grpc::ResourceQuota quota("worker");
  quota.SetMaxThreads(kMostThreads);
  quota.Resize(kMostReceiving);
  builder.SetResourceQuota(quota);
  builder.AddListeningPort(options.listen, ServerCredentialsOf(options.security), &port_);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  if (!server_ || port_ == 0)
    Fail(Code::kUnavailable, options.listen,
         "cannot be listened on; try another address or port (HOST:PORT), or look who has it");
}

Worker::~Worker() {
  if (server_) server_->Shutdown(std::chrono::system_clock::now());  // cancels open streams
}

int Worker::port() const { return port_; }

int Worker::waiting() const { return service_->waiting(); }

}  // namespace mete
