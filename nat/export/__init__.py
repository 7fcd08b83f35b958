"""Trained models in the formats of other programs."""
