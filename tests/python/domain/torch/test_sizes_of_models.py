"""Models whose batches and sequences change from call to call: two traces serve them, and results are eager's."""

import importlib.util
import unittest

import slotrt
import torch
from torch import nn

BATCHES, LENGTHS = (2, 5, 3, 40, 17), (3, 7, 100, 12, 31)


def language_model(name):
    import transformers

    size = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    quiet = {"bos_token_id": 0, "eos_token_id": 0}
    match name:
        case "GPT2Model":
            # Probabilities of zero are written as integers and as floats.
            return transformers.GPT2Model(transformers.GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=2, n_positions=128, resid_pdrop=0, embd_pdrop=0.0, attn_pdrop=0, **quiet))
        case "BertModel":
            return transformers.BertModel(transformers.BertConfig(**size, hidden_dropout_prob=0, attention_probs_dropout_prob=0.1))
        case "LlamaModel":
            return transformers.LlamaModel(transformers.LlamaConfig(**size, num_key_value_heads=2, **quiet))


class Sizes(unittest.TestCase):
    def run_model(self, model, inputs):
        model.eval()
        slotrt.reset()
        compiled = slotrt.compile(model)
        with torch.no_grad():
            for given in inputs:
                for plain, found in zip(self.tensors(model(given)), self.tensors(compiled(given)), strict=True):
                    self.assertEqual((plain.shape, plain.stride()), (found.shape, found.stride()))
                    self.assertTrue(torch.allclose(plain, found, atol=1e-6))
        counts = slotrt.stats()
        self.assertEqual((counts["graphs"], counts["graph_breaks"]), (2, 0))

    def tensors(self, given):
        if isinstance(given, torch.Tensor):
            return [given]
        items = given.to_tuple() if hasattr(given, "to_tuple") else given
        return [tensor for item in items if isinstance(item, (tuple, torch.Tensor)) for tensor in self.tensors(item)]

    @unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers are not here")
    def test_language_models(self):
        for name in ("GPT2Model", "BertModel", "LlamaModel"):
            with self.subTest(name):
                torch.manual_seed(0)
                self.run_model(language_model(name), [torch.randint(0, 99, sizes) for sizes in zip(BATCHES, LENGTHS)])

    @unittest.skipUnless(importlib.util.find_spec("torchvision"), "torchvision is not here")
    def test_images(self):
        import torchvision

        torch.manual_seed(0)
        self.run_model(torchvision.models.resnet18(weights=None), [torch.randn(n, 3, 32, 32) for n in BATCHES])

    def test_recurrent_layers_and_encoders(self):
        torch.manual_seed(0)
        sizes = list(zip(BATCHES, LENGTHS))
        self.run_model(nn.LSTM(8, 8, 2, batch_first=True), [torch.randn(n, m, 8) for n, m in sizes])
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
        self.run_model(encoder, [torch.randn(n, m, 16) for n, m in sizes])


if __name__ == "__main__":
    unittest.main()
