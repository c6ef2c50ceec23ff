"""Small ONNX files for tests, written byte by byte: the onnx package is not needed. Standard library only.

A network is lists of inputs, nodes and outputs, and perhaps weights:
    model([("x", ["N", 3])], [("Relu", ["x"], ["y"])], ["y"])
"""
import struct

kFloat, kInt64 = 1, 7  # TensorProto.DataType


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def dimension(d):
    return message(1, number(1, d) if isinstance(d, int) else message(2, d) if d else b"")


def value_info(name, dims, kind=kFloat):
    shape = b"" if dims is None else message(2, b"".join(dimension(d) for d in dims))
    return message(1, name) + message(2, message(1, number(1, kind) + shape))


def attribute(name, value):
    if isinstance(value, list):
        return message(1, name) + b"".join(number(8, n) for n in value) + number(20, 7)
    return message(1, name) + number(3, value) + number(20, 2)


def node(op, inputs, outputs, domain="", **attributes):
    """Attributes are whole numbers, or lists of them."""
    text = b"".join(message(1, i) for i in inputs) + b"".join(message(2, o) for o in outputs)
    text += message(3, f"{op}_{outputs[0]}") + message(4, op) + (message(7, domain) if domain else b"")
    return text + b"".join(message(5, attribute(*a)) for a in attributes.items())


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def tensor(name, dims, values):
    return b"".join(number(1, d) for d in dims) + number(2, kFloat) + message(8, name) + message(9, floats(values))


def model(inputs, nodes, outputs, producer="tests", weights=()):
    """`inputs`: name, dims (numbers, names or "" for open ones) and perhaps a type. `weights`: name, dims and values, which are floats."""
    graph = b"".join(message(1, node(*n[:3], **(n[3] if len(n) > 3 else {}))) for n in nodes) + message(2, "graph")
    graph += b"".join(message(5, tensor(*w)) for w in weights)
    graph += b"".join(message(11, value_info(*i)) for i in inputs) + b"".join(message(12, message(1, o)) for o in outputs)
    return number(1, 8) + message(2, producer) + message(7, graph) + message(8, number(2, 17))


def channel_means(dims):
    """The mean of each channel of a picture: scores 1xC whose values say what the pixels were."""
    return model([("image", dims)], [("GlobalAveragePool", ["image"], ["pooled"]), ("Flatten", ["pooled"], ["scores"])], ["scores"])


def mask(dims):
    """A picture as it is: an output that is no scores of classes."""
    return model([("image", dims)], [("Relu", ["image"], ["mask"])], ["mask"])
