"""Takes what the engine of TensorRT-LLM takes: ids in, ids out, and without `streaming` all in one response.

Streams the prompt's ids backwards, over and over: one in the first response, two in each later one, then an empty final response. The last id
is `end_id` where there is one. Appends a line of JSON on each request to the file that the environment names: its inputs, and the ids it sent.
"""

import json
import os
import threading
import time

import numpy
import triton_python_backend_utils as triton

FIRST_MS = 10
GAP_MS = 2
LOG = os.environ.get("ENGINE_LOG")


def read(request, name):
    tensor = triton.get_input_tensor_by_name(request, name)
    return None if tensor is None else tensor.as_numpy().flatten().tolist()


def make_ids(inputs):
    count = inputs["request_output_len"][0]
    prompt = inputs["input_ids"][::-1]
    ids = [prompt[index % len(prompt)] for index in range(count)]
    if inputs["end_id"] is not None:
        ids[-1] = inputs["end_id"][0]
    return ids


def split(ids, is_streaming):
    if not is_streaming:
        return [ids]
    return [ids[:1]] + [ids[at : at + 2] for at in range(1, len(ids), 2)]


def answer(sender, inputs):
    ids = make_ids(inputs)
    for step, piece in enumerate(split(ids, inputs["streaming"] == [True])):
        time.sleep((FIRST_MS if step == 0 else GAP_MS) / 1000)
        output = triton.Tensor("output_ids", numpy.array([[piece]], dtype=numpy.int32))
        length = triton.Tensor("sequence_length", numpy.array([[len(piece)]], dtype=numpy.int32))
        sender.send(triton.InferenceResponse([output, length]))
    if LOG is not None:
        with open(LOG, "a") as log:
            log.write(json.dumps({**inputs, "sent": ids}) + "\n")
    sender.send(flags=triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


class TritonPythonModel:
    def execute(self, requests):
        names = ["input_ids", "input_lengths", "request_output_len", "min_length", "end_id", "temperature", "streaming"]
        for request in requests:
            inputs = {name: read(request, name) for name in names}
            sender = request.get_response_sender()
            if inputs["input_lengths"] != [len(inputs["input_ids"])]:
                error = triton.TritonError(f"{len(inputs['input_ids'])} ids, but {inputs['input_lengths']} announced")
                sender.send(triton.InferenceResponse(error=error), triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
                continue
            threading.Thread(target=answer, args=(sender, inputs), daemon=True).start()
