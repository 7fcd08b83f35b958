"""What each Python of the environment does first: refuse a PYTHONPATH with other packages.

`install.py` copies this file to the installed packages, where a file `nat_start.pth` imports it.
Otherwise Snakemake would end with a traceback before anything of this project runs, as it does for
targets after `--config`, and where it cannot write its cache: that gets a place below `.snakemake`.
"""

import os
import sys

OWN = ("Snakefile", "nat")  # in a folder of this project


def other_packages(folders, installed):
    """Yield folders with a module that is also installed or of Python itself, and the module."""
    from pathlib import Path

    known = {path.name.partition(".")[0] for path in Path(installed).iterdir()} | {"nat"}
    known = (known | sys.stdlib_module_names) - {"__pycache__", "bin", ""}
    for folder in map(Path, folders):
        if folder.is_dir() and not all((folder / own).exists() for own in OWN):
            for path in sorted(folder.iterdir()):
                is_code = path.suffix in (".py", ".so") or path.is_dir()
                if is_code and path.name.partition(".")[0] in known:
                    yield folder, path.name.partition(".")[0]


def refused(folder):
    """The error of a file system that takes no file in a folder; None if it does."""
    import tempfile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 14))
    except OSError as error:
        return error
    return None


def misplaced(words):
    """The first word after `--config` that is no KEY=VALUE; None if there is none."""
    in_values = False
    for word in words:
        if in_values and not word.startswith("-") and "=" not in word:
            return word
        in_values = word in ("--config", "-C") or (in_values and not word.startswith("-"))
    return None


def main():
    """Look at the variables of this process, before it imports anything else."""
    if given := os.environ.get("PYTHONPATH"):
        import sysconfig

        folders = filter(None, given.split(os.pathsep))
        for folder, module in other_packages(folders, sysconfig.get_path("purelib")):
            end(
                f"PYTHONPATH names {folder}, whose '{module}' would take the place of that of "
                f"{sys.prefix}; run 'unset PYTHONPATH', or unload what has set it, and run again"
            )
    if any(word.endswith("snakemake") for word in sys.orig_argv[1:4]):
        from pathlib import Path

        own = Path(".snakemake").absolute()
        if not all(own.with_name(name).exists() for name in OWN):
            return
        if word := misplaced(sys.orig_argv):
            end(
                f"--config takes KEY=VALUE, but '{word}' has no '='; targets come before it: "
                f"snakemake {word} --config KEY=VALUE"
            )
        if error := refused(own):
            end(f"cannot write in {own}: {error.strerror}; make room there, or let it be written")
        usual = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        if refused(Path(usual).expanduser() / "snakemake"):
            os.environ["XDG_CACHE_HOME"] = str(own / "cache")


def end(sentence):
    """Say one sentence and end: an exception would be one of Python's own start."""
    os.write(2, f"error: {sentence}\n".encode())
    os._exit(1)


if __name__ == "nat_start":
    main()
