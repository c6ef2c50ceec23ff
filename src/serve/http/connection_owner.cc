#include "serve/http/connection.h"

namespace mete::serve {

void ConnectionOwner::Add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  connections_.emplace(connection.get(), connection);
}

void ConnectionOwner::Remove(Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  if (connections_.empty()) removed_.notify_all();
}

int ConnectionOwner::Count() const {
  const std::lock_guard lock(mutex_);
  return int(connections_.size());
}

void ConnectionOwner::CloseIdle() {
  std::vector<std::shared_ptr<Connection>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [pointer, connection] : connections_)
      if (auto alive = connection.lock(); alive && !alive->ending()) all.push_back(std::move(alive));
  }
  for (const auto& connection : all) connection->CloseIfIdle();
}

bool ConnectionOwner::CloseLongestIdle() {
  std::shared_ptr<Connection> longest;
  std::vector<std::shared_ptr<Connection>> others;  // the last reference is released without the lock
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [pointer, connection] : connections_) {
      auto alive = connection.lock();
      if (!alive) continue;
      const auto since = alive->idle_since();
      if (since &&
          (!longest || *since < longest->idle_since().value_or(std::chrono::steady_clock::time_point::max())))
        longest.swap(alive);
      others.push_back(std::move(alive));
    }
  }
  if (longest) longest->CloseIfIdle();
  return longest != nullptr;
}

void ConnectionOwner::WaitUntilNone(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  removed_.wait_for(lock, limit, [&] { return connections_.empty(); });
}

std::shared_ptr<void> ConnectionOwner::BeginCall() {
  const std::lock_guard lock(mutex_);
  ++calls_;
  return std::shared_ptr<void>(this, [this](void*) {
    const std::lock_guard ending(mutex_);
    if (--calls_ == 0) called_.notify_all();
  });
}

void ConnectionOwner::WaitForCalls() {
  std::unique_lock lock(mutex_);
  called_.wait(lock, [&] { return calls_ == 0; });
}

bool ConnectionOwner::Reserve(int64_t bytes) {
  if (reserved_.fetch_add(bytes) + bytes <= most_bytes) return true;
  reserved_ -= bytes;
  return false;
}

void ConnectionOwner::Log(const HttpLogLine& line) {
  if (!log_) return;
  const std::lock_guard lock(log_mutex_);
  try {
    log_(line);
  } catch (const std::exception&) {
    // a full disk ends the log, not the server
  }
}

}  // namespace mete::serve
