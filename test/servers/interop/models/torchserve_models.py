"""Handlers of TorchServe's models. Each is called with a batch of requests, and without one when its worker starts."""
import time


def echo(data, context):
    """Answers with the input: the part "data" of a form, or the whole body."""
    return None if data is None else [row.get("body", row.get("data", b"")) for row in data]


def length(data, context):
    """Answers with the number of the input's bytes, and the names of its parts. Fails for a request without bytes."""
    if data is None:
        return None
    sizes = [sum(len(part) for part in row.values()) for row in data]
    if 0 in sizes:
        raise ValueError("a request has no input")
    return [{"bytes": size, "parts": sorted(row)} for size, row in zip(sizes, data)]


def slow(data, context):
    """Takes 10 ms for a batch. Answers with its size."""
    if data is None:
        return None
    time.sleep(0.01)
    return [{"batch": len(data)} for _ in data]


def failing(data, context):
    """Fails for every request."""
    if data is None:
        return None
    raise ValueError("this model fails on purpose")
