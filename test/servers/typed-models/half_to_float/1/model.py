"""Answers with its FP16 input as it reads it: as FP32, and unchanged."""

import numpy
import triton_python_backend_utils as triton


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        half = triton.get_input_tensor_by_name(request, "HALF").as_numpy()
        as_float = triton.Tensor("FLOAT", half.astype(numpy.float32))
        return triton.InferenceResponse([as_float, triton.Tensor("HALF_OUT", half)])
