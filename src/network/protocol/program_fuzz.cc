// libFuzzer target: takes any bytes as the programs of a deployment. A program that is accepted is packed
// again and must have as many stages as before.
#include <cstdlib>

#include "mete/error.h"
#include "network/protocol/programs.h"
#include "run/inbox.h"

namespace {

// Puts bytes for pieces that the program expects, as a peer would send them, and for pieces that it does not
// expect.
void Feed(const mete::Program& program, int processor, const uint8_t* data, size_t size) {
  mete::Inbox inbox(program, processor, mete::Coding(size % 3));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (size_t i = 0; i + 4 < size && i < 200; i += 4) {
    try {
      inbox.Put(data[i] % 4, {data[i + 1] % 4, data[i + 2] % 4, data[i + 3] % 4}, 0, bytes.substr(i, 64));
    } catch (const mete::Error&) {}
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mete::pb::Deploy deploy;
  if (!deploy.ParseFromArray(data, int(size))) return 0;
  // Some weights are there and others are not, as on a processor.
  const auto find = [](const mete::Digest& digest, mete::DType type, const mete::Shape& shape) {
    return digest[0] % 2 == 0 || mete::CheckedElements(shape, type, 1 << 20) < 0 ? mete::Tensor()
                                                                                 : mete::Tensor(type, shape);
  };
  try {
    (void)mete::WeightsIn(deploy.stages());
    const mete::Program program = mete::UnpackProgram(deploy.stages(), 1, find);
    Feed(program, 1, data, size);
    mete::pb::Deploy again;
    for (const mete::pb::Stage& stage : mete::PackProgram(program).stages) *again.add_stages() = stage;
    if (again.stages_size() != deploy.stages_size()) std::abort();
  } catch (const mete::Error&) {}
  return 0;
}
