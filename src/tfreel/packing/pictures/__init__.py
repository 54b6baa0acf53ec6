"""Sources of pictures: files in folders, and what sources with objects in them have in common."""
