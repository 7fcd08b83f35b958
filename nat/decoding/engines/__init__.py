"""Engines other than PyTorch that run a converted model."""
