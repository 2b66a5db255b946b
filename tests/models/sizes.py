"""Models that are called with batches of 2 to 40, of sequences of 3 to 100: other sizes at each call."""

import torch
import torchvision
import transformers
from torch import nn

CALLS = 39
TRACES = 2
WORDS = 64


def batch_and_length(number):
    return 2 + number, 3 + (37 * number) % 98


def words(_model, number):
    return (), {"input_ids": torch.randint(0, WORDS, batch_and_length(number))}


def images(_model, number):
    return (torch.randn(batch_and_length(number)[0], 3, 32, 32),), {}


def vectors(_model, number):
    return (torch.randn(*batch_and_length(number), 8),), {}


def bert():
    sizes = {"vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    return transformers.BertModel(transformers.BertConfig(max_position_embeddings=128, **sizes)).eval()


def gpt2():
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128, "bos_token_id": 1, "eos_token_id": 2}
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=WORDS, **sizes)).eval()


def models():
    return {
        "BERT": (bert, words),
        "GPT-2": (gpt2, words),
        "ResNet-18": (lambda: torchvision.models.resnet18(weights=None).eval(), images),
        "LSTM": (lambda: nn.LSTM(8, 16, num_layers=2, batch_first=True).eval(), vectors),
    }
