"""Echoes one tensor of every data type: IN_<type> comes back as OUT_<type>."""

import triton_python_backend_utils as triton

TYPES = "BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 STRING".split()


def echo(request, data_type):
    tensor = triton.get_input_tensor_by_name(request, f"IN_{data_type}")
    return triton.Tensor(f"OUT_{data_type}", tensor.as_numpy())


class TritonPythonModel:
    def execute(self, requests):
        return [triton.InferenceResponse([echo(request, data_type) for data_type in TYPES]) for request in requests]
