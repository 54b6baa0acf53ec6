"""``python -m tfreel`` is ``tfreel``."""

from tfreel.cli import main

if __name__ == "__main__":
    main()
