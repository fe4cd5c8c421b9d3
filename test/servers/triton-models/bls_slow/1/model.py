"""Passes its input through the models "slow" and "identity_fp32", called from inside the server."""

import triton_python_backend_utils as triton

CHAIN = ("slow", "identity_fp32")


def call_model(name, values):
    tensor = triton.Tensor("INPUT0", values)
    request = triton.InferenceRequest(model_name=name, requested_output_names=["OUTPUT0"], inputs=[tensor])
    response = request.exec()
    if response.has_error():
        raise triton.TritonModelException(response.error().message())
    return triton.get_output_tensor_by_name(response, "OUTPUT0").as_numpy()


def answer(request):
    values = triton.get_input_tensor_by_name(request, "INPUT0").as_numpy()
    for name in CHAIN:
        values = call_model(name, values)
    return triton.InferenceResponse([triton.Tensor("OUTPUT0", values)])


class TritonPythonModel:
    def execute(self, requests):
        return [answer(request) for request in requests]
