"""`python -m tapeline` is the command."""

from tapeline.cli.main import main

if __name__ == "__main__":
    main()
