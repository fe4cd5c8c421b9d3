"""Refuses every request with the same message."""

import triton_python_backend_utils as triton


class TritonPythonModel:
    def execute(self, requests):
        error = triton.TritonError("deliberate failure")
        return [triton.InferenceResponse(error=error) for _ in requests]
