"""Object stores and other far file systems: URLs in, bytes out, and back.

`store_of` finds the store behind a URL: obstore for the schemes it is made for, fsspec for everything else.
"""
