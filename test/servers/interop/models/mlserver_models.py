"""Models for MLServer: the sum and difference of two tensors, and an echo of texts, which streams one answer per text."""

import numpy as np
from mlserver import MLModel
from mlserver.types import InferenceResponse, ResponseOutput


def values(tensor):
    return getattr(tensor.data, "root", tensor.data)


class AddSub(MLModel):
    async def predict(self, payload):
        by_name = {tensor.name: np.asarray(values(tensor), np.float32).ravel() for tensor in payload.inputs}
        left, right = by_name["INPUT0"], by_name["INPUT1"]
        results = {"OUTPUT0": left + right, "OUTPUT1": left - right}
        outputs = [
            ResponseOutput(name=name, datatype="FP32", shape=[result.size], data=result.tolist())
            for name, result in results.items()
        ]
        return InferenceResponse(id=payload.id, model_name=self.name, model_version=self.version, outputs=outputs)


class EchoBytes(MLModel):
    def reply(self, texts):
        output = ResponseOutput(name="OUTPUT0", datatype="BYTES", shape=[len(texts)], data=texts)
        return InferenceResponse(model_name=self.name, model_version=self.version, outputs=[output])

    async def predict(self, payload):
        texts = values(payload.inputs[0])
        return self.reply(texts if isinstance(texts, list) else [texts])

    async def predict_stream(self, payloads):
        async for payload in payloads:
            texts = values(payload.inputs[0])
            for text in texts if isinstance(texts, list) else [texts]:
                yield self.reply([text])
