"""What cannot be read: one sentence with the file, the row and what was required."""

import pickle
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gammaplan.arrays.files import open_rows
from gammaplan.arrays.pairs import open_pair
from gammaplan.arrays.sequences import Sequences
from gammaplan.errors import InputError

from .files import header, safetensors, saved, tensor

LOGITS = np.random.default_rng(1).normal(0, 3, (5, 8))
ENTRY = {"dtype": "F32", "shape": [5, 8], "data_offsets": [0, 160]}


def refused(file, what):
    with pytest.raises(InputError) as caught:
        open_rows(str(file))
    message = str(caught.value)
    assert message.startswith(str(file))
    assert what in message
    assert "\n" not in message


ARRAYS = [
    (LOGITS[0], "must have shape (positions, vocab), got (8,)"),
    (LOGITS[None], "must have shape (positions, vocab), got (1, 5, 8)"),
    (LOGITS[:0], "must have shape (positions, vocab), got (0, 8)"),
    (LOGITS.astype(int), "must hold float64, float32, float16 or bfloat16, got int64"),
    (LOGITS + 0j, "got complex128"),
    (np.asfortranarray(LOGITS), "is stored column by column"),
    (np.zeros(3, "f4,f4"), "holds records of several fields"),
]


@pytest.mark.parametrize(("array", "what"), ARRAYS, ids=[what for _, what in ARRAYS])
def test_an_array_that_is_no_logits_is_refused(tmp_path, array, what):
    saved(tmp_path, x=array)
    refused(tmp_path / "x.npy", what)


def test_a_pickle_in_a_npy_file_is_not_read(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}]), allow_pickle=True)
    refused(tmp_path / "x.npy", "holds Python objects in a pickle, which could run code")


def test_a_bare_pickle_is_not_read(tmp_path):
    (tmp_path / "x.pt").write_bytes(pickle.dumps([1]))
    refused(tmp_path / "x.pt", "is a pickle, which could run code")


BYTES = [
    ("x.npy", b"", "is neither .npy, .npz nor .safetensors"),
    ("x.npy", b"1,2,3", "is neither .npy, .npz nor .safetensors"),
    ("x.npy", header((5, 8))[:40], "header is damaged"),
    ("x.npy", header("__import__('os').getpid()"), "header is damaged"),
    ("x.npy", header("(5, (8))[") + b"x", "header is damaged"),
    ("x.npy", header((10**12, 128_000)) + b"abc", "is cut in row 0: shape"),
    ("x.npy", header((5, 8)) + bytes(100), "takes 160 bytes, and 100 are there"),
    ("x.npy", header((1, 10**12)), "must have at most 16,777,216 columns"),
    ("x.npy", header((-1, 8)), "must have shape (positions, vocab), got (-1, 8)"),
    ("x.npy", header((5, 8), "<q9"), "is not one of numpy's"),
    ("x.npy", b"\x93NUMPY\x02\x00" + b"\xff\xff\xff\x7f", "at most 10,000 bytes"),
    ("x.npy", b"\x93NUMPY\x09\x00" + bytes(20), "must be of version 1 to 3"),
    ("x.npz", b"PK\x03\x04" + bytes(50), "is a damaged or unreadable .npz file"),
    ("x.safetensors", b"ab", "announces a header"),
    ("x.safetensors", safetensors(b"{}", length=2**31), "a header of 2,147,483,648 bytes"),
    ("x.safetensors", safetensors(b"{}", length=2**63), "announces a header"),
    ("x.safetensors", safetensors(b'{"a":'), "safetensors header is damaged"),
    ("x.safetensors", safetensors(b"[" * 100_000), "safetensors header is damaged"),
    ("x.safetensors", safetensors({"a": {"dtype": "F32"}}), "header is damaged"),
    ("x.safetensors", safetensors({"a": ENTRY}, bytes(99)), "bytes 0 to 160 of the data; the"),
    ("x.safetensors", safetensors({"a": ENTRY | {"shape": [9, 8]}}, bytes(160)), "cut in row 5"),
    ("x.safetensors", safetensors({"a": ENTRY | {"dtype": "F8_E4M3"}}, bytes(160)), "got F8_E4M3"),
    ("x.safetensors", safetensors({}), "must hold one array"),
]


@pytest.mark.parametrize(("name", "data", "what"), BYTES, ids=[f"{n} {w}" for n, _, w in BYTES])
def test_a_damaged_file_or_one_that_lies_is_refused(tmp_path, name, data, what):
    (tmp_path / name).write_bytes(data)
    refused(tmp_path / name, what)


