"""Answers with the running total of the INPUTs of each sequence, and the sequence's id, which is a text."""

import numpy
import triton_python_backend_utils as triton


def read(request, name):
    return triton.get_input_tensor_by_name(request, name).as_numpy()


class TritonPythonModel:
    def initialize(self, args):
        self.totals = {}

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        value = read(request, "INPUT")
        name = read(request, "CORRID").flat[0]
        starts = int(read(request, "START").flat[0])
        total = value if starts else self.totals[name] + value
        self.totals[name] = total
        ids = numpy.array([name], dtype=numpy.object_).reshape(value.shape)
        return triton.InferenceResponse([triton.Tensor("OUTPUT", total.astype(numpy.int32)), triton.Tensor("ID", ids)])
