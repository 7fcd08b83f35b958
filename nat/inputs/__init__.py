"""Proxy inputs Z: what the decoder sees in training. One file, one method."""
