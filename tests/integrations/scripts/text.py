"""tf.strings and text pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integrations.scripts.results import raised


def split_text(tf: Any, folder: Path) -> Any:
    return (
        tf.strings.split("a b  c"),
        tf.strings.split(["a b", "", "c"]),
        tf.strings.split("a,b,,c", ","),
        tf.strings.split("a, b", sep=", "),
        tf.strings.split("a b c", maxsplit=1),
        tf.strings.split("/x/cats/1.jpg", "/")[-2],
    )


def joined_text(tf: Any, folder: Path) -> Any:
    return (
        tf.strings.join(["a", "b"], separator="-"),
        tf.strings.join([["a", "b"], ["c", "d"]]),
        tf.strings.reduce_join(["a", "b"], separator=" "),
        tf.constant("a") + "b",
        tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1),
    )


def text_to_numbers(tf: Any, folder: Path) -> Any:
    number = tf.strings.to_number
    return (
        number("1.5"),
        number(["1", "-2e3"], tf.float64),
        number("42", out_type=tf.int64),
        number(["7"], tf.int32),
        raised(tf, lambda: number("x")),
        raised(tf, lambda: number("1.5", tf.int32)),
    )


def numbers_to_text(tf: Any, folder: Path) -> Any:
    text = tf.strings.as_string
    return text(5), text([True, False]), text(tf.constant([1, 2], tf.int64)), text(3, width=5, fill="0")


def lower_upper_strip(tf: Any, folder: Path) -> Any:
    return tf.strings.lower(["AbC"]), tf.strings.upper("abC"), tf.strings.strip(["  a b \n", "c"])


def lengths_and_parts(tf: Any, folder: Path) -> Any:
    words = ["hello", "", "grüße"]
    return (
        tf.strings.length(words),
        tf.strings.length(words, unit="UTF8_CHAR"),
        tf.strings.substr("hello", 1, 3),
        tf.strings.substr(["hello", "world"], -3, 2),
        tf.strings.bytes_split("abc"),
        raised(tf, lambda: tf.strings.substr("abc", 5, 1)),
    )


def regular_expressions(tf: Any, folder: Path) -> Any:
    return (
        tf.strings.regex_replace(["a1b22", "c"], r"[0-9]+", "#"),
        tf.strings.regex_replace("aaa", "a", "b", replace_global=False),
        tf.strings.regex_full_match(["cat.1.jpg", "dog"], r"cat\..*"),
        tf.strings.regex_replace("/x/y/cat.jpg", r".*/(\w+)\.jpg", r"\1"),
    )


def compared_text(tf: Any, folder: Path) -> Any:
    words = tf.constant(["a", "b", "a"])
    return (
        words == "a",
        tf.equal(words, b"a"),
        words != "b",
        tf.reduce_any(words == "z"),
        tf.not_equal(words, "a"),
    )


def labels_looked_up(tf: Any, folder: Path) -> Any:
    keys = tf.constant(["cat", "dog"])
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.constant([0, 1], tf.int64)), default_value=-1
    )
    return table.lookup(tf.constant(["dog", "cow", "cat"])), table.size()


def a_bag_of_words_pipeline(tf: Any, folder: Path) -> Any:
    ds = tf.data.Dataset.from_tensor_slices(["The cat sat", "A dog", "The end of it"])
    ds = ds.map(lambda s: tf.strings.split(tf.strings.lower(s)))
    return ds, ds.padded_batch(2, padding_values="<pad>"), ds.map(lambda words: tf.size(words))
