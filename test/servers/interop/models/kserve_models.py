"""Models for KServe's ModelServer: the sum and difference of two tensors, and an echo of texts."""

import argparse
import uuid

import grpc.aio._server
import uvicorn
from kserve import InferOutput, InferResponse, Model, ModelServer, model_server


def stay_on_loopback():
    """The server listens on every address and has no setting for that."""
    configure, add_port = uvicorn.Config.__init__, grpc.aio._server.Server.add_insecure_port

    def configure_locally(self, *args, **settings):
        settings["host"] = "127.0.0.1"
        configure(self, *args, **settings)

    uvicorn.Config.__init__ = configure_locally
    grpc.aio._server.Server.add_insecure_port = lambda self, address: add_port(
        self, address.replace("[::]", "127.0.0.1")
    )


class TestModel(Model):
    inputs = []
    outputs = []

    def __init__(self, name):
        super().__init__(name)
        self.ready = True

    async def get_input_types(self):
        return self.inputs

    async def get_output_types(self):
        return self.outputs

    def answer(self, request, results):
        is_binary = bool(request.from_grpc or request.use_binary_outputs)
        outputs = []
        for (name, result), described in zip(results.items(), self.outputs):
            output = InferOutput(name=name, shape=list(result.shape), datatype=described["datatype"])
            output.set_data_from_numpy(result, binary_data=is_binary)
            outputs.append(output)
        return InferResponse(
            response_id=request.id or str(uuid.uuid4()),
            model_name=self.name,
            infer_outputs=outputs,
            use_binary_outputs=request.use_binary_outputs,
            requested_outputs=request.request_outputs,
        )


class AddSub(TestModel):
    inputs = [{"name": name, "datatype": "FP32", "shape": [4]} for name in ("INPUT0", "INPUT1")]
    outputs = [{"name": name, "datatype": "FP32", "shape": [4]} for name in ("OUTPUT0", "OUTPUT1")]

    async def predict(self, payload, headers=None, response_headers=None):
        tensors = {tensor.name: tensor.as_numpy() for tensor in payload.inputs}
        left, right = tensors["INPUT0"], tensors["INPUT1"]
        return self.answer(payload, {"OUTPUT0": left + right, "OUTPUT1": left - right})


class EchoBytes(TestModel):
    inputs = [{"name": "INPUT0", "datatype": "BYTES", "shape": [2]}]
    outputs = [{"name": "OUTPUT0", "datatype": "BYTES", "shape": [-1]}]

    async def predict(self, payload, headers=None, response_headers=None):
        return self.answer(payload, {"OUTPUT0": payload.inputs[0].as_numpy()})


if __name__ == "__main__":
    argparse.ArgumentParser(parents=[model_server.parser]).parse_known_args()
    stay_on_loopback()
    ModelServer().start([AddSub("add_sub"), EchoBytes("echo_bytes")])
