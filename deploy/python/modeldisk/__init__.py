"""Trains PyTorch networks through models that modeldisk has mounted. `from modeldisk import Learner, save` imports PyTorch."""

__all__ = ["Learner", "save"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import modeldisk_torch

    return getattr(modeldisk_torch, name)
