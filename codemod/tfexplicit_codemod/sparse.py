"""Signs that a program's gradients may be sparse, as those of embedding tables are.

Keras 3 squares the gradients of repeated ids one by one, the rules add them up first. So where a
sparse gradient is possible, only the Keras object trains as before, and it stays. What a model does
may be in another file of the project, or in a library; hence a look at the text, not at one call.
"""

from __future__ import annotations

SIGNS = (
    b"Embedding(",
    b"embedding_lookup",
    b"gather(",
    b"gather_nd(",
    b"ops.take(",
    b"IndexedSlices",
    # Models whose layers are out of sight.
    b"load_model(",
    b"keras_hub",
    b"keras_nlp",
    b"tensorflow_hub",
    b"transformers",
)


def may_have_sparse_gradients(source: bytes) -> bool:
    return any(sign in source for sign in SIGNS)
