"""`python -m takifugu` is the command line."""

from takifugu._work import command


def main() -> None:
    """The command line, which hears requests to end before it loads anything."""
    command(_run)


def _run() -> None:
    from takifugu.cli import main

    main(prog_name="takifugu")


if __name__ == "__main__":
    main()
