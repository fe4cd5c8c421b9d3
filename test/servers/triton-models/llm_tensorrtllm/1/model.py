"""Takes what TensorRT-LLM's models take: streams max_tokens letters, one each 4 ms, the first after 20 ms, then an empty final response."""

import threading
import time

import numpy
import triton_python_backend_utils as triton

FIRST_MS = 20
GAP_MS = 4


def send_text(sender, tokens):
    for index in range(tokens):
        time.sleep((GAP_MS if index > 0 else FIRST_MS) / 1000)
        letter = chr(ord("a") + index % 26)
        text = triton.Tensor("text_output", numpy.array([[letter.encode()]], dtype=numpy.object_))
        sender.send(triton.InferenceResponse([text]))
    sender.send(flags=triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            tokens = int(triton.get_input_tensor_by_name(request, "max_tokens").as_numpy().flat[0])
            threading.Thread(target=send_text, args=(request.get_response_sender(), tokens), daemon=True).start()
