"""What is stepped: the shapes of the leaves, made up values and gradients for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]
RULES = ("Adam", "SGD momentum", "AdamW, global norm", "RMSprop", "Lion", "Adafactor")
LEARNING_RATE = 1e-4
ROWS_TOUCHED = 1_024


@dataclass(frozen=True)
class Workload:
    """`kind` is "dense", "sparse" (a table, of which a step touches some rows) or "training" (a
    model of `models.py`: forward, backward and update)."""

    name: str
    about: str
    kind: str = "dense"
    shapes: tuple[Shape, ...] = ()

    @property
    def parameters(self) -> int:
        return sum(map(math.prod, self.shapes))

    def values(self) -> list[np.ndarray[Any, Any]]:
        return [_numbers(shape, seed=1) for shape in self.shapes]

    def gradients(self) -> list[np.ndarray[Any, Any]]:
        """Of a table, the rows that are touched."""
        if self.kind == "sparse":
            return [_numbers((ROWS_TOUCHED, *shape[1:]), seed=2) for shape in self.shapes]
        return [_numbers(shape, seed=2) for shape in self.shapes]

    def rows(self) -> np.ndarray[Any, Any]:
        generator = np.random.default_rng(3)
        return generator.integers(0, self.shapes[0][0], ROWS_TOUCHED).astype(np.int32)


def _numbers(shape: Shape, seed: int) -> np.ndarray[Any, Any]:
    block = np.random.default_rng(seed).standard_normal(1_000_003).astype(np.float32)
    return np.resize(0.1 * block, shape)


def _resnet_50() -> list[Shape]:
    """As in `keras.applications`: every convolution has a bias and a batch normalisation."""

    def convolution(size: int, inputs: int, outputs: int) -> list[Shape]:
        return [(size, size, inputs, outputs), (outputs,), (outputs,), (outputs,)]

    shapes = convolution(7, 3, 64)
    inputs = 64
    for blocks, width in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for block in range(blocks):
            shapes += convolution(1, inputs, 4 * width) if block == 0 else []
            shapes += convolution(1, inputs, width) + convolution(3, width, width)
            shapes += convolution(1, width, 4 * width)
            inputs = 4 * width
    return [*shapes, (2048, 1000), (1000,)]


def _bert_base() -> list[Shape]:
    width, inner = 768, 3072
    layer: list[Shape] = 4 * [(width, width), (width,)] + 4 * [(width,)]
    layer += [(width, inner), (inner,), (inner, width), (width,)]
    tables: list[Shape] = [(30_522, width), (512, width), (2, width), (width,), (width,)]
    return [*tables, *(12 * layer), (width, width), (width,)]


WORKLOADS = (
    Workload("W0", "one leaf of 8 numbers: the cost of a call", shapes=((8,),)),
    Workload("W1", "the leaves of a ResNet-50", shapes=tuple(_resnet_50())),
    Workload("W2", "the leaves of BERT base", shapes=tuple(_bert_base())),
    Workload("W3", "2,000 small leaves", shapes=1_000 * ((64, 64), (64,))),
    Workload("W4", "one leaf of 50 million", shapes=((50_000_000,),)),
    Workload("W5-10k", "1,024 rows of a table of 10,000", "sparse", ((10_000, 64),)),
    Workload("W5-1M", "1,024 rows of a table of a million", "sparse", ((1_000_000, 64),)),
    Workload("ResNet", "a training step of a small ResNet", "training"),
    Workload("Transformer", "a training step of a small transformer", "training"),
)
# For the test of the suite.
TINY = (
    Workload("tiny", "two small leaves", shapes=((4, 3), (3,))),
    Workload("tiny table", "rows of a small table", "sparse", ((2_000, 2),)),
)


def workload_named(name: str) -> Workload:
    return next(workload for workload in (*WORKLOADS, *TINY) if workload.name == name)
