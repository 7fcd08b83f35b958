"""Join the shards of a translated text into one file that is complete and in order."""

from nat.artifacts import Translations
from nat.configuration import Configuration
from nat.jobs.merge import merge_translations
from nat.workflow.program import makes


@makes(Translations)
def main(configuration: Configuration, translations: Translations) -> None:
    """Join the shards of a translated text into one file that is complete and in order."""
    merge_translations(configuration, translations)


if __name__ == "__main__":
    main()
