import json
import shutil
from pathlib import Path

import pytest
import torch
from gguf import GGUFWriter
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from probe.errors import ModelError
from probe.models import gguf
from probe.models.library import full_name, load_any
from probe.models.prompted import Prompted
from probe.runs.models import named_model_hash
from tests.support.models.tiny_models import byte_pairs
from tests.support.processes.hub import COMMIT, Hub

LAYERS, WIDTH, HEADS, INNER = 2, 32, 4, 48
OF_LAYER = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}  # fmt: skip
WHOLE = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}


def write(path: Path) -> PreTrainedModel:
    """Write a tiny Qwen 2 as llama.cpp would, in fp32, and return it."""
    tokenizer = byte_pairs()
    held = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = sorted(held["vocab"], key=held["vocab"].__getitem__)
    sizes = {"vocab_size": len(tokens), "hidden_size": WIDTH, "intermediate_size": INNER}
    counts = {"num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
    config = AutoConfig.for_model(
        "qwen2", **sizes, **counts, num_key_value_heads=HEADS, max_position_embeddings=512,
        initializer_range=0.3, tie_word_embeddings=False,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(config).eval()
    writer = GGUFWriter(path, "qwen2")
    writer.add_context_length(512)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_merges([" ".join(merge) for merge in held["merges"]])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    for name, value in model.state_dict().items():
        inner, _, end = name.removeprefix("model.").rpartition(".")
        _, number, part = inner.split(".", 2) if inner.startswith("layers.") else ("", "", "")
        named = f"blk.{number}.{OF_LAYER[part]}" if part else WHOLE[inner]
        writer.add_tensor(f"{named}.{end}", value.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def test_a_file_answers_as_the_network_it_was_made_of_and_is_converted_once(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own" / "tiny.gguf"
    file.parent.mkdir()
    wanted = write(file)
    read = load_any(f"{file}?prompt=cloze")
    assert isinstance(read, Prompted) and read.prompt.name == "cloze"
    ids = torch.tensor([read.sub_words("A man walks his dog.")])
    with torch.no_grad():
        found, own = read.model(ids).logits, wanted(ids).logits
    assert torch.allclose(found, own, atol=1e-4) and own.std() > 0.1
    (kept,) = (home / "gguf").iterdir()
    (kept / "more").write_bytes(bytes(1_000_000))
    with monkeypatch.context() as changed:
        changed.setenv("NLI_CLINIC_GGUF_MB", "1")
        another = shutil.copy(file, tmp_path / "another.gguf")
        with another.open("ab") as end:
            end.write(b"another")
        load_any(str(another))
        (kept,) = (home / "gguf").iterdir()  # of one, for which the other made room
        changed.setattr(gguf, "BYTES_PER_WEIGHT", 100)  # some 50,000 of them
        with another.open("ab") as end:
            end.write(b"a third one")
        with pytest.raises(ModelError, match=r"disk are for that .*GGUF_MB"):
            load_any(str(another))
    load_any(str(file))
    monkeypatch.setattr(gguf, "find_spec", lambda name: None)
    assert named_model_hash(str(file)) == named_model_hash(str(file.parent))  # nothing is needed
    monkeypatch.chdir(file.parent)
    assert full_name("tiny.gguf?shots=2") == f"{file}?shots=2"
    shutil.rmtree(home / "gguf")
    with pytest.raises(ModelError, match=r"pip install 'nli-clinic\[gguf\]'"):
        load_any(str(file))
    shutil.copy(file, file.parent / "other.gguf")
    with pytest.raises(ModelError, match=r"several GGUF files.*other\.gguf, tiny\.gguf"):
        load_any(str(file.parent))
    part = shutil.copy(file, file.parent / "tiny-00001-of-00002.gguf")
    with pytest.raises(ModelError, match="join them"):
        load_any(str(part))


def of_gguf_alone(hub: Hub, *names: str) -> None:
    for path in hub.folder.iterdir():
        path.unlink()
    for name in names:
        write(hub.folder / name)


def test_the_only_file_of_a_hubs_model_is_fetched(hub: Hub) -> None:
    of_gguf_alone(hub, "a.gguf")
    model = load_any("owner/tiny?prompt=cloze")
    assert isinstance(model, Prompted) and model.revision == COMMIT


def test_one_of_several_files_of_a_hubs_model_is_named(hub: Hub) -> None:
    of_gguf_alone(hub, "a.gguf", "b.gguf")
    with pytest.raises(ModelError, match=r"owner/tiny/FILE: a\.gguf, b\.gguf"):
        load_any("owner/tiny")
    assert isinstance(load_any(f"owner/tiny/b.gguf@{COMMIT}?prompt=cloze"), Prompted)
    assert [each for each in hub.fetched if each.endswith(".gguf")] == ["b.gguf"]
