"""A model whose test decides what happens to each request.

For each request, one line of JSON goes to the address in the model's parameter `control`. The line that comes back names what happens:
`answer`, `large`, `error`, `crash`, or `break`, which sends a first answer before it crashes. Without a line the request stays in flight.
"""

import json
import os
import queue
import signal
import socket
import sys
import threading

import numpy
import triton_python_backend_utils as triton

MORE_ELEMENTS = 256 * 1024
START = 1
END = 2


def response(elements):
    return triton.InferenceResponse([triton.Tensor("OUT", numpy.ones(elements, dtype=numpy.float32))])


def crash():
    # The process with Triton's library has started this one.
    print("made to crash", file=sys.stderr, flush=True)
    os.kill(os.getppid(), signal.SIGABRT)


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        host, port = config["parameters"]["control"]["string_value"].split(":")
        self.is_decoupled = config.get("model_transaction_policy", {}).get("decoupled", False)
        self.first_orders = queue.Queue()
        self.senders = {}
        self.control = socket.create_connection((host, int(port)))
        threading.Thread(target=self.follow, daemon=True).start()

    def execute(self, requests):
        responses = [self.take(request) for request in requests]
        return None if self.is_decoupled else responses

    def take(self, request):
        number = len(self.senders)
        self.senders[number] = request.get_response_sender()
        flags = request.flags()
        arrived = {
            "request": number,
            "sequence": request.correlation_id(),
            "start": bool(flags & START),
            "end": bool(flags & END),
        }
        self.control.sendall(json.dumps(arrived).encode() + b"\n")
        verdict = self.first_orders.get()
        if verdict == "error" and not self.is_decoupled:
            # Triton counts a request as failed only when this raises. It counts an error in a response as a success.
            raise triton.TritonModelException("made to fail")
        self.obey(verdict, self.senders[number])
        return None

    def follow(self):
        for line in self.control.makefile():
            order = json.loads(line)
            if order["isFirst"]:
                self.first_orders.put(order["verdict"])
            else:
                self.obey(order["verdict"], self.senders[order["request"]])

    def obey(self, verdict, sender):
        if verdict == "later":
            return
        if verdict == "crash":
            crash()
            return
        error = triton.InferenceResponse(error=triton.TritonError("made to fail"))
        last = error if verdict == "error" else response(4 + MORE_ELEMENTS if verdict == "large" else 4)
        if not self.is_decoupled:
            sender.send(last, flags=triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
            return
        sender.send(last)
        if verdict == "break":
            crash()
        else:
            sender.send(flags=triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
