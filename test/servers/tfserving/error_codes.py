"""Stands in for tensorflow.core.protobuf.error_codes_pb2, whose packaged form imports a module that no package has."""

import sys
import types

from google.protobuf import descriptor_pb2, descriptor_pool

CODES = [
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
]

MODULE = "tensorflow.core.protobuf.error_codes_pb2"


def register():
    """Adds the enum `tensorflow.error.Code` to protobuf's pool, under the name of its file."""
    file = descriptor_pb2.FileDescriptorProto(
        name="tensorflow/core/protobuf/error_codes.proto", package="tensorflow.error", syntax="proto3"
    )
    enum = file.enum_type.add(name="Code")
    for number, name in enumerate(CODES):
        enum.value.add(name=name, number=number)
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
    module = types.ModuleType(MODULE)
    # What the generated code of messages with a status asks for.
    module.xla_dot_tsl_dot_protobuf_dot_error__codes__pb2 = module
    sys.modules[MODULE] = module
