"""OUTPUT0 is the sum of the two inputs, OUTPUT1 their difference, element by element."""

import triton_python_backend_utils as triton


def answer(request):
    left = triton.get_input_tensor_by_name(request, "INPUT0").as_numpy()
    right = triton.get_input_tensor_by_name(request, "INPUT1").as_numpy()
    outputs = [triton.Tensor("OUTPUT0", left + right), triton.Tensor("OUTPUT1", left - right)]
    return triton.InferenceResponse(outputs)


class TritonPythonModel:
    def execute(self, requests):
        return [answer(request) for request in requests]
