"""Where every public name of `tf` comes from. Nothing is imported before it is asked for.

A namespace (`tf.io`, `tf.image`, …) is a module of three lines that looks its names up here. The page of the
docs about compatibility is made of this table too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

# By namespace, by the module in which names are defined; `name=other` is known under another name there.
TABLE: dict[str, dict[str, str]] = {
    "tf": {
        "values.dtypes": (
            "DType as_dtype bool=bool_ complex64 complex128 double=float64 float16 float32 float64"
            " half=float16 int8 int16 int32 int64 string uint8 uint16 uint32 uint64"
        ),
        "values.shapes": "TensorShape TensorSpec",
        "values.versions": "__version__=VERSION",
        "values.specs": "RaggedTensorSpec SparseTensorSpec",
        "values.tensor": "Tensor",
        "values.sparse": "SparseTensor",
        "values.ragged": "RaggedTensor",
        "ops.arrays": (
            "constant ensure_shape eye fill identity linspace meshgrid newaxis one_hot ones ones_like range"
            " rank sequence_mask shape size zeros zeros_like stop_gradient=identity"
        ),
        "ops.conversion": "convert_to_tensor get_static_value is_tensor",
        "ops.casting": "bitcast cast saturate_cast",
        "ops.shaping": (
            "broadcast_to concat expand_dims pad repeat reshape reverse roll split squeeze stack tile"
            " transpose unstack"
        ),
        "ops.selection": (
            "argmax argmin argsort boolean_mask gather gather_nd scatter_nd searchsorted slice=slice_ sort"
            " tensor_scatter_nd_add tensor_scatter_nd_update unique unique_with_counts where"
        ),
        "ops.operators": (
            "abs=absolute add divide equal greater greater_equal less less_equal logical_and logical_not"
            " logical_or maximum minimum multiply negative not_equal pow=power subtract"
        ),
        "ops.math": (
            "acos add_n asin atan atan2 clip_by_value cos cosh cumprod cumsum exp floor matmul round sigmoid"
            " sign sin sinh sqrt square tan tanh truediv truncatediv truncatemod"
        ),
        "ops.linear": "norm tensordot",
        "ops.reductions": (
            "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
        ),
        "ops.calls": "numpy_function py_function",
        "ops.chance": "set_random_seed=set_seed",
        "ops.control": (
            "case cond control_dependencies device function map_fn name_scope switch_case while_loop"
        ),
        "ops.reports": "Assert assert_equal assert_greater assert_less assert_rank print=print_",
        "ops.slicing": "strided_slice",
        "ops.tensors": "make_ndarray make_tensor_proto",
    },
    "tf.data": {
        "data.chunks": "INFINITE_CARDINALITY=INFINITE UNKNOWN_CARDINALITY=UNKNOWN",
        "data.dataset": "AUTOTUNE Dataset Iterator=DatasetIterator",
        "data.options": "Options ThreadingOptions",
        "data.records": "TFRecordDataset",
        "first.iterators": (
            "get_output_shapes get_output_types make_initializable_iterator make_one_shot_iterator"
        ),
        "values.specs": "DatasetSpec",
    },
    "tf.debugging": {
        "ops.reports": (
            "Assert assert_all_finite assert_equal assert_greater assert_greater_equal assert_less"
            " assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive"
            " assert_none_equal assert_positive assert_rank assert_rank_at_least assert_type check_numerics"
            " is_numeric_tensor"
        ),
    },
    "tf.dtypes": {
        "ops.casting": "cast saturate_cast",
        "values.dtypes": (
            "DType as_dtype bool=bool_ complex64 complex128 double=float64 float16 float32 float64"
            " half=float16 int8 int16 int32 int64 string uint8 uint16 uint32 uint64"
        ),
    },
    "tf.gfile": {
        "files.first_names": (
            "Copy DeleteRecursively Exists Glob IsDirectory ListDirectory MakeDirs MkDir Remove Rename Stat"
            " Walk"
        ),
        "files.gfile": "FastGFile GFile Open=GFile",
    },
    "tf.image": {
        "ops.pictures.boxes": "draw_bounding_boxes",
        "ops.pictures.by_chance": (
            "random_brightness random_contrast random_crop random_flip_left_right random_flip_up_down"
            " random_hue random_jpeg_quality random_saturation stateless_random_brightness"
            " stateless_random_contrast stateless_random_crop stateless_random_flip_left_right"
            " stateless_random_flip_up_down stateless_random_hue stateless_random_jpeg_quality"
            " stateless_random_saturation"
        ),
        "ops.pictures.colours": (
            "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation grayscale_to_rgb"
            " hsv_to_rgb per_image_standardization rgb_to_grayscale rgb_to_hsv"
        ),
        "ops.pictures.crops": (
            "central_crop crop_and_resize crop_to_bounding_box pad_to_bounding_box resize_with_crop_or_pad"
            " resize_with_pad resize_image_with_crop_or_pad=resize_with_crop_or_pad"
        ),
        "ops.pictures.decode": (
            "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png"
            " extract_jpeg_shape is_jpeg"
        ),
        "ops.pictures.dtypes": "convert_image_dtype",
        "ops.pictures.encode": "adjust_jpeg_quality encode_jpeg encode_png",
        "ops.pictures.first": (
            "resize_area resize_bicubic resize_bilinear resize_images resize_nearest_neighbor"
        ),
        "ops.pictures.flips": "flip_left_right flip_up_down rot90 transpose transpose_image=transpose",
        "ops.pictures.resize": "ResizeMethod resize",
    },
    "tf.io": {
        "ops.features": "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature",
        "ops.files": "matching_files read_file write_file",
        "ops.parsing": "parse_example parse_single_example",
        "ops.raw": "decode_raw",
        "ops.text": "decode_base64 encode_base64",
        "ops.sequences": "parse_sequence_example parse_single_sequence_example",
        "ops.tensors": "parse_tensor serialize_tensor",
        "ops.pictures.decode": (
            "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png"
            " extract_jpeg_shape is_jpeg"
        ),
        "ops.pictures.encode": "encode_jpeg encode_png",
        "ops.records": "TFRecordOptions TFRecordWriter",
    },
    "tf.io.gfile": {
        "files.folders": "copy exists glob isdir join listdir makedirs mkdir remove rename rmtree stat walk",
        "files.gfile": "GFile",
    },
    "tf.lookup": {
        "ops.tables": (
            "KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex"
            " TextFileInitializer"
        ),
    },
    "tf.nest": {
        "ops.structures": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    },
    "tf.nn": {
        "ops.linear": "l2_normalize moments",
        "ops.math": "relu sigmoid softmax tanh",
        "ops.selection": "top_k",
    },
    "tf.logging": {
        "first.messages": (
            "DEBUG ERROR FATAL INFO WARN debug error fatal get_verbosity info log set_verbosity warn"
            " warning=warn"
        ),
    },
    "tf.math": {
        "ops.math": (
            "acos add_n asin atan atan2 bincount ceil cos cosh cumprod cumsum divide_no_nan exp expm1 floor"
            " floormod is_finite is_inf is_nan log log1p mod=floormod reciprocal rint round rsqrt sigmoid"
            " sign sin sinh softmax sqrt square squared_difference tan tanh truediv"
        ),
        "ops.operators": (
            "abs=absolute add divide equal floordiv greater greater_equal less less_equal logical_and"
            " logical_not logical_or logical_xor maximum minimum multiply negative not_equal pow=power"
            " subtract"
        ),
        "ops.linear": "l2_normalize segment_sum unsorted_segment_sum",
        "ops.reductions": (
            "count_nonzero reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min"
            " reduce_prod reduce_std reduce_sum reduce_variance"
        ),
        "ops.selection": "argmax argmin top_k",
    },
    "tf.python_io": {
        "ops.records": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
    },
    "tf.random": {
        "ops.chance": (
            "categorical normal set_seed shuffle stateless_normal stateless_uniform truncated_normal uniform"
        ),
    },
    "tf.ragged": {
        "ops.ragged_made": "boolean_mask constant range=ragged_range stack",
        "ops.ragged_math": "map_flat_values",
        "values.ragged": "RaggedTensor",
    },
    "tf.sparse": {
        "ops.sparse_parts": (
            "concat expand_dims from_dense reorder reset_shape reshape retain slice=sliced to_dense"
        ),
        "values.sparse": "SparseTensor",
    },
    "tf.strings": {
        "ops.fingerprints": "to_hash_bucket_fast",
        "ops.letters": "unicode_decode unicode_split",
        "ops.numerals": "as_string format=format_ to_number",
        "ops.patterns": "regex_full_match regex_replace",
        "ops.text": "bytes_split join length lower reduce_join split strip substr upper",
    },
    "tf.train": {
        "first.batching": "batch batch_join shuffle_batch shuffle_batch_join",
        "first.coordination": "Coordinator QueueRunner add_queue_runner start_queue_runners",
        "first.producers": (
            "input_producer limit_epochs match_filenames_once range_input_producer slice_input_producer"
            " string_input_producer"
        ),
        "ops.messages": (
            "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List SequenceExample"
        ),
    },
    "tf.compat": {
        "ops.conversion": "dimension_value",
        "ops.plain_text": "as_bytes as_str=as_text as_str_any as_text",
    },
    "tf.version": {"values.versions": "VERSION"},
}

# What old programs find in `tf` itself, and new ones in `tf.compat.v1`.
FIRST: dict[str, str] = {
    "first.feeding": "placeholder placeholder_with_default sparse_placeholder",
    "first.settings": (
        "ConfigProto GPUOptions RunMetadata RunOptions global_variables_initializer group"
        " initialize_all_variables=global_variables_initializer local_variables_initializer no_op"
        " tables_initializer"
    ),
    "graphs.modes": (
        "Graph disable_eager_execution disable_v2_behavior enable_eager_execution enable_v2_behavior"
        " executing_eagerly get_default_graph reset_default_graph"
    ),
    "first.messages": "get_logger",
    "first.queues": "FIFOQueue RandomShuffleQueue",
    "first.readers": "IdentityReader TFRecordReader TextLineReader WholeFileReader",
    "first.results": "SparseTensorValue",
    "first.session": "InteractiveSession Session get_default_session",
    "ops.features": "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature",
    "ops.fingerprints": "string_to_hash_bucket_fast=to_hash_bucket_fast",
    "ops.files": "matching_files read_file write_file",
    "ops.parsing": "parse_example=parse_example_v1 parse_single_example=parse_single_example_v1",
    "ops.sequences": "parse_sequence_example parse_single_sequence_example",
    "ops.sparse_parts": "sparse_tensor_to_dense=to_dense",
    "ops.pictures.by_chance": "random_crop",
    "ops.calls": "py_func=numpy_function",
    "ops.casting": "to_double to_float to_int32 to_int64",
    "ops.chance": (
        "random_normal=normal random_shuffle=shuffle random_uniform=uniform truncated_normal"
        " multinomial=categorical"
    ),
    "ops.math": (
        "ceil div floormod is_finite is_inf is_nan log log1p mod=floormod reciprocal rint rsqrt"
        " squared_difference"
    ),
    "ops.operators": "floordiv logical_xor",
    "ops.reductions": "count_nonzero",
    "ops.reports": (
        "Print=print_v1 assert_greater_equal assert_less_equal assert_negative assert_non_negative"
        " assert_non_positive assert_none_equal assert_positive assert_rank_at_least assert_type"
        " check_numerics"
    ),
    "ops.raw": "decode_raw=decode_raw_v1",
    "ops.numerals": "string_to_number=to_number",
    "ops.tensors": "parse_tensor serialize_tensor",
    "ops.text": "decode_base64 encode_base64 string_join=join string_split string_strip=strip substr",
}

# The namespaces within a namespace, and the modules that they are.
WITHIN: dict[str, dict[str, str]] = {
    "tf": {
        name: f"tfreel.tf.{name}"
        for name in (
            *("compat", "data", "debugging", "dtypes", "errors", "gfile", "image", "io", "logging", "lookup"),
            *("math", "nest", "nn", "python_io", "ragged", "random", "sparse", "strings", "train"),
            "version",
        )
    },
    "tf.compat": {"v1": "tfreel.tf.compat.v1"},
    "tf.data": {"experimental": "tfreel.tf.data.experimental"},
    "tf.io": {"gfile": "tfreel.tf.io.gfile"},
}
for _module, _names in FIRST.items():
    TABLE["tf"][_module] = f"{TABLE['tf'].get(_module, '')} {_names}"
TABLE["tf.compat.v1"] = TABLE["tf"]
TABLE["tf.compat.v1.io"] = (
    TABLE["tf.io"]
    | TABLE["tf.python_io"]
    | {
        "ops.parsing": "parse_example=parse_example_v1 parse_single_example=parse_single_example_v1",
    }
)
TABLE["tf.compat.v1.image"] = TABLE["tf.image"] | {
    "ops.pictures.resize": "ResizeMethod",
    "ops.pictures.first": TABLE["tf.image"]["ops.pictures.first"] + " resize=resize_images",
}
WITHIN["tf.compat.v1"] = WITHIN["tf"] | {
    "image": "tfreel.tf.compat.v1.image",
    "io": "tfreel.tf.compat.v1.io",
}
WITHIN["tf.compat.v1.io"] = WITHIN["tf.io"]


def _origins(namespace: str) -> dict[str, tuple[str, str]]:
    """For each name of a namespace, the module it is defined in, and its name there."""
    found = {}
    for module, names in TABLE[namespace].items():
        for entry in names.split():
            name, _, there = entry.partition("=")
            found[name] = (f"tfreel.tf.{module}", there or name)
    return found


def names_of(namespace: str) -> list[str]:
    """The names in a namespace, those of namespaces within it among them."""
    return sorted([*_origins(namespace), *WITHIN.get(namespace, ())])


def absent(namespace: str, name: str) -> AttributeError:
    """The error for a name that is not there, which says what to do instead."""
    from tfreel.tf.compatibility import explained

    return explained(namespace, name)


def namespace(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a module needs to be a namespace: its ``__getattr__``, ``__dir__`` and ``__all__``.

    Args:
        module: Its name; ``tfreel.tf.io`` is `tf.io`.
    """
    known_as = module.removeprefix("tfreel.")
    origins, within = _origins(known_as), WITHIN.get(known_as, {})
    names = names_of(known_as)

    def find(name: str) -> Any:
        if name in within:
            found: Any = import_module(within[name])
        elif name in origins:
            where, there = origins[name]
            found = getattr(import_module(where), there)
        else:
            raise absent(known_as, name)
        setattr(sys.modules[module], name, found)
        return found

    return find, lambda: names, names
