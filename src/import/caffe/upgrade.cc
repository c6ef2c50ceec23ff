// Upgrades of layers that Caffe wrote before 2014 (V1, with an enum for the type) and before 2013 (V0, with
// all parameters in one message).
#include <map>

#include "import/caffe/parse.h"

namespace mete::caffe_import {
namespace {

using V1 = caffe::V1LayerParameter;

const char* TypeOf(V1::LayerType type) {
  switch (type) {
    case V1::NONE: return "";
    case V1::ACCURACY: return "Accuracy";
    case V1::BNLL: return "BNLL";
    case V1::CONCAT: return "Concat";
    case V1::CONVOLUTION: return "Convolution";
    case V1::DATA: return "Data";
    case V1::DROPOUT: return "Dropout";
    case V1::EUCLIDEAN_LOSS: return "EuclideanLoss";
    case V1::FLATTEN: return "Flatten";
    case V1::HDF5_DATA: return "HDF5Data";
    case V1::HDF5_OUTPUT: return "HDF5Output";
    case V1::IM2COL: return "Im2col";
    case V1::IMAGE_DATA: return "ImageData";
    case V1::INFOGAIN_LOSS: return "InfogainLoss";
    case V1::INNER_PRODUCT: return "InnerProduct";
    case V1::LRN: return "LRN";
    case V1::MULTINOMIAL_LOGISTIC_LOSS: return "MultinomialLogisticLoss";
    case V1::POOLING: return "Pooling";
    case V1::RELU: return "ReLU";
    case V1::SIGMOID: return "Sigmoid";
    case V1::SOFTMAX: return "Softmax";
    case V1::SOFTMAX_LOSS: return "SoftmaxWithLoss";
    case V1::SPLIT: return "Split";
    case V1::TANH: return "TanH";
    case V1::WINDOW_DATA: return "WindowData";
    case V1::ELTWISE: return "Eltwise";
    case V1::POWER: return "Power";
    case V1::SIGMOID_CROSS_ENTROPY_LOSS: return "SigmoidCrossEntropyLoss";
    case V1::HINGE_LOSS: return "HingeLoss";
    case V1::MEMORY_DATA: return "MemoryData";
    case V1::ARGMAX: return "ArgMax";
    case V1::THRESHOLD: return "Threshold";
    case V1::DUMMY_DATA: return "DummyData";
    case V1::SLICE: return "Slice";
    case V1::MVN: return "MVN";
    case V1::ABSVAL: return "AbsVal";
    case V1::SILENCE: return "Silence";
    case V1::CONTRASTIVE_LOSS: return "ContrastiveLoss";
    case V1::EXP: return "Exp";
    case V1::DECONVOLUTION: return "Deconvolution";
  }
  return "";
}

// Returns the type for a name of V0. A name that is not in the table stays as it is; the importer later
// reports it as an unsupported type.
std::string TypeOf(const std::string& v0) {
  static const std::map<std::string, const char*> kTypes = {
      {"accuracy", "Accuracy"},
      {"bnll", "BNLL"},
      {"concat", "Concat"},
      {"conv", "Convolution"},
      {"data", "Data"},
      {"dropout", "Dropout"},
      {"euclidean_loss", "EuclideanLoss"},
      {"flatten", "Flatten"},
      {"hdf5_data", "HDF5Data"},
      {"hdf5_output", "HDF5Output"},
      {"images", "ImageData"},
      {"infogain_loss", "InfogainLoss"},
      {"innerproduct", "InnerProduct"},
      {"lrn", "LRN"},
      {"multinomial_logistic_loss", "MultinomialLogisticLoss"},
      {"padding", "Padding"},
      {"pool", "Pooling"},
      {"relu", "ReLU"},
      {"sigmoid", "Sigmoid"},
      {"softmax", "Softmax"},
      {"softmax_loss", "SoftmaxWithLoss"},
      {"split", "Split"},
      {"tanh", "TanH"},
      {"window_data", "WindowData"}};
  const auto at = kTypes.find(v0);
  return at == kTypes.end() ? v0 : at->second;
}

void UpgradeConvolution(const caffe::V0LayerParameter& v0, caffe::ConvolutionParameter& p) {
  p.set_num_output(v0.num_output());
  p.set_bias_term(v0.biasterm());
  p.set_group(v0.group());
  p.add_pad(v0.pad());
  p.add_kernel_size(v0.kernelsize());
  p.add_stride(v0.stride());
}

void UpgradePooling(const caffe::V0LayerParameter& v0, caffe::PoolingParameter& p) {
  p.set_pool(v0.pool());
  p.set_pad(v0.pad());
  p.set_kernel_size(v0.kernelsize());
  p.set_stride(v0.stride());
}

void UpgradeLrn(const caffe::V0LayerParameter& v0, caffe::LRNParameter& p) {
  p.set_local_size(v0.local_size());
  p.set_alpha(v0.alpha());
  p.set_beta(v0.beta());
  p.set_k(v0.k());
}

void UpgradeV0(const caffe::V0LayerParameter& v0, caffe::LayerParameter& layer) {
  layer.set_name(v0.name());
  layer.set_type(TypeOf(v0.type()));
  if (layer.type() == "Convolution" || layer.type() == "Padding")
    UpgradeConvolution(v0, *layer.mutable_convolution_param());
  if (layer.type() == "Pooling") UpgradePooling(v0, *layer.mutable_pooling_param());
  if (layer.type() == "LRN") UpgradeLrn(v0, *layer.mutable_lrn_param());
  if (layer.type() == "Concat") layer.mutable_concat_param()->set_concat_dim(v0.concat_dim());
  if (layer.type() == "InnerProduct") {
    layer.mutable_inner_product_param()->set_num_output(v0.num_output());
    layer.mutable_inner_product_param()->set_bias_term(v0.biasterm());
  }
}

// Copies the parameter messages, which V1 and V2 have under the same field names.
void CopyParameters(const V1& from, caffe::LayerParameter& to) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  from.GetReflection()->ListFields(from, &fields);
  for (const auto* field : fields) {
    const auto* same = to.GetDescriptor()->FindFieldByName(field->name());
    if (!same || field->is_repeated() || !field->message_type() ||
        same->message_type() != field->message_type())
      continue;
    to.GetReflection()->MutableMessage(&to, same)->CopyFrom(from.GetReflection()->GetMessage(from, field));
  }
}

}  // namespace

caffe::LayerParameter Upgrade(const V1& old) {
  caffe::LayerParameter layer;
  layer.set_name(old.name());
  layer.set_type(TypeOf(old.type()));
  *layer.mutable_bottom() = old.bottom();
  *layer.mutable_top() = old.top();
  *layer.mutable_include() = old.include();
  *layer.mutable_exclude() = old.exclude();
  if (old.has_layer()) UpgradeV0(old.layer(), layer);
  else CopyParameters(old, layer);
  return layer;
}

}  // namespace mete::caffe_import
