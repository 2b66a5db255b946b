"""PyTorch sets the hooks of a tensor while it holds the lock of its history: whoever asks that tensor for `is_leaf` meanwhile waits for ever."""

import signal
import unittest

import slotrt
import torch

HEARD = []


class Hearing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        HEARD.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})


def takes_memory(x, other):
    # It breaks within `__torch_function__`, whose frames are compiled from now on.
    x[x > 0].mean()
    x.set_(other)
    x.addcmul_(x, x)
    return x.as_subclass(torch.Tensor).sum().item()


class Locks(unittest.TestCase):
    def heard(self, function):
        x, other = torch.ones(4).as_subclass(Hearing), torch.ones(4, 4, requires_grad=True)
        HEARD.clear()
        return function(x, other), list(HEARD)

    def test_hooks_set_under_a_lock(self):
        # A thread that waits for a lock of C's ends by a signal alone.
        signal.alarm(300)
        try:
            plain = self.heard(takes_memory)
            self.assertIn("__set__", plain[1])
            compiled = slotrt.compile(takes_memory)
            for _ in range(3):
                self.assertEqual(self.heard(compiled), plain)
        finally:
            signal.alarm(0)


if __name__ == "__main__":
    unittest.main()
