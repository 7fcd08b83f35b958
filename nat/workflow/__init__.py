"""The workflow around the library: its programs, its graph and what a run will take."""
