"""Rows come back as they were written, whatever the file, the type and the place of its shards."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gammaplan.arrays.files import open_rows
from gammaplan.arrays.pairs import open_pair
from gammaplan.arrays.sequences import Sequences

from .files import halves, header, safetensors, saved, tensor

LOGITS = np.random.default_rng(1).normal(0, 3, (37, 50))
TYPES = ["<f8", "<f4", "<f2", ">f8", ">f4", ">f2"]


def read(source, start=0, stop=37, size=7, vocab=50):
    blocks = open_rows(str(source)).blocks(start, stop, size, vocab)
    return np.concatenate([block.copy() for block in blocks])


@pytest.mark.parametrize("dtype", TYPES)
def test_npy_rows_are_what_was_saved(tmp_path, dtype):
    saved(tmp_path, logits=LOGITS.astype(dtype))
    assert_array_equal(read(tmp_path / "logits.npy"), LOGITS.astype(dtype))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_rows_are_what_was_saved(tmp_path, save):
    save(tmp_path / "both.npz", a=LOGITS, b=-LOGITS)
    assert_array_equal(read(f"{tmp_path / 'both.npz'}:b"), -LOGITS)


@pytest.mark.parametrize(("name", "dtype"), [("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2")])
def test_safetensors_rows_are_what_was_saved(tmp_path, name, dtype):
    data = LOGITS.astype(dtype)
    file = tmp_path / "logits.safetensors"
    file.write_bytes(safetensors({"x": tensor(data, name), "__metadata__": {}}, data.tobytes()))
    assert_array_equal(read(file), data)


def test_bfloat16_is_the_upper_half_of_float32(tmp_path):
    file = tmp_path / "logits.safetensors"
    file.write_bytes(safetensors({"x": tensor(halves(LOGITS), "BF16")}, halves(LOGITS).tobytes()))
    cut = (LOGITS.astype("<f4").view("<u4") & 0xFFFF0000).view("<f4")
    assert_array_equal(read(file), cut)


def test_every_half_widens_to_its_value(tmp_path):
    every = np.arange(2**16, dtype="<u2").view("<f2").reshape(64, 1024)
    saved(tmp_path, halves=every)
    rows = open_rows(str(tmp_path / "halves.npy"))
    for i, block in enumerate(rows.blocks(0, 64, 1, 1024)):
        assert_array_equal(block[0], every[i].astype(np.float32))


def test_types_of_two_bytes_without_a_name_are_taken_as_bfloat16(tmp_path):
    (tmp_path / "t.npy").write_bytes(header((37, 50), "<V2") + halves(LOGITS).tobytes())
    pair = open_pair(str(tmp_path / "t.npy"), str(tmp_path / "t.npy"))
    assert pair.guessed == [str(tmp_path / "t.npy")] * 2


def test_shards_follow_the_numbers_in_their_names(tmp_path):
    saved(tmp_path, **{"s-10": LOGITS[20:], "s-2": LOGITS[5:20], "s-1": LOGITS[:5]})
    assert_array_equal(read(tmp_path / "s-*.npy"), LOGITS)


def test_a_span_and_the_first_columns_can_be_read(tmp_path):
    saved(tmp_path, **{"s-1": LOGITS[:5], "s-2": LOGITS[5:].astype("<f4")})
    found = read(tmp_path / "s-*.npy", 3, 30, vocab=48)
    assert_array_equal(found[2:], LOGITS[5:30, :48].astype("<f4"))


def test_target_and_draft_may_lie_in_one_file_and_in_different_shards(tmp_path):
    np.savez(tmp_path / "both.npz", target=LOGITS, draft=LOGITS + 1)
    pair = open_pair(str(tmp_path / "both.npz"), None)
    assert all((draft == target + 1).all() for _, target, draft in pair.blocks())
    saved(tmp_path, **{"t-1": LOGITS[:30], "t-2": LOGITS[30:], "d": LOGITS + 1})
    pair = open_pair(str(tmp_path / "t-*.npy"), str(tmp_path / "d.npy"))
    assert all((draft == target + 1).all() for _, target, draft in pair.blocks())


def test_a_row_is_named_by_its_file_and_its_place_there(tmp_path):
    saved(tmp_path, **{"s-1": LOGITS[:5], "s-2": LOGITS[5:]})
    assert open_rows(str(tmp_path / "s-*.npy")).where(7) == f"{tmp_path / 's-2.npy'}: row 2"


def test_memory_is_that_of_a_block_whatever_the_file(tmp_path):
    saved(tmp_path, long=np.zeros((4000, 500), "<f4"))
    rows = open_rows(str(tmp_path / "long.npy"))
    tracemalloc.start()
    count = sum(len(block) for block in rows.blocks(0, 4000, 10, 500))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 4000
    assert peak < 200_000  # the file has 8,000,000 bytes


@pytest.mark.parametrize("step", [1, 3, 6])
def test_a_sequence_starts_where_the_id_changes(tmp_path, step):
    saved(tmp_path, ids=np.array([7, 7, 8, 8, 8, 7], "<i8"))
    with Sequences(str(tmp_path / "ids.npy"), 6) as ids:
        starts = np.concatenate([ids.starts(min(step, 6 - i)) for i in range(0, 6, step)])
    assert_array_equal(starts, [True, False, True, False, False, True])
