#include "serve/server/described.h"

#include <utility>

#include "mete/image.h"

namespace mete::serve {
namespace {

TensorMetadata TensorOf(const Port& port) {
  TensorMetadata metadata{port.name, DatatypeOf(port.type), {}};
  const Shape& shape = port.declared.known() ? port.declared : port.shape;
  metadata.shape.assign(shape.begin(), shape.end());
  if (!shape.known()) metadata.shape = {-1};
  return metadata;
}

}  // namespace

ModelMetadata MetadataOf(const Loaded& loaded, std::vector<std::string> versions) {
  ModelMetadata metadata{loaded.name, "mete", std::move(versions), {}, {}};
  for (const Port& port : loaded.model->inputs()) metadata.inputs.push_back(TensorOf(port));
  for (const Port& port : loaded.model->outputs()) {
    metadata.outputs.push_back(TensorOf(port));
    if (loaded.model->has_open_outputs()) metadata.outputs.back().shape[0] = -1;
  }
  return metadata;
}

PictureUse PictureUseOf(const ServedModel& model) {
  PictureUse use;
  use.why_not = model.why_no_classes();
  use.classifies = use.why_not.empty();
  if (!model.takes_pictures()) return use;
  const PictureShape shape = PictureShapeOf(model.inputs()[0].shape);
  use.width = shape.width;
  use.height = shape.height;
  return use;
}

}  // namespace mete::serve
