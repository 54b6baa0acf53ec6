"""The main job before the user's eyes: draw pictures, pack them, prove them intact, learn from them.

The story is told on a `Stage`, which the command line provides; nothing else in the house knows this room.
"""
