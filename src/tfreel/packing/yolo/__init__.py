"""YOLO: boxes from text files beside the pictures."""
