"""Where bytes are: names in, ordered files out; and new files that appear only when they are whole.

Nothing in this room knows what a record is.
"""
