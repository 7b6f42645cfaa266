"""What the tests of notebooks share."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

AsNotebook = Callable[..., bytes]


@pytest.fixture
def as_notebook() -> AsNotebook:
    """Code cells with these texts as a notebook; a text that begins with `#md` is a text cell."""

    def made(*texts: str, **layout: object) -> bytes:
        cells = [
            {"cell_type": "markdown", "id": f"m{index}", "metadata": {}, "source": [text]}
            if text.startswith("#md")
            else {
                "cell_type": "code",
                "execution_count": index,
                "id": f"c{index}",
                "metadata": {"tags": ["é"]},
                "outputs": [{"output_type": "stream", "name": "stdout", "text": ["<b>\n"]}],
                "source": text.splitlines(keepends=True),
            }
            for index, text in enumerate(texts)
        ]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return (json.dumps(notebook, **{"indent": 1, **layout}) + "\n").encode()  # type: ignore[arg-type]

    return made
