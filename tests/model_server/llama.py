"""Run llama.cpp's server with a model, until the standard input ends.

Usage: `python llama.py MODEL.gguf CONTEXT [KEY]`. It prints the server's address. Where there is no
such file, it becomes a small model of random weights. A program of its own, since llama.cpp prints
a lot, and a crash of it would be one of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gguf
import numpy
import xllamacpp

SLOTS = 2
"""The number of texts at once."""

WIDTH, HEADS = 64, 2
CONTEXT = 32_768


def write_model(path: Path) -> None:
    """Write a model whose tokens are the bytes. It is of a quarter of a megabyte."""
    special = ["<unk>", "<s>", "</s>"]
    tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(256))]
    unknown, control, byte = 2, 3, 6  # types of tokens
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([unknown, control, control, *[byte] * 256])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    random = numpy.random.default_rng(1)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))
    for name in ("token_embd", "output"):
        weights = random.standard_normal((len(tokens), WIDTH)) / 10
        writer.add_tensor(f"{name}.weight", weights.astype(numpy.float32))
    for name in "attn_q attn_k attn_v attn_output ffn_gate ffn_up ffn_down".split():
        weights = random.standard_normal((WIDTH, WIDTH)) / 10
        writer.add_tensor(f"blk.0.{name}.weight", weights.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main(model: str, context: str, key: str = "") -> None:
    """Serve a model by the name of its file."""
    path = Path(model)
    if not path.exists():
        write_model(path)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {path.stem}
    parameters.n_ctx = SLOTS * int(context)
    parameters.n_parallel = SLOTS
    parameters.port = 0
    parameters.cpuparams.n_threads = 1  # others would wait actively, which slows the builds down
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    if key:
        parameters.api_keys = [key]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
