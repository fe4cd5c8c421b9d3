"""Decoupled: one response per element of IN, each DELAY[i] ms after the one before; WAIT ms hold up the next request."""

import threading
import time

import numpy
import triton_python_backend_utils as triton

LONGEST_PAUSE_MS = 50


def pause(duration_ms):
    time.sleep(min(int(duration_ms), LONGEST_PAUSE_MS) / 1000)


def send_responses(sender, values, delays):
    for index, value in enumerate(values):
        pause(delays[index] if index < len(delays) else 0)
        out = triton.Tensor("OUT", numpy.array([value], dtype=numpy.int32))
        position = triton.Tensor("IDX", numpy.array([index], dtype=numpy.uint32))
        sender.send(triton.InferenceResponse([out, position]))
    sender.send(flags=triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


def copy_input(request, name):
    # A request's memory is given back when execute returns; the thread outlives that.
    return triton.get_input_tensor_by_name(request, name).as_numpy().copy()


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            work = (request.get_response_sender(), copy_input(request, "IN"), copy_input(request, "DELAY"))
            threading.Thread(target=send_responses, args=work, daemon=True).start()
            pause(copy_input(request, "WAIT").flat[0])
