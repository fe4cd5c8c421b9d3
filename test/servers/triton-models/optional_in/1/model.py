"""Gives every request its INPUT0 back as OUTPUT0; INPUT1 may be missing and is not looked at."""

import triton_python_backend_utils as triton


def answer(request):
    tensor = triton.get_input_tensor_by_name(request, "INPUT0")
    return triton.InferenceResponse([triton.Tensor("OUTPUT0", tensor.as_numpy())])


class TritonPythonModel:
    def execute(self, requests):
        return [answer(request) for request in requests]
