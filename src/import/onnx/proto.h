// Includes the ONNX messages (Debian's libonnx-dev, the schema of ONNX 1.12) without the warnings of
// generated code. Fields of later schemas are unknown fields; later element types are plain numbers in
// TensorProto.data_type.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifndef ONNX_ML
#define ONNX_ML 1  // the variant of the schema that onnx_pb.h includes
#endif
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop
