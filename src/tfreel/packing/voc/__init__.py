"""Pascal VOC: boxes from annotations, or masks of class ids."""
