"""Items by a value, for splits that keep groups together or classes in proportion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfreel.dataset.group_by import Groups
from tfreel.packing.labels import labelling
from tfreel.packing.layout import Grouping
from tfreel.packing.naming import require_feature
from tfreel.packing.source import Listing, Source
from tfreel.packing.stored import Stored
from tfreel.storage.paths import display


def check_grouping(source: Source, stratify: str | None, group: str | None) -> None:
    """Refuses what can only fail, before anything is read for it.

    Raises:
        ValueError: Both were asked for; or groups by a feature that is not there, by names where there are
            none, or by what is no pattern.
    """
    if stratify is not None and group is not None:
        raise ValueError("a split is stratified or grouped, not both")
    if group is not None and group.startswith("regex:"):
        labelling(group, [])
        if not isinstance(source, Listing) or not source.items:
            raise ValueError(
                'group="regex:…" goes by the names of items, and these have none; name a feature'
            )
        return
    feature = group if stratify in (None, "label", source.label) else stratify
    known = source.feature_names()
    if feature is not None and known is not None:
        name = source.naming.name
        require_feature(name(feature), map(name, known))


def grouping(listing: Listing, stratify: str | None, group: str | None) -> Grouping | None:
    """How the items are grouped, if that was asked for.

    Raises:
        ValueError: There is no such feature, or there are no classes.
    """
    if group is not None:
        return Grouping(_groups(listing, group), together=True)
    if stratify is None:
        return None
    feature = (listing.label or stratify) if stratify == "label" else stratify
    # Of records that were there before, nobody knows the classes, but their numbers are in them.
    if stratify not in ("label", listing.label) or (isinstance(listing, Stored) and not listing.classes):
        return Grouping(_of_feature(listing, feature), together=False)
    return Grouping(_of_values(_classes(listing)), together=False)


def _classes(listing: Listing) -> list[str]:
    """The class of each item, which must have one at the most."""
    found = [listing.class_names(index) for index in range(listing.count)]
    if not any(found):
        raise ValueError("there are no classes to stratify by")
    if any(len(set(names)) > 1 for names in found):
        raise ValueError("there are items with several classes: none of them to stratify by")
    return [names[0] if names else "" for names in found]


def _groups(listing: Listing, group: str) -> Groups:
    if not group.startswith("regex:"):
        return _of_feature(listing, group)
    group_of = labelling(group, [])
    found = [group_of(item.name) for item in listing.items]
    for item, label in zip(listing.items, found, strict=True):
        if label.name is None:
            raise ValueError(f"{display(item.name)}: {label.problem}")
    return _of_values([label.name or "" for label in found])


def _of_feature(listing: Listing, feature: str) -> Groups:
    if not isinstance(listing, Stored):
        raise TypeError("only records can be grouped by a feature")
    return listing.groups(listing.naming.name(feature))


def _of_values(values: Sequence[str]) -> Groups:
    names, codes = np.unique(np.array(values, object).astype(str), return_inverse=True)
    return Groups([name.encode() for name in names.tolist()], codes.ravel().astype(np.int64))
