"""One file per job. Each has a NAME, a TITLE and `run`, which takes a Bench and gives an Outcome."""

from jobs import (
    count,
    crc32c,
    epochs,
    examples,
    gzip_iterate,
    images,
    imports,
    information,
    iterate,
    leaf,
    pack,
    parse,
    photos,
    random_reads,
    ray,
    remote,
    spark,
    statistics,
    tables,
    write,
    write_large,
)

JOBS = {
    job.NAME: job
    for job in (
        crc32c,
        iterate,
        count,
        write,
        write_large,
        random_reads,
        images,
        gzip_iterate,
        parse,
        examples,
        epochs,
        photos,
        pack,
        leaf,
        statistics,
        remote,
        tables,
        ray,
        spark,
        imports,
        information,
    )
}
