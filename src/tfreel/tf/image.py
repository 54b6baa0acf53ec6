"""`tf.image`: images decoded, encoded, resized, cut and changed; and the names that the first generation had."""

from tfreel.tf.ops.pictures.by_chance import (
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_saturation,
)
from tfreel.tf.ops.pictures.colours import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    grayscale_to_rgb,
    hsv_to_rgb,
    per_image_standardization,
    rgb_to_grayscale,
    rgb_to_hsv,
)
from tfreel.tf.ops.pictures.crops import (
    central_crop,
    crop_and_resize,
    crop_to_bounding_box,
    pad_to_bounding_box,
    resize_with_crop_or_pad,
    resize_with_pad,
)
from tfreel.tf.ops.pictures.decode import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from tfreel.tf.ops.pictures.dtypes import convert_image_dtype
from tfreel.tf.ops.pictures.encode import encode_jpeg, encode_png
from tfreel.tf.ops.pictures.first import (
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_images,
    resize_nearest_neighbor,
)
from tfreel.tf.ops.pictures.flips import flip_left_right, flip_up_down, rot90, transpose
from tfreel.tf.ops.pictures.resize import ResizeMethod, resize

resize_image_with_crop_or_pad = resize_with_crop_or_pad
transpose_image = transpose

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "central_crop",
    "convert_image_dtype",
    "crop_and_resize",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "is_jpeg",
    "pad_to_bounding_box",
    "per_image_standardization",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_saturation",
    "resize",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_crop_or_pad",
    "resize_images",
    "resize_nearest_neighbor",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rot90",
    "transpose",
    "transpose_image",
]
