"""What the programs of training, translation and latency do, from files to files."""
