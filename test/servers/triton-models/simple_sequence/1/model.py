"""Answers with the running total of the INPUTs of each sequence."""

import numpy
import triton_python_backend_utils as triton


def read(request, name):
    return triton.get_input_tensor_by_name(request, name).as_numpy()


def read_number(request, name):
    return int(read(request, name).flat[0])


class TritonPythonModel:
    def initialize(self, args):
        self.totals = {}

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        value = read(request, "INPUT")
        correlation_id = read_number(request, "CORRID")
        before = None if read_number(request, "START") else self.totals.get(correlation_id)
        total = value if before is None else before + value
        if read_number(request, "END"):
            self.totals.pop(correlation_id, None)
        else:
            self.totals[correlation_id] = total
        return triton.InferenceResponse([triton.Tensor("OUTPUT", total.astype(numpy.int32))])
