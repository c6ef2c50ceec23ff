# The house: which folder may include which (docs/design.md has the reasons).
mete_library(base src/base LINKS fmt::fmt)
mete_library(graph src/graph LAYERS base)
mete_library(kernels src/kernels LAYERS base LINKS PkgConfig::HWY TEST_LAYERS graph)
#mete_library(import_onnx src/import/onnx LAYERS graph LINKS onnx_proto protobuf::libprotobuf)
#mete_library(import_caffe src/import/caffe LAYERS graph LINKS protobuf::libprotobuf)
#mete_library(image src/image LAYERS base LINKS PNG::PNG PkgConfig::TURBOJPEG PkgConfig::TOMLPP)
#mete_library(passes src/passes LAYERS graph kernels)
