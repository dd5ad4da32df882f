"""`python -m takifugu` is the command line."""

from takifugu.cli import main

if __name__ == "__main__":
    main(prog_name="takifugu")
