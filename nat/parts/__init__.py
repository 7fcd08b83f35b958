"""Further parts of the network that a system names."""
