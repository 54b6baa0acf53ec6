"""Images and label masks: encoded bytes in, arrays out, and back; resizing; a decoder for datasets.

Pillow decodes everything, and simplejpeg JPEG where it is installed: ``pip install "tfreel[jpeg]"``.
"""

from tfreel.images.decode import MAX_PIXELS, decode, probe
from tfreel.images.decoder import Decoder, decoder
from tfreel.images.encode import encode, encode_labels
from tfreel.images.headers import ImageInfo
from tfreel.images.labels import VOC_COLORMAP, label_values, labels_from_colors
from tfreel.images.resize import resize

__all__ = [
    "MAX_PIXELS",
    "VOC_COLORMAP",
    "Decoder",
    "ImageInfo",
    "decode",
    "decoder",
    "encode",
    "encode_labels",
    "label_values",
    "labels_from_colors",
    "probe",
    "resize",
]
