"""The operations themselves, by theme; the names under which users know them are in the modules above."""
