"""One page of a server: what it may do, and what is never shown or sent elsewhere."""

import base64
import gc
import gzip
import itertools
import re
import shutil
import socket
import ssl
import subprocess
import time

import pytest

from gammaplan.engines.addresses import Access, shown
from gammaplan.engines.fetch import TooLarge, fetch, open_page
from gammaplan.errors import InputError

from ..servers import chunked, in_turn, needing, page, reply, serving, zipped
from ..support import DATA

BODY = (DATA / "samples" / "vllm" / "metrics_k7.prom").read_bytes()
SECRET = "c2VjcmV0"
QUICK = Access(patience=0.6)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home without a ~/.netrc."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(SECRET + "\n")
    return Access(token_file=str(path), patience=5)


def netrc(home, text, mode=0o600):
    path = home / ".netrc"
    path.write_text(text)
    path.chmod(mode)


def why(url, access=QUICK):
    """Why a page cannot be read: one sentence that names it."""
    with pytest.raises(InputError) as error:
        open_page(url, access)
    text = str(error.value)
    assert text.startswith(shown(url))
    assert "\n" not in text
    return text


@pytest.mark.parametrize("answer", [page(BODY), zipped(BODY), chunked(BODY)])
def test_a_page_is_the_same_however_it_is_sent(answer):
    with serving(answer) as url:
        assert open_page(url + "/metrics").read() == BODY


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (page("x", 401), "asks for credentials (401 Unauthorized); give --bearer-token-file"),
        (page("x", 403), "does not permit it with these credentials (403 Forbidden)"),
        (page("x", 404), "answers 404 Not Found"),
        (page("x", 500), "answers 500 Internal Server Error"),
        (page(b"", 302, Location="/"), "answers 302 and leads nowhere"),
        (page(b"", 302, Location="file:///etc/passwd"), "answers 302 and leads nowhere"),
        (page(b"", 302, Location="ftp://127.0.0.1/x"), "neither http nor https"),
        (page("<!DOCTYPE html><title>x</title>"), "answers with a web page, not with figures"),
        (page("\n <HTML>"), "metrics are usually at /metrics"),
        (page("x", Content_Encoding="br"), "an encoding that was not asked for"),
        (page("no gzip", Content_Encoding="gzip"), "answers with damaged gzip"),
        (lambda handler: handler.wfile.write(b"SSH-2.0\r\n\r\n"), "does not answer as an http"),
        (lambda handler: None, "closed"),
        (lambda handler: time.sleep(2), "did not answer within 0.6 seconds"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_answer_is_told_in_one_sentence(answer, said):
    with serving(answer) as url:
        assert said in why(url)


def test_headers_that_never_end_are_not_waited_for():
    def drip(handler):
        for _ in range(100):
            handler.wfile.write(b"X")
            time.sleep(0.05)

    with serving(drip) as url:
        assert "did not answer within 0.6 seconds" in why(url)


def test_a_body_that_drips_is_read_as_far_as_it_came():
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for i in itertools.count():
            handler.wfile.write(b"line %d\n" % i)
            time.sleep(0.05)

    with serving(drip) as url:
        answer = fetch(url, QUICK)
    assert answer.body.startswith(b"line 0\nline 1\n")
    assert answer.cut == "no more came within 0.6 seconds"


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler: reply(handler, BODY[:3000], length=len(BODY)),
        chunked(BODY[:3000], whole=False),
        page(gzip.compress(BODY)[:300], Content_Encoding="gzip"),
    ],
)
def test_of_a_page_that_is_cut_the_whole_lines_are_read(answer):
    with serving(answer) as url:
        assert fetch(url).cut == "the server closed the connection half-way"
        read = open_page(url).read()
    assert read
    assert BODY.startswith(read)
    assert read.endswith(b"\n")


@pytest.mark.parametrize("answer", [page(bytes(3 * 2**20)), zipped(bytes(3 * 2**20))])
def test_a_page_beyond_the_limit_is_refused_also_unpacked(answer):
    with serving(answer) as url, pytest.raises(TooLarge, match="more than 2 MiB"):
        fetch(url, limit=2 * 2**20)


def test_a_redirect_on_the_same_server_keeps_the_token(token):
    answer = needing(f"Bearer {SECRET}", in_turn(page(b"", 302, Location="/b"), page("ok 1\n")))
    with serving(answer) as url:
        assert open_page(url + "/a", token).read() == b"ok 1\n"


def test_a_redirect_to_another_server_is_refused_with_a_token(token):
    asked = []
    with (
        serving(lambda handler: (asked.append(handler.path), reply(handler, b"x"))) as other,
        serving(page(b"", 307, Location=other + "/metrics?x=1")) as url,
    ):
        said = why(url, token)
    assert f"redirects to {other}/metrics, another server" in said
    assert not asked


def test_a_redirect_to_another_server_is_followed_without_one():
    heads = []
    with (
        serving(
            lambda handler: (heads.append(handler.headers), reply(handler, b"ok 1\n"))
        ) as other,
        serving(page(b"", 302, Location=other)) as url,
    ):
        assert open_page(url).read() == b"ok 1\n"
    assert "Authorization" not in heads[0]


def test_the_login_of_netrc_is_sent_to_its_host(home):
    netrc(home, f"machine 127.0.0.1 login reader password {SECRET}\n")
    basic = base64.b64encode(f"reader:{SECRET}".encode()).decode()
    with serving(needing(f"Basic {basic}", page("ok 1\n"))) as url:
        assert open_page(url).read() == b"ok 1\n"


def test_the_login_of_another_host_is_not_sent(home):
    netrc(home, f"machine example.org login reader password {SECRET}\n")
    with serving(needing("Basic x", page("ok 1\n"))) as url:
        assert "asks for credentials (401 Unauthorized)" in why(url)


