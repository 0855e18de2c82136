"""What a page is made of: inert text, a policy that allows exactly its own scripts, no clock."""

import hashlib
import json
import re
from base64 import b64encode

import pytest

from gammaplan.report.page.filling import filled
from gammaplan.report.page.inert import bare, lines_of

ATTACK = "</script><!--<script>&\u2028\u2029\ud800"
PARTS = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def policy(page):
    return re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]


def test_no_text_ends_the_data_or_starts_a_tag():
    page = filled({"text": ATTACK})
    data = re.search(r'id="facts">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(data) == {"text": ATTACK}
    assert not set(data) & set("<>&\u2028\u2029")
    assert data.isascii()


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_and_nothing_else():
    page = filled({})
    allowed = policy(page)
    texts = PARTS.findall(page)
    assert [name for name, _ in texts] == ["style", *["script"] * 4]
    hashes = [b64encode(hashlib.sha256(t.encode()).digest()).decode() for _, t in texts]
    assert re.findall(r"'sha256-([^']*)'", allowed) == hashes
    assert allowed.startswith("default-src 'none';")
    assert "unsafe" not in allowed
    assert "http" not in allowed


def test_a_page_names_no_other_place():
    page = filled({})
    assert re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?[^"'#)]+""", page) == []
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}


def test_nothing_in_the_scripts_makes_html_or_code_of_text():
    page = filled({})
    for _, text in PARTS.findall(page):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert not re.search(r"fetch\(|XMLHttp|WebSocket|import\(|localStorage|cookie", text)


def test_a_number_that_json_has_not_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        filled({"x": float("nan")})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/logs/vllm.log", "vllm.log"),
        ("evidence runs/today/fit.json", "evidence fit.json"),
        (r"C:\Users\me\fit.json:3: bad", "fit.json:3: bad"),
        ("name=a,evidence=runs/a.json,c=0.05", "name=a,evidence=a.json,c=0.05"),
        ("~/x and ../y.log and ./z", "x and y.log and z"),
        ("accepted/drafted, 80/20, tokens/s, n/a", "accepted/drafted, 80/20, tokens/s, n/a"),
        ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ("http://host:8000/metrics", "http://host:8000/metrics"),
        ("a / b", "a / b"),
    ],
)
def test_a_file_is_named_without_its_folders(text, shown):
    assert bare(text) == shown


def test_a_known_file_may_hold_spaces():
    assert bare("[/tmp/my logs/a b.log]", ["/tmp/my logs/a b.log"]) == "[a b.log]"


def test_settings_keep_their_lines_and_show_what_a_terminal_would_obey():
    assert lines_of("a\nb\x1b[2J\u202e") == "a\nb\\x1b[2J\\u202e"
