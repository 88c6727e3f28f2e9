"""`python -m isotropy`: the command line."""

from isotropy.cli import main

if __name__ == "__main__":
    main()
