// A TensorProto in a file of its own, as in the test data of ONNX models.
#include <climits>

#include "base/error.h"
#include "base/mapped_file.h"
#include "import/onnx/tensors.h"
#include "mete/io.h"

namespace mete {

Tensor ReadTensorPb(const std::string& path) {
  constexpr int64_t kMaxBytes = INT_MAX;  // protobuf's own limit for a message
  const auto file = MappedFile::Open(path);
  const auto bytes = file->bytes();
  ::onnx::TensorProto proto;
  if (bytes.empty() || int64_t(bytes.size()) > kMaxBytes ||
      !proto.ParseFromArray(bytes.data(), int(bytes.size())) || !proto.has_data_type())
    Fail(Code::kDataLoss, path, "not an ONNX tensor (TensorProto), or a truncated one");
  std::shared_ptr<std::string> raw(proto.release_raw_data());
  std::vector<std::span<const std::byte>> spans;
  if (raw && !raw->empty()) {
    spans.push_back(std::as_bytes(std::span(*raw)));
    proto.set_raw_data("0");  // TensorReader takes its index in `spans`
  }
  return onnx_import::TensorReader(std::move(spans), raw, "", kMaxBytes).Read(proto, path);
}

}  // namespace mete
