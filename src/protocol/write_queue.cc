#include "protocol/write_queue.h"

#include "protocol/channel.h"
#include "protocol/check.h"

namespace mete {

WriteQueue::WriteQueue(std::function<void()> broken) : broken_(std::move(broken)), thread_([this] { Do(); }) {}

WriteQueue::~WriteQueue() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void WriteQueue::Push(Write write) {
  {
    std::lock_guard lock(mutex_);
    writes_.push_back(std::move(write));
  }
  changed_.notify_one();
}

void WriteQueue::Do() {
  bool broken = false;
  for (;;) {
    Write write;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !writes_.empty(); });
      if (stop_) return;
      write = std::move(writes_.front());
      writes_.pop_front();
    }
    if (broken || write()) continue;
    broken = true;  // what comes now is dropped
    broken_();
  }
}

bool WritePiece(Coding coding, uint64_t request, const PieceId& id, const Tensor& piece,
                const std::function<bool(worker::v1::Frame&&)>& write) {
  const bool as_it_is = coding == Coding::kF32 || piece.type() != DType::kF32;
  const std::string coded = as_it_is ? "" : Encode(coding, piece.view());
  const std::string_view bytes = as_it_is ? std::string_view(static_cast<const char*>(piece.data()), piece.bytes()) : coded;
  for (size_t at = 0; at < bytes.size(); at += kChunkBytes) {
    worker::v1::Frame frame;
    frame.set_request(request);
    frame.set_stage(id.stage), frame.set_need(id.need), frame.set_source(id.source);
    frame.set_offset(int64_t(at));
    const std::string_view chunk = bytes.substr(at, kChunkBytes);
    frame.set_data(chunk.data(), chunk.size());
    AddCheck(frame);
    if (!write(std::move(frame))) return false;
  }
  return true;
}

}  // namespace mete
