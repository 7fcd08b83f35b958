"""Methods that choose the target text of each training pair. One method per file."""
