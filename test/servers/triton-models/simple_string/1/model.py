"""Sum and difference of whole numbers that are written as decimal text, one per element."""

import numpy
import triton_python_backend_utils as triton

REFUSAL = "input data in sequence must be integer strings"


def read_numbers(request, name):
    texts = triton.get_input_tensor_by_name(request, name).as_numpy()
    return texts.shape, [int(text) for text in texts.ravel()]


def write_texts(name, shape, numbers):
    texts = numpy.array([str(number).encode() for number in numbers], dtype=numpy.object_)
    return triton.Tensor(name, texts.reshape(shape))


def answer(request):
    try:
        shape, left = read_numbers(request, "INPUT0")
        _, right = read_numbers(request, "INPUT1")
    except ValueError:
        return triton.InferenceResponse(error=triton.TritonError(REFUSAL))
    pairs = list(zip(left, right))
    sums = write_texts("OUTPUT0", shape, [a + b for a, b in pairs])
    differences = write_texts("OUTPUT1", shape, [a - b for a, b in pairs])
    return triton.InferenceResponse([sums, differences])


class TritonPythonModel:
    def execute(self, requests):
        return [answer(request) for request in requests]
