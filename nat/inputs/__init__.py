"""Proxy inputs Z: what the decoder sees in training. One method per file."""
