"""Takes what the vLLM backend takes: streams max_tokens letters, one each 4 ms, the first after 20 ms; the last one is the final response."""

import json
import threading
import time

import numpy
import triton_python_backend_utils as triton

FIRST_MS = 20
GAP_MS = 4
DEFAULT_TOKENS = 16


def send_text(sender, tokens):
    for index in range(tokens):
        time.sleep((GAP_MS if index > 0 else FIRST_MS) / 1000)
        letter = chr(ord("a") + index % 26)
        text = triton.Tensor("text_output", numpy.array([letter.encode()], dtype=numpy.object_))
        flags = triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL if index == tokens - 1 else 0
        sender.send(triton.InferenceResponse([text]), flags=flags)


def read_tokens(request):
    parameters = triton.get_input_tensor_by_name(request, "sampling_parameters")
    if parameters is None:
        return DEFAULT_TOKENS
    return int(json.loads(parameters.as_numpy().flat[0]).get("max_tokens", DEFAULT_TOKENS))


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            work = (request.get_response_sender(), read_tokens(request))
            threading.Thread(target=send_text, args=work, daemon=True).start()