def test_a_damaged_member_of_an_npz_is_found_when_it_is_read(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.zeros((50, 5000)))
    data = bytearray((tmp_path / "x.npz").read_bytes())
    data[1_900_000] ^= 255
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(InputError, match=r"x\.npz:a: row \d+ cannot be read: Bad CRC-32"):
        list(open_rows(str(tmp_path / "x.npz")).blocks(0, 50, 1, 5000))


def test_one_of_several_arrays_must_be_named(tmp_path):
    np.savez(tmp_path / "x.npz", a=LOGITS, b=LOGITS)
    refused(tmp_path / "x.npz", "FILE:NAME must choose one; its arrays are a, b")
    with pytest.raises(InputError, match="has no array 'c'; its arrays are a, b"):
        open_rows(f"{tmp_path / 'x.npz'}:c")


@pytest.mark.parametrize("name", ["nowhere.npy", "."])
def test_what_is_no_file_is_refused(tmp_path, name):
    refused(tmp_path / name, "is no file")


PAIRS = [
    (LOGITS[:4], None, "same positions, got 5 rows in {t} and 4 in {d}"),
    (LOGITS[:, :7], None, "got 8 columns in {t} and 7 in {d}; if one is padded, --vocab 7 keeps"),
    (LOGITS[:, :7], 8, "--vocab must be at most 7, the narrower array, got 8"),
]


@pytest.mark.parametrize(("draft", "vocab", "what"), PAIRS, ids=[p[2] for p in PAIRS])
def test_a_pair_that_does_not_fit_names_both(tmp_path, draft, vocab, what):
    t, d = saved(tmp_path, t=LOGITS, d=draft)
    with pytest.raises(InputError) as caught:
        open_pair(t, d, vocab=vocab)
    assert what.format(t=t, d=d) in str(caught.value)


def test_a_padded_vocabulary_is_cut_on_both_sides(tmp_path):
    t, d = saved(tmp_path, t=LOGITS, d=LOGITS[:, :7])
    assert [q.shape for _, _, q in open_pair(t, d, vocab=7).blocks()] == [(5, 7)]


def test_shards_must_have_one_vocabulary(tmp_path):
    saved(tmp_path, **{"s-1": LOGITS, "s-2": LOGITS[:, :7]})
    with pytest.raises(InputError, match=r"must have one vocabulary, got 8 columns in .*s-1"):
        open_rows(str(tmp_path / "s-*.npy"))


IDS = [
    (np.zeros(5), "must hold whole numbers, got float64"),
    (np.zeros(4, int), r"one id for each of the 5 positions, got shape \(4,\)"),
    (np.array(["a"] * 5), "must hold whole numbers, got str"),
]


@pytest.mark.parametrize(("ids", "what"), IDS, ids=[what for _, what in IDS])
def test_sequence_ids_that_do_not_fit_are_refused(tmp_path, ids, what):
    saved(tmp_path, ids=ids)
    with pytest.raises(InputError, match=what):
        Sequences(str(tmp_path / "ids.npy"), 5)


def test_tensor_entries_are_read_where_they_say(tmp_path):
    data = LOGITS.astype("<f4")
    entries = {"b": tensor(data, "F32", 160), "a": tensor(data, "F32")}
    (tmp_path / "x.safetensors").write_bytes(
        safetensors(entries, (data - 1).tobytes() + data.tobytes())
    )
    rows = open_rows(f"{tmp_path / 'x.safetensors'}:b")
    assert (next(rows.blocks(0, 5, 5, 8)) == data).all()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A file of each kind."""
    folder = tmp_path_factory.mktemp("written")
    saved(folder, a=LOGITS)
    np.savez(folder / "b.npz", x=LOGITS)
    np.savez_compressed(folder / "c.npz", x=np.tile(LOGITS, 20))
    data = LOGITS.astype("<f4")
    (folder / "d.safetensors").write_bytes(safetensors({"x": tensor(data, "F32")}, data.tobytes()))
    return sorted(folder.iterdir())


@given(st.data())
@settings(max_examples=300)
def test_whatever_is_damaged_a_file_is_read_or_refused(written, data):
    file = data.draw(st.sampled_from(written))
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    damaged = file.with_name(f"damaged{file.suffix}")
    damaged.write_bytes(content)
    with suppress(InputError):
        rows = open_rows(str(damaged))
        assert sum(len(b) for b in rows.blocks(0, rows.positions, 5, rows.vocab)) == rows.positions
    damaged.unlink()
