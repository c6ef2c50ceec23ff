#include "processor/processor.h"

namespace mete {

void Ready::Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options) {
  Start(inputs, outputs, options);
  Wait();
}

}  // namespace mete
