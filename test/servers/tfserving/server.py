"""A server for TensorFlow Serving's gRPC interface over its official generated code, with the real server's texts and status
codes. Prints `ready PORT`. Each line on stdin is answered with the number of Predict calls by model and outcome, as JSON; it ends when
stdin ends."""

import json
import sys
import threading
from concurrent import futures

import error_codes

error_codes.register()

import grpc  # noqa: E402
from tensorflow.core.framework import types_pb2  # noqa: E402
from tensorflow_serving.apis import (  # noqa: E402
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)

import tensors  # noqa: E402
from models import DEFAULT, LABELS, MODELS, Unavailable  # noqa: E402

METHOD = "tensorflow/serving/predict"
# How the real server spells types in its texts.
SPELLED = {"FLOAT": "float", "DOUBLE": "double"}


class Refusal(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def bad(text):
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, text)


def spell(kind):
    return SPELLED.get(kind, kind.lower())


def braces(names):
    return "{" + ",".join(sorted(names)) + "}"


def choose(spec):
    """The version that a ModelSpec asks for, with its signatures."""
    if not spec.name:
        raise bad("ModelSpec has no name specified")
    versions = MODELS.get(spec.name, {})
    choice = spec.WhichOneof("version_choice")
    if choice == "version":
        version, asked = spec.version.value, f"Specific({spec.name}, {spec.version.value})"
    elif choice == "version_label":
        version, asked = LABELS.get(spec.name, {}).get(spec.version_label), ""
        if version is None:
            raise bad(f"Unrecognized servable version label: {spec.version_label}")
    else:
        version, asked = max(versions, default=0), f"Latest({spec.name})"
    if version not in versions:
        raise Refusal(grpc.StatusCode.NOT_FOUND, f"Servable not found for request: {asked}")
    return version, versions[version]


def has_shape(shape, wanted):
    if wanted is None:
        return True
    return len(shape) == len(wanted) and all(size in (-1, given) for given, size in zip(shape, wanted))


def read_inputs(request, signature):
    sent, wanted = set(request.inputs), set(signature.inputs)
    if len(sent) != len(wanted):
        raise bad(
            f"input size does not match signature: {len(sent)}!={len(wanted)} len({braces(sent)}) != len({braces(wanted)}). "
            f"Sent extra: {braces(sent - wanted)}. Missing but required: {braces(wanted - sent)}."
        )
    inputs = {}
    # Protobuf's maps have no order.
    for name, proto in sorted(request.inputs.items()):
        if name not in wanted:
            raise bad(
                f"input tensor alias not found in signature: {name}. Inputs expected to be in the set {braces(wanted)}."
            )
        try:
            tensor = tensors.read(proto)
        except tensors.BadTensor:
            raise bad(f"tensor parsing error: {name}") from None
        kind, shape = signature.inputs[name]
        if tensor.kind != kind:
            raise bad(f"Expected input {name} to be {spell(kind)} but get {spell(tensor.kind)}.")
        # The real text comes from the model's operations.
        if not has_shape(tensor.shape, shape):
            raise bad(f"Input {name}: expected shape {shape}, got {tensor.shape}")
        inputs[name] = tensor
    return inputs


def read_filter(request, signature):
    asked = list(request.output_filter)
    for index, name in enumerate(asked):
        if name not in signature.outputs:
            raise bad(
                f"output tensor alias not found in signature: {name} Outputs expected to be in the set {braces(signature.outputs)}."
            )
        if name in asked[:index]:
            raise bad(f"duplicate output tensor alias: {name}")
    return asked or list(signature.outputs)


