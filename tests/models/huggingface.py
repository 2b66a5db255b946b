"""Language models of Hugging Face's transformers: small configurations with random weights, no downloads."""

import torch
import transformers

SIZES = {
    "vocab_size": 64,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
ENCODER_DECODER = {
    "vocab_size": 64,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}

# Name: configuration, model, and how its sizes differ from the usual.
CAUSAL = {
    "GPT-2": ("GPT2Config", "GPT2LMHeadModel", {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "GPT-NeoX": ("GPTNeoXConfig", "GPTNeoXForCausalLM", {}),
    "Llama": ("LlamaConfig", "LlamaForCausalLM", {}),
    "Mistral": ("MistralConfig", "MistralForCausalLM", {}),
    "Qwen2": ("Qwen2Config", "Qwen2ForCausalLM", {}),
    "Qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {}),
    "Gemma": ("GemmaConfig", "GemmaForCausalLM", {}),
    "Phi": ("PhiConfig", "PhiForCausalLM", {}),
    "Falcon": ("FalconConfig", "FalconForCausalLM", {"head_dim": None}),
    "OPT": ("OPTConfig", "OPTForCausalLM", {"ffn_dim": 32, "word_embed_proj_dim": 16}),
    "OLMo2": ("Olmo2Config", "Olmo2ForCausalLM", {}),
    "Granite": ("GraniteConfig", "GraniteForCausalLM", {}),
    "StarCoder2": ("Starcoder2Config", "Starcoder2ForCausalLM", {}),
    "StableLM": ("StableLmConfig", "StableLmForCausalLM", {}),
    "Qwen3-MoE": (
        "Qwen3MoeConfig",
        "Qwen3MoeForCausalLM",
        {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    ),
    "SmolLM3": ("SmolLM3Config", "SmolLM3ForCausalLM", {}),
    "Mamba": ("MambaConfig", "MambaForCausalLM", {"state_size": 4}),
}
ENCODERS = {
    "BERT": ("BertConfig", "BertModel", {}),
    "RoBERTa": ("RobertaConfig", "RobertaModel", {}),
    "DistilBERT": ("DistilBertConfig", "DistilBertModel", {"dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 32}),
    "ALBERT": ("AlbertConfig", "AlbertModel", {"embedding_size": 8}),
    "ELECTRA": ("ElectraConfig", "ElectraModel", {"embedding_size": 8}),
    "MobileBERT": (
        "MobileBertConfig",
        "MobileBertModel",
        {"embedding_size": 8, "true_hidden_size": 16, "intra_bottleneck_size": 16},
    ),
    "ModernBERT": ("ModernBertConfig", "ModernBertModel", {}),
    "XLM-R": ("XLMRobertaConfig", "XLMRobertaModel", {}),
    "LayoutLM": ("LayoutLMConfig", "LayoutLMModel", {}),
}
PAIRS = {
    "T5": (
        "T5Config",
        "T5ForConditionalGeneration",
        {"d_kv": 4, "d_ff": 32, "num_layers": 2, "num_heads": 4, "num_decoder_layers": 2},
    ),
    "BART": ("BartConfig", "BartForConditionalGeneration", {}),
    "Marian": ("MarianConfig", "MarianMTModel", {}),
    "Pegasus": ("PegasusConfig", "PegasusForConditionalGeneration", {}),
    "mBART": ("MBartConfig", "MBartForConditionalGeneration", {}),
    "M2M-100": ("M2M100Config", "M2M100ForConditionalGeneration", {}),
}


def made(configuration, model, sizes):
    sizes = {name: size for name, size in sizes.items() if size is not None}
    return getattr(transformers, model)(getattr(transformers, configuration)(**sizes)).eval()


def tokens(seed):
    return torch.randint(3, 64, (2, 8), generator=torch.Generator().manual_seed(seed))


def decoder_only(_model, seed):
    return (), {"input_ids": tokens(seed)}


def both(_model, seed):
    return (), {"input_ids": tokens(seed), "decoder_input_ids": tokens(seed + 100)}


def models():
    """By name: what makes the model, and what gives its arguments for the n-th call."""
    found = {}
    for name, (configuration, model, own) in {**CAUSAL, **ENCODERS}.items():
        sizes = {**SIZES, **own}
        found[name] = (lambda c=configuration, m=model, s=sizes: made(c, m, s)), decoder_only
    for name, (configuration, model, own) in PAIRS.items():
        sizes = {**ENCODER_DECODER, **own}
        found[name] = (lambda c=configuration, m=model, s=sizes: made(c, m, s)), both
    return found
