"""TensorProto from and to lists of values, as TensorFlow's Tensor::FromProto and AsProtoField treat them."""

import math
import struct

from tensorflow.core.framework import tensor_pb2, types_pb2

# Type: field of typed values, struct code of one element in tensor_content.
TYPES = {
    "BOOL": ("bool_val", "?"),
    "UINT8": ("int_val", "B"),
    "INT8": ("int_val", "b"),
    "UINT16": ("int_val", "H"),
    "INT16": ("int_val", "h"),
    "UINT32": ("uint32_val", "I"),
    "INT32": ("int_val", "i"),
    "UINT64": ("uint64_val", "Q"),
    "INT64": ("int64_val", "q"),
    "HALF": ("half_val", "H"),
    "BFLOAT16": ("half_val", "H"),
    "FLOAT": ("float_val", "f"),
    "DOUBLE": ("double_val", "d"),
    "STRING": ("string_val", ""),
}
NUMBERS = {types_pb2.DataType.Value("DT_" + name): name for name in TYPES}


class BadTensor(Exception):
    pass


class Tensor:
    """Half precision values are their 16 bits."""

    def __init__(self, kind, shape, values):
        self.kind, self.shape, self.values = kind, shape, values


def read(proto):
    kind = NUMBERS.get(proto.dtype)
    shape = [dim.size for dim in proto.tensor_shape.dim]
    if kind is None or proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise BadTensor()
    count = math.prod(shape)
    field, code = TYPES[kind]
    if proto.tensor_content:
        if not code or len(proto.tensor_content) != count * struct.calcsize("<" + code):
            raise BadTensor()
        # TensorFlow has no other bools than these two bytes.
        if kind == "BOOL" and proto.tensor_content.strip(b"\x00\x01"):
            raise BadTensor()
        return Tensor(kind, shape, list(struct.unpack(f"<{count}{code}", proto.tensor_content)))
    values = list(getattr(proto, field))
    if len(values) > count:
        raise BadTensor()
    empty = b"" if kind == "STRING" else 0
    return Tensor(kind, shape, values + [values[-1] if values else empty] * (count - len(values)))


def write(tensor, as_content=False):
    """@param as_content bytes instead of typed values: the other form that clients must understand"""
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DataType.Value("DT_" + tensor.kind))
    for size in tensor.shape:
        proto.tensor_shape.dim.add(size=size)
    field, code = TYPES[tensor.kind]
    if as_content and code:
        proto.tensor_content = struct.pack(f"<{len(tensor.values)}{code}", *tensor.values)
    else:
        getattr(proto, field).extend(tensor.values)
    return proto
