"""COCO: boxes and masks of objects from JSON files."""
