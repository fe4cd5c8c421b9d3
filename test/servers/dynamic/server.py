"""A gRPC server of demo.proto without generated code: its types are made when it starts. It serves reflection v1alpha, and counts calls."""
import json
import sys
import threading
import time
from concurrent import futures
from http.server import BaseHTTPRequestHandler, HTTPServer

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, duration_pb2, message_factory  # duration_pb2 fills the pool
from grpc_reflection.v1alpha import reflection

SERVICE = "demo.v1.Text"
METHODS = {"Echo": (False, False), "Collect": (True, False), "Repeat": (False, True), "Talk": (True, True)}
FIELD = descriptor_pb2.FieldDescriptorProto

file = descriptor_pb2.FileDescriptorProto(name="demo.proto", package="demo.v1", syntax="proto3")
file.dependency.append(duration_pb2.DESCRIPTOR.name)
fault = file.enum_type.add(name="Fault")
for number, name in enumerate(["NONE", "REFUSE", "HANG"]):
    fault.value.add(name=name, number=number)
for message, fields in {
    "Request": [
        ("text", FIELD.TYPE_STRING, ""), ("count", FIELD.TYPE_INT32, ""), ("numbers", FIELD.TYPE_INT64, ""),
        ("delay", FIELD.TYPE_MESSAGE, ".google.protobuf.Duration"), ("fault", FIELD.TYPE_ENUM, ".demo.v1.Fault"),
    ],
    "Reply": [("text", FIELD.TYPE_STRING, ""), ("number", FIELD.TYPE_INT64, ""), ("ok", FIELD.TYPE_BOOL, "")],
}.items():
    described = file.message_type.add(name=message)
    for number, (name, kind, type_name) in enumerate(fields, 1):
        label = FIELD.LABEL_REPEATED if name == "numbers" else FIELD.LABEL_OPTIONAL
        described.field.add(name=name, number=number, type=kind, type_name=type_name or None, label=label)
service = file.service.add(name="Text")
for name, (client, server) in METHODS.items():
    service.method.add(name=name, input_type=".demo.v1.Request", output_type=".demo.v1.Reply",
                       client_streaming=client, server_streaming=server)
pool = descriptor_pool.Default()
pool.Add(file)
Request = message_factory.GetMessageClass(pool.FindMessageTypeByName("demo.v1.Request"))
Reply = message_factory.GetMessageClass(pool.FindMessageTypeByName("demo.v1.Reply"))

lock = threading.Lock()
counts = {"calls": 0, "received": 0, "sent": 0, "cancelled": 0}


def count(name):
    with lock:
        counts[name] += 1


def wait(request, context):
    if request.fault == 1:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "refused as asked")
    if request.fault == 2:
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait()
    time.sleep(request.delay.seconds + request.delay.nanos / 1e9)


def repeat(request, context):
    count("received")
    for number in range(1, max(1, request.count) + 1):
        wait(request, context)
        count("sent")
        yield Reply(text=request.text, number=number, ok=True)


def echo(request, context):
    count("calls")
    count("received")
    wait(request, context)
    count("sent")
    return Reply(text=request.text, number=sum(request.numbers), ok=True)


def collect(requests, context):
    count("calls")
    length = total = 0
    for request in requests:
        count("received")
        wait(request, context)
        length, total = length + 1, total + sum(request.numbers)
    count("sent")
    return Reply(text=str(length), number=total, ok=True)


def one_to_many(request, context):
    count("calls")
    yield from repeat(request, context)


def talk(requests, context):
    count("calls")
    for request in requests:
        yield from repeat(request, context)


def handler(make, behavior):
    return make(behavior, request_deserializer=Request.FromString, response_serializer=Reply.SerializeToString)


class Control(BaseHTTPRequestHandler):
    def do_GET(self):
        with lock:
            body = json.dumps(counts).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        with lock:
            for name in counts:
                counts[name] = 0
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = grpc.server(futures.ThreadPoolExecutor(16))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {
    "Echo": handler(grpc.unary_unary_rpc_method_handler, echo),
    "Collect": handler(grpc.stream_unary_rpc_method_handler, collect),
    "Repeat": handler(grpc.unary_stream_rpc_method_handler, one_to_many),
    "Talk": handler(grpc.stream_stream_rpc_method_handler, talk),
})])
reflection.enable_server_reflection([SERVICE, reflection.SERVICE_NAME], server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
control = HTTPServer(("127.0.0.1", 0), Control)
threading.Thread(target=control.serve_forever, daemon=True).start()
print(json.dumps({"grpc": port, "control": control.server_address[1]}), flush=True)
sys.stdin.read()  # ends with the process that started it
server.stop(None)
