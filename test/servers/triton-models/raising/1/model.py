"""Raises on every execution, which Triton counts as failed requests (it counts refusals in an answer, as of `failing`, as successes)."""


class TritonPythonModel:
    def execute(self, requests):
        raise RuntimeError("deliberate exception")
