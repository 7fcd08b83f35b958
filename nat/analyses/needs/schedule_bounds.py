"""What the analysis `schedule_bounds` reads instead of a model."""

from nat.analyses.needs import known_law

READS_MODEL = False

reads = known_law.reads
