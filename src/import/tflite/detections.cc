#include "import/tflite/builder.h"

namespace mete::tflite_import {

void ConvertDetections(Op& op) { op.Unsupported("not yet"); }

}  // namespace mete::tflite_import
