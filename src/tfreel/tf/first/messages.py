"""`tf.logging`: messages for people, by way of Python's own `logging`."""

from __future__ import annotations

import logging
import sys
from typing import Any

DEBUG, INFO, WARN, ERROR, FATAL = (
    logging.DEBUG,
    logging.INFO,
    logging.WARNING,
    logging.ERROR,
    logging.CRITICAL,
)


def get_logger() -> logging.Logger:
    """The logger that messages go through; it writes to stderr, unless the program says where to."""
    logger = logging.getLogger("tfreel.tf")
    if not logger.hasHandlers():
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
    return logger


def set_verbosity(v: int) -> None:
    """Sets which messages are written: those of this level, and graver ones."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The level from which on messages are written."""
    return get_logger().getEffectiveLevel()


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Writes a message of a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Writes a message for those who look for faults."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Writes a message about how things go."""
    get_logger().info(msg, *args, **kwargs)


def warn(msg: str, *args: Any, **kwargs: Any) -> None:
    """Writes a warning."""
    get_logger().warning(msg, *args, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Writes a message about something that failed."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Writes a message about something after which nothing is left to do."""
    get_logger().critical(msg, *args, **kwargs)