def predict(request):
    if not request.HasField("model_spec"):
        raise bad("Missing ModelSpec")
    spec = request.model_spec
    version, signatures = choose(spec)
    name = spec.signature_name or DEFAULT
    signature = signatures.get(name)
    if signature is None:
        raise Refusal(grpc.StatusCode.FAILED_PRECONDITION, f'Serving signature key "{name}" not found.')
    inputs = read_inputs(request, signature)
    asked = read_filter(request, signature)
    try:
        outputs = signature.run(inputs)
    except Unavailable as error:
        raise Refusal(grpc.StatusCode.UNAVAILABLE, str(error)) from None
    except Exception as error:
        raise Refusal(grpc.StatusCode.INTERNAL, str(error)) from None
    response = predict_pb2.PredictResponse()
    response.model_spec.name, response.model_spec.signature_name = spec.name, name
    response.model_spec.version.value = version
    for output in asked:
        response.outputs[output].CopyFrom(tensors.write(outputs[output], signature.as_content))
    return response


def describe(infos, named, prefix):
    for index, (alias, (kind, shape)) in enumerate(named.items()):
        info = infos[alias]
        info.name = f"{prefix}_{alias}:0" if prefix else f"StatefulPartitionedCall:{index}"
        info.dtype = types_pb2.DataType.Value("DT_" + kind)
        if shape is None:
            info.tensor_shape.unknown_rank = True
        for size in shape or []:
            info.tensor_shape.dim.add(size=size)


def metadata(request):
    if not request.HasField("model_spec"):
        raise bad("Missing ModelSpec")
    if not request.metadata_field:
        raise bad("GetModelMetadataRequest must specify at least one metadata_field")
    for field in request.metadata_field:
        if field != "signature_def":
            raise bad(f"Metadata field {field} is not supported")
    version, signatures = choose(request.model_spec)
    found = get_model_metadata_pb2.SignatureDefMap()
    for name, signature in signatures.items():
        out = found.signature_def[name]
        out.method_name = METHOD
        describe(out.inputs, signature.inputs, name)
        describe(out.outputs, signature.outputs, "")
    response = get_model_metadata_pb2.GetModelMetadataResponse()
    response.model_spec.name = request.model_spec.name
    response.model_spec.version.value = version
    response.metadata["signature_def"].Pack(found)
    return response


def status(request):
    if not request.HasField("model_spec"):
        raise bad("Missing ModelSpec")
    spec = request.model_spec
    versions = sorted(MODELS.get(spec.name, {}), reverse=True)
    if spec.HasField("version"):
        if spec.version.value not in versions:
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Could not find version {spec.version.value} of model {spec.name}")
        versions = [spec.version.value]
    if not versions:
        raise Refusal(grpc.StatusCode.NOT_FOUND, f"Could not find any versions of model {spec.name}")
    response = get_model_status_pb2.GetModelStatusResponse()
    for version in versions:
        state = get_model_status_pb2.ModelVersionStatus.AVAILABLE
        response.model_version_status.add(version=version, state=state).status.SetInParent()
    return response


class Counts:
    """Predict calls by model: how many succeeded and how many failed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.rows = {}

    def add(self, model, outcome):
        with self.lock:
            row = self.rows.setdefault(model, {"ok": 0, "failed": 0})
            row[outcome] += 1

    def read(self):
        with self.lock:
            return json.dumps(self.rows)


COUNTS = Counts()


def answer(act, request, context):
    try:
        return act(request)
    except Refusal as refusal:
        context.abort(refusal.code, str(refusal))


class Prediction(prediction_service_pb2_grpc.PredictionServiceServicer):
    def Predict(self, request, context):
        outcome = "failed"
        try:
            response = answer(predict, request, context)
            outcome = "ok"
            return response
        finally:
            COUNTS.add(request.model_spec.name, outcome)

    def GetModelMetadata(self, request, context):
        return answer(metadata, request, context)


class Models(model_service_pb2_grpc.ModelServiceServicer):
    def GetModelStatus(self, request, context):
        return answer(status, request, context)


def main():
    limits = [("grpc.max_receive_message_length", 64 << 20), ("grpc.max_send_message_length", 64 << 20)]
    server = grpc.server(futures.ThreadPoolExecutor(16), options=limits)
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(Prediction(), server)
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(Models(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(f"ready {port}", flush=True)
    for _line in sys.stdin:
        print(COUNTS.read(), flush=True)
    server.stop(None)


main()
