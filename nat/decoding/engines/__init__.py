"""Engines other than PyTorch that run a converted model."""

PROJECTION = "projection.npy"
"""The output layer of an encoder in CTranslate2, in the folder of the model."""
