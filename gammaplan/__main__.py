"""`python -m gammaplan`: the same as the `gammaplan` command."""

from gammaplan.cli.app import main

if __name__ == "__main__":
    main()
