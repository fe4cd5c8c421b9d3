"""The models: names of versions, of signatures, and of their inputs and outputs with type and shape (-1: any size)."""

import struct
import time

from tensors import TYPES, Tensor


class Signature:
    """`run` gets tensors by input and returns tensors by output. `as_content` is the form of the outputs."""

    def __init__(self, inputs, outputs, run, as_content=False):
        self.inputs, self.outputs, self.run, self.as_content = inputs, outputs, run, as_content


class Unavailable(Exception):
    pass


def wrap(value):
    """What a sum of INT32 is."""
    return (value + 2**31) % 2**32 - 2**31


def sum_and_difference(inputs):
    a, b = inputs["INPUT0"], inputs["INPUT1"]
    pairs = list(zip(a.values, b.values))
    return {
        "OUTPUT0": Tensor("INT32", a.shape, [wrap(x + y) for x, y in pairs]),
        "OUTPUT1": Tensor("INT32", a.shape, [wrap(x - y) for x, y in pairs]),
    }


def total(inputs):
    return {"SUM": sum_and_difference(inputs)["OUTPUT0"]}


def half_plus(number):
    def run(inputs):
        x = inputs["x"]
        return {"y": Tensor("FLOAT", x.shape, [value / 2 + number for value in x.values])}

    return run


def echo(inputs):
    return {name.replace("IN_", "OUT_"): tensor for name, tensor in inputs.items()}


def upper(inputs):
    text = inputs["text"]
    return {"upper": Tensor("STRING", text.shape, [value.upper() for value in text.values])}


def lengths(inputs):
    text = inputs["text"]
    return {"length": Tensor("INT64", text.shape, [len(value) for value in text.values])}


def mean(inputs):
    images = inputs["images"]
    size = len(images.values) // max(1, images.shape[0])
    parts = [images.values[i * size : (i + 1) * size] for i in range(images.shape[0])]
    return {"mean": Tensor("DOUBLE", images.shape[:1], [sum(part) / max(1, len(part)) for part in parts])}


def same(inputs):
    return {"y": inputs["x"]}


def slow(inputs):
    time.sleep(0.01)
    return same(inputs)


def failing(_inputs):
    raise RuntimeError("deliberate failure")


def unavailable(_inputs):
    raise Unavailable("deliberately unavailable")


def every_third():
    """Fails every third time."""
    state = {"count": 0}

    def run(inputs):
        state["count"] += 1
        if state["count"] % 3 == 0:
            raise RuntimeError("the third of three")
        return same(inputs)

    return run


def broken(inputs):
    """An output with more values than its shape has."""
    x = inputs["x"]
    return {"y": Tensor("FLOAT", x.shape, x.values + [0.0])}


DEFAULT = "serving_default"
PAIR = {"INPUT0": ("INT32", [-1, 16]), "INPUT1": ("INT32", [-1, 16])}
RESULTS = {"OUTPUT0": ("INT32", [-1, 16]), "OUTPUT1": ("INT32", [-1, 16])}
X, Y = {"x": ("FLOAT", [-1])}, {"y": ("FLOAT", [-1])}
FLAT_X, FLAT_Y = {"x": ("FLOAT", [-1, 4])}, {"y": ("FLOAT", [-1, 4])}
# perf_analyzer has no name for BFLOAT16.
COMMON = [name for name in TYPES if name != "BFLOAT16"]


def flat(run):
    return {1: {DEFAULT: Signature(FLAT_X, FLAT_Y, run)}}


def typed(names, as_content=False):
    inputs = {"IN_" + name: (name, [-1, 2, 3]) for name in names}
    outputs = {"OUT_" + name: (name, [-1, 2, 3]) for name in names}
    return {1: {DEFAULT: Signature(inputs, outputs, echo, as_content)}}


MODELS = {
    "half_plus_two": {
        1: {DEFAULT: Signature(X, Y, half_plus(2))},
        2: {DEFAULT: Signature(X, Y, half_plus(2)), "plus_three": Signature(X, Y, half_plus(3))},
    },
    "simple": {
        1: {DEFAULT: Signature(PAIR, RESULTS, sum_and_difference), "swapped": Signature(PAIR, {"SUM": ("INT32", [-1, 16])}, total)}
    },
    "alltypes": typed(COMMON),
    "alltypes_content": typed(TYPES, as_content=True),
    "text": {
        1: {
            DEFAULT: Signature({"text": ("STRING", [-1])}, {"upper": ("STRING", [-1])}, upper),
            "lengths": Signature({"text": ("STRING", [-1])}, {"length": ("INT64", [-1])}, lengths),
        }
    },
    "image": {1: {DEFAULT: Signature({"images": ("UINT8", [-1, -1, -1, 3])}, {"mean": ("DOUBLE", [-1])}, mean)}},
    "named_only": {1: {"first": Signature(FLAT_X, FLAT_Y, same)}},
    "any_rank": {1: {DEFAULT: Signature({"x": ("FLOAT", None)}, {"y": ("FLOAT", None)}, same)}},
    "slow": flat(slow),
    "failing": flat(failing),
    "unavailable": flat(unavailable),
    "every_third": flat(every_third()),
    "broken": flat(broken),
}

# The real server knows a label only for versions that its configuration names.
LABELS = {"half_plus_two": {"stable": 1, "canary": 2, "2": 2}}
