"""``python -m tfreel.cli`` is ``tfreel``."""

from tfreel.cli import main

main()
