"""Proxy targets T: what a model is trained towards. One file, one method."""
