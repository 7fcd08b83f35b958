"""Aligning and ordering positions, for inputs, targets and decodings alike."""
