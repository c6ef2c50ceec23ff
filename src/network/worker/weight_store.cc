#include "network/worker/weight_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/new_file.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".weight";
constexpr char kMagic[8] = {'M', 'E', 'T', 'E', 'W', 'G', 'H', 'T'};
constexpr size_t kContentAt = 128;  // a multiple of 64, so that mapped tensors are aligned as others are

struct Header {  // as the bytes lie in the file; the digest of the tensor is the file's name
  char magic[8];
  uint32_t type;
  int32_t rank;
  int64_t dims[Shape::kMaxRank];
};
static_assert(sizeof(Header) <= kContentAt);

Tensor TensorOf(const std::shared_ptr<const MappedFile>& file) {
  Header header;
  if (file->bytes().size() < kContentAt) return {};
  std::memcpy(&header, file->bytes().data(), sizeof header);
  const bool good = std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.type > 0 &&
                    header.type <= uint32_t(kLastDType) && header.rank >= 0 && header.rank <= Shape::kMaxRank;
  if (!good) return {};
  const Shape shape(std::span<const int64_t>(header.dims, size_t(header.rank)));
  const int64_t content = int64_t(file->bytes().size() - kContentAt);
  const int64_t elements = CheckedElements(shape, DType(header.type), content);
  if (elements < 0 || elements * int64_t(SizeOf(DType(header.type))) != content) return {};
  return {DType(header.type), shape, file->bytes().data() + kContentAt, file};
}

// Returns a second tensor over the same memory; `tensor` counts it as an owner.
Tensor Shared(const std::shared_ptr<const Tensor>& tensor) {
  return {tensor->type(), tensor->shape(), tensor->data(), tensor};
}

}  // namespace

std::string WeightStore::PathOf(const Digest& digest) const {
  return folder_ + "/" + ToHex(digest) + kExtension;
}

Tensor WeightStore::Read(const Digest& digest) const {
  const std::string path = PathOf(digest);
  std::error_code error;
  if (folder_.empty() || !fs::exists(path, error)) return {};
  const Tensor tensor = TensorOf(MappedFile::Open(path));
  if (tensor.has_value() && DigestOf(tensor.view()) == digest) {
    // marks the file as used now; an error only makes the file go sooner
    fs::last_write_time(path, fs::file_time_type::clock::now(), error);
    return tensor;
  }
  fs::remove(path, error);
  return {};
}

bool WeightStore::Has(const Digest& digest) { return Find(digest).has_value(); }

Tensor WeightStore::Find(const Digest& digest) {
  std::lock_guard lock(mutex_);
  auto known = memory_.find(digest);
  if (known == memory_.end()) {
    const Tensor read = Read(digest);
    if (!read.has_value()) return {};
    known = memory_.emplace(digest, InMemory{.tensor = std::make_shared<const Tensor>(read), .on_disk = true})
                .first;
  }
  known->second.asked = true;
  return Shared(known->second.tensor);
}

Tensor WeightStore::Add(const Digest& digest, const Tensor& tensor, std::string* note) {
  if (DigestOf(tensor.view()) != digest)
    Fail(Code::kDataLoss, "weights", "are not what was announced; got another content than {} has",
         ToHex(digest).substr(0, 16));
  std::lock_guard lock(mutex_);
  auto known = memory_.find(digest);
  if (known == memory_.end()) {
    try {
      known = memory_.emplace(digest, Written(digest, tensor)).first;
    } catch (const Error& error) {
      known = memory_.emplace(digest, Unwritten(tensor, error.what())).first;
      *note = fmt::format("weights are kept in memory: {}", error.what());
    }
  }
  known->second.asked = true;
  return Shared(known->second.tensor);
}

int64_t WeightStore::BytesOnDisk() const {
  int64_t bytes = 0;
  std::error_code error;  // a folder that is not there has none, and a file may go meanwhile
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != kExtension) continue;
    const auto size = entry.file_size(error);
    if (!error) bytes += int64_t(size);
  }
  return bytes;
}

void WeightStore::Trim() {
  std::lock_guard lock(mutex_);
  TrimAsked();
}

void WeightStore::TrimAsked() {
  for (auto& [digest, known] : memory_) known.asked = false;
  Unmap();
}

void WeightStore::Unmap() {
  std::erase_if(memory_, [](const auto& known) { return known.second.on_disk && !known.second.in_use(); });
}

WeightStore::InMemory WeightStore::Unwritten(const Tensor& tensor, const std::string& why) {
  const auto take = [&] {
    return take_(int64_t(tensor.bytes()), "weights that are not on its disk (" + why + ")");
  };
  const auto kept = [&](MemoryBudget::Part part) {
    return InMemory{.tensor = std::make_shared<const Tensor>(tensor), .memory = std::move(part)};
  };
  try {
    return kept(take());
  } catch (const Error&) {
    std::erase_if(memory_, [](const auto& known) { return !known.second.on_disk && !known.second.in_use(); });
  }
  try {
    return kept(take());
  } catch (const Error&) {
    TrimAsked();  // weights of callers that never deployed may go; the call of this caller has failed
    throw;
  }
}

WeightStore::InMemory WeightStore::Written(const Digest& digest, const Tensor& tensor) {
  const int64_t bytes = int64_t(kContentAt + tensor.bytes());
  if (folder_.empty()) Fail(Code::kUnavailable, "weights", "have no folder");
  if (bytes > most_bytes_)
    Fail(Code::kResourceExhausted, folder_,
         "is too small for a tensor; got {} bytes, expected {} at most; try a larger --weights-gib of "
         "the worker",
         bytes, most_bytes_);
  std::error_code error;
  fs::create_directories(folder_, error);
  MakeRoom(bytes);
  char head[kContentAt] = {};
  Header header{{}, uint32_t(tensor.type()), tensor.shape().rank(), {}};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  std::copy(tensor.shape().begin(), tensor.shape().end(), header.dims);
  std::memcpy(head, &header, sizeof header);
  const std::string path = PathOf(digest);
  NewFile file(path);
  const std::span content(static_cast<const std::byte*>(tensor.data()), tensor.bytes());
  if (!file.made() || !file.Write(std::as_bytes(std::span(head))) || !file.Write(content) ||
      !file.RenameTo(path))
    Fail(Code::kUnavailable, path, "cannot be written: {}", std::strerror(errno));
  const Tensor mapped = TensorOf(MappedFile::Open(path));
  if (!mapped.has_value()) Fail(Code::kUnavailable, path, "has not become what was written");
  return {.tensor = std::make_shared<const Tensor>(mapped), .on_disk = true};
}

void WeightStore::MakeRoom(int64_t bytes) {
  Unmap();
  struct File {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::set<std::string> in_use;
  for (const auto& [digest, known] : memory_)
    if (known.on_disk) in_use.insert(fs::path(PathOf(digest)).filename().string());
  std::vector<File> files;
  int64_t all = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != kExtension) continue;
    all += int64_t(entry.file_size(error));
    if (in_use.contains(entry.path().filename().string())) continue;
    files.push_back({entry.last_write_time(error), int64_t(entry.file_size(error)), entry.path()});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (size_t i = 0; i < files.size() && all + bytes > most_bytes_; ++i) {
    fs::remove(files[i].path, error);
    all -= files[i].bytes;
  }
  if (all + bytes > most_bytes_)
    Fail(Code::kResourceExhausted, folder_,
         "has no room beside weights that are in use; got {} bytes more than {}, expected {} together "
         "at most; try a larger --weights-gib of the worker",
         bytes, all, most_bytes_);
}

}  // namespace mete
