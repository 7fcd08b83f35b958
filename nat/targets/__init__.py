"""Proxy targets T: what a model is trained to predict. One method per file."""
