"""The limit that memory sets: a loop that reads and writes each number of a step once."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from contender import Contender
from machine import CORES
from workloads import RULES, Workload

# How many slots as large as the parameters each rule keeps.
SLOTS = {"Adam": 2, "AdamW, global norm": 2, "Adafactor": 0}
_LOOPS = """
void step_0(float *p, const float *g, float *m, float *v, long n) {
    #pragma omp parallel for simd
    for (long i = 0; i < n; i++) p[i] -= 1e-4f * g[i];
}
void step_1(float *p, const float *g, float *m, float *v, long n) {
    #pragma omp parallel for simd
    for (long i = 0; i < n; i++) { m[i] = 0.9f * m[i] + 0.1f * g[i]; p[i] -= 1e-4f * m[i]; }
}
void step_2(float *p, const float *g, float *m, float *v, long n) {
    #pragma omp parallel for simd
    for (long i = 0; i < n; i++) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        p[i] -= 1e-4f * m[i] + 1e-7f * v[i];
    }
}
"""


class Limit(Contender):
    name = "memory limit, C loop" if shutil.which("cc") else "memory limit, NumPy loop"
    needs = ("numpy",)
    rules = RULES

    def prepare(self, rule: str, workload: Workload) -> None:
        slots = SLOTS.get(rule, 1)
        self.arrays = [np.full(workload.parameters, 0.1, np.float32) for _ in range(2 + slots)]
        self.step_all = _compiled(slots) if shutil.which("cc") else _step_by_numpy

    def step(self) -> None:
        self.step_all(self.arrays)


def _compiled(slots: int) -> Any:
    os.environ.setdefault("OMP_NUM_THREADS", str(CORES))
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name, "loops.c"), Path(name, "loops.so")
        source.write_text(_LOOPS)
        flags = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
        function = getattr(ctypes.CDLL(str(library)), f"step_{slots}")

    def step(arrays: list[Any]) -> None:
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
        pointers += [None] * (4 - len(pointers))
        function(*pointers, ctypes.c_long(arrays[0].size))

    return step


def _step_by_numpy(arrays: list[Any]) -> None:
    """In pieces that stay in the cache; one thread, so it is a lower limit."""
    piece = 32_768
    for start in range(0, arrays[0].size, piece):
        values, gradients, *slots = (array[start : start + piece] for array in arrays)
        for slot in slots:
            slot *= 0.9
            slot += gradients
        values -= gradients


contender = Limit