def test_a_token_beats_netrc(home, token):
    netrc(home, "machine 127.0.0.1 login reader password other\n")
    with serving(needing(f"Bearer {SECRET}", page("ok 1\n"))) as url:
        assert open_page(url, token).read() == b"ok 1\n"


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("login reader", 0o600, r"; ~/\.netrc is not used, since its line \d cannot be read$"),
        ("login reader password", 0o644, r"others may read it \(chmod 600 ~/\.netrc\)$"),
    ],
)
def test_why_netrc_is_not_used_is_told_where_a_login_is_needed(home, text, mode, said):
    netrc(home, f"machine 127.0.0.1 {text} {SECRET}\n", mode)
    with serving(page("ok 1\n")) as url:
        assert open_page(url).read() == b"ok 1\n"
    with serving(page("x", 401)) as url:
        assert re.search(said, why(url))
        assert SECRET not in why(url)


@pytest.mark.parametrize("text", ["", "two words", "two\nlines", "tab\there", "größe"])
def test_a_token_file_without_one_token_is_refused_without_showing_it(tmp_path, text):
    path = tmp_path / "bad"
    path.write_text(text)
    with pytest.raises(InputError, match="must hold one token on one line") as error:
        open_page("http://127.0.0.1:1/", Access(token_file=str(path)))
    assert not text or text not in str(error.value)


def test_a_refused_token_is_named_by_its_file(token):
    with serving(needing("Bearer other", page("x"))) as url:
        said = why(url, token)
    assert f"does not accept the token in {token.token_file} (401 Unauthorized)" in said
    assert SECRET not in said


@pytest.mark.parametrize("access", [Access(token_file="/nowhere"), Access(ca_file="/nowhere")])
def test_a_file_that_is_not_there_is_named_with_its_option(access):
    with pytest.raises(InputError, match=r"^--(bearer-token|ca)-file /nowhere: cannot be read"):
        open_page("http://127.0.0.1:1/", access)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host/x", "must be an http or https address"),
        ("file:///etc/passwd", "must be an http or https address"),
        ("http://", "names no host"),
        ("http://[::1/", "the host or the port is wrong"),
        ("http://host:port/", "the host or the port is wrong"),
        ("http://host/a b", "write other characters as %XX"),
        ("http://host/γ", "write other characters as %XX"),
        ("http://host/\r\nX: y", "write other characters as %XX"),
        ("http://127.0.0.1:1/metrics?token=x", "cannot be reached: Connection refused"),
        ("http://nowhere.invalid/", "cannot be reached"),
    ],
)
def test_an_address_that_cannot_be_asked(url, said):
    with pytest.raises(InputError) as error:
        open_page(url, Access(patience=5))
    assert said in str(error.value)
    assert "token=x" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:secret@host:8000/metrics",
        "http://secret@host:8000/metrics",
        "http://user:sec/ret@host:8000/metrics",
        "http://host:8000/metrics?token=secret",
        "http://host:8000/metrics#secret",
        "http://user:s?secret@host:8000/metrics",
    ],
)
def test_nothing_secret_of_an_address_is_shown(url):
    assert shown(url) == "http://host:8000/metrics"


def test_credentials_in_an_address_are_refused():
    said = why("http://user:secret@127.0.0.1:1/metrics")
    assert "put them into ~/.netrc" in said
    assert "secret" not in said


def test_a_proxy_of_the_environment_is_taken(monkeypatch):
    with serving(page(BODY)) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        assert fetch("http://figures.invalid/metrics", QUICK).body == BODY


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("http://u:secret@127.0.0.1:9", "cannot be reached through the proxy http://127.0.0.1:9: "),
        ("127.0.0.1:port", "through the proxy 127.0.0.1:port: its host or its port is wrong"),
        (None, "501 Unsupported method"),
    ],
)
def test_a_proxy_that_fails_is_named_without_its_password(monkeypatch, proxy, said):
    with serving(page(BODY)) as server:
        monkeypatch.setenv("https_proxy", proxy or server)
        with pytest.raises(InputError) as told:
            fetch("https://figures.invalid/metrics", QUICK)
    assert "through the proxy" in str(told.value)
    assert said in str(told.value)
    assert "secret" not in str(told.value)


def test_what_a_proxy_refuses_is_not_left_open(monkeypatch):
    """The http.client of Python 3.11.2 keeps the answer open with the error; 3.11.7 does not."""
    with serving(page(BODY)) as server:
        monkeypatch.setenv("https_proxy", server)
        before = {id(s) for s in gc.get_objects() if isinstance(s, socket.socket)}
        with pytest.raises(InputError) as told:
            fetch("https://figures.invalid/metrics", QUICK)
        found = [s for s in gc.get_objects() if isinstance(s, socket.socket)]
        left = [s for s in found if id(s) not in before and s.fileno() >= 0 and s.proto]
    assert "501" in str(told.value)  # its traceback holds what the download held
    assert left == []


def test_a_host_that_needs_no_proxy_is_asked_itself(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(page(BODY)) as server:
        assert fetch(server, QUICK).body == BODY


def test_https_needs_a_certificate_of_a_known_authority(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key),
         "-out", str(cert), "-days", "1", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    with serving(page("ok 1\n"), context) as url:
        assert "its certificate cannot be verified" in why(url, Access(patience=5))
        assert open_page(url, Access(ca_file=str(cert))).read() == b"ok 1\n"
    with pytest.raises(InputError, match="it holds no certificates"):
        open_page("https://127.0.0.1:1/", Access(ca_file=str(key)))
