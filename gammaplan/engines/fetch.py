"""One page of a server over http or https: bounded in time and size, and nothing secret shown.

Credentials come from a file (a bearer token) or from ~/.netrc, never from the
address. They go to the server that was named and to no other.
"""

import http.client
import io
import ssl
import zlib
from base64 import b64encode
from dataclasses import dataclass, field
from netrc import NetrcParseError, netrc
from pathlib import Path
from threading import Thread
from traceback import clear_frames
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit

from gammaplan import __version__
from gammaplan.engines.addresses import OPEN, Access, shown
from gammaplan.engines.lines import damaged_stream, named
from gammaplan.errors import InputError

LARGEST_PAGE = 64 * 2**20  # bytes, decompressed
LARGEST_SECRET = 65_536
_CHUNK = 2**16
_PORTS = {"http": 80, "https": 443}


class TooLarge(InputError):
    """An answer beyond the limit."""


@dataclass(slots=True)
class Answer:
    """What a server sent: `cut` says why the body ended early, where it did."""

    status: int = 0
    reason: str = ""
    body: bytearray = field(default_factory=bytearray)
    cut: str | None = None
    error: Exception | None = None


def fetch(url: str, access: Access = OPEN, *, limit: int = LARGEST_PAGE) -> Answer:
    """What a server answers to one GET, whatever its status; part of a body that was cut.

    The whole of it, name resolution and handshake included, ends after
    `access.patience` seconds.

    Raises
    ------
    InputError
        If the address is no http or https URL, a credential cannot be read, the
        server cannot be reached, or it redirects credentials to another server.
    TooLarge
        If the body is larger than `limit` bytes.
    """
    target = _checked(url)
    secret = _credentials(target, access)
    asked = request.Request(url, headers={"Accept": "*/*", "Accept-Encoding": "gzip"})
    asked.add_header("User-Agent", f"gammaplan/{__version__}")
    if secret:
        asked.add_unredirected_header("Authorization", secret)
    answer = Answer()
    opener = _opener(access, secret)
    worker = Thread(
        target=_download, args=(opener, asked, access.patience, limit, answer), daemon=True
    )
    worker.start()
    worker.join(access.patience)
    way = _way(target)
    late = f"no more came within {access.patience:g} seconds"
    if worker.is_alive():
        if not answer.body:
            late = f"did not answer{way} within {access.patience:g} seconds"
            raise InputError(f"{named(url)}: {late}")
        return Answer(answer.status, answer.reason, bytearray(bytes(answer.body)), late)
    if isinstance(answer.error, TooLarge):
        raise TooLarge(f"{named(url)}: {answer.error}")
    if answer.error and not answer.body:
        raise InputError(f"{named(url)}: {_why(answer.error, access, way)}") from None
    if answer.error:
        timed_out = isinstance(answer.error, TimeoutError)
        answer.cut = late if timed_out else "the server closed the connection half-way"
    return answer


def open_page(url: str, access: Access = OPEN) -> io.BufferedReader:
    """The page at a URL as a stream, like a file; it ends with damage where the server cut it.

    Raises
    ------
    InputError
        As `fetch`; and if the server refuses, fails or answers with a web page.
    """
    answer = fetch(url, access)
    if answer.status != 200:
        raise InputError(f"{named(url)}: {refusal(answer, access)}")
    start = bytes(answer.body[:512]).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        hint = "" if urlsplit(url).path.strip("/") else "; metrics are usually at /metrics"
        raise InputError(f"{named(url)}: answers with a web page, not with figures{hint}")
    return damaged_stream(bytes(answer.body), answer.cut)


def refusal(answer: Answer, access: Access) -> str:
    """What a status other than 200 means to the user."""
    status = f"{answer.status} {answer.reason}".strip()
    if answer.status == 401:
        if access.token_file:
            return f"does not accept the token in {access.token_file} ({status})"
        return (
            f"asks for credentials ({status}); give --bearer-token-file, or put a login that it "
            f"accepts into ~/.netrc{_netrc_trouble()}"
        )
    if answer.status == 403:
        return f"does not permit it with these credentials ({status})"
    return f"answers {status}"


def _checked(url: str) -> SplitResult:
    """The parts of an address that may be asked."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError(f"{named(url)}: is no address: the host or the port is wrong") from None
    if parts.scheme not in _PORTS:
        raise InputError(f"{named(url)}: must be an http or https address")
    if not host:
        raise InputError(f"{named(url)}: is no address: it names no host")
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"{named(url)}: credentials in an address can be read by everybody on this machine; "
            "put them into ~/.netrc, or a token into a file for --bearer-token-file"
        )
    if not url.isascii() or any(c <= " " or c == "\x7f" for c in url):
        raise InputError(f"{named(url)}: is no address: write other characters as %XX")
    return parts


def _credentials(target: SplitResult, access: Access) -> str | None:
    """The value of the Authorization header: the token of the file, else the login of ~/.netrc."""
    if access.token_file is not None:
        return f"Bearer {_token(access.token_file)}"
    try:
        login = netrc().authenticators(target.hostname or "")
    except (OSError, RuntimeError, UnicodeDecodeError, NetrcParseError):
        return None  # a server that asks for a login is told why there is none
    if not login or not (login[0] or login[2]):
        return None
    return "Basic " + b64encode(f"{login[0]}:{login[2] or ''}".encode()).decode()


def _netrc_trouble() -> str:
    """Why ~/.netrc cannot be used, in words without any of it; nothing where it can."""
    try:
        netrc()
    except FileNotFoundError:
        return ""
    except NetrcParseError as error:  # its own text may hold a password
        if "permissive" in error.msg or "owner" in error.msg:
            return "; ~/.netrc is not used, since others may read it (chmod 600 ~/.netrc)"
        return f"; ~/.netrc is not used, since its line {error.lineno or 1} cannot be read"
    except (OSError, RuntimeError, UnicodeDecodeError):
        return "; ~/.netrc cannot be read"
    return ""


def _token(path: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            token = stream.read(LARGEST_SECRET).strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file"
        raise InputError(f"--bearer-token-file {path}: cannot be read: {reason}") from None
    if not token or not all(0x21 <= byte < 0x7F for byte in token):
        raise InputError(f"--bearer-token-file {path}: must hold one token on one line")
    return token.decode()


class _SameServer(request.HTTPRedirectHandler):
    """Redirects; credentials go along to the same server, and nowhere else."""

    def __init__(self, secret: str | None) -> None:
        self._secret = secret

    def redirect_request(self, req: Any, *args: Any) -> request.Request | None:  # Any: urllib's
        new = super().redirect_request(req, *args)
        args[0].close()  # its body is not read, however long it is
        if new is not None and new.type not in _PORTS:
            raise InputError("redirects to an address that is neither http nor https")
        if new is not None and self._secret:
            if not _same_server(urlsplit(req.full_url), urlsplit(new.full_url)):
                raise InputError(
                    f"redirects to {named(new.full_url)}, another server, which must not get the "
                    "credentials; name that address itself"
                )
            new.add_unredirected_header("Authorization", self._secret)
        return new


def _same_server(a: SplitResult, b: SplitResult) -> bool:
    """Whether host and port are the same, or https takes the place of http on one host."""
    if a.hostname != b.hostname:
        return False
    ports = [p.port or _PORTS.get(p.scheme) for p in (a, b)]
    upgraded = (a.scheme, b.scheme) == ("http", "https") and ports[1] == _PORTS["https"]
    return upgraded or (a.scheme == b.scheme and ports[0] == ports[1])


def _opener(access: Access, secret: str | None) -> request.OpenerDirector:
    """An opener for http and https only; proxies are those of the environment."""
    opener = request.OpenerDirector()
    context = None  # the system's authorities
    try:
        if access.ca_file is not None:
            context = ssl.create_default_context(cafile=access.ca_file)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        bad = isinstance(error, ssl.SSLError)
        reason = "it holds no certificates" if bad else getattr(error, "strerror", "") or "no file"
        raise InputError(f"--ca-file {access.ca_file}: cannot be read: {reason}") from None
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(context=context),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        _SameServer(secret),
    ):
        opener.add_handler(handler)
    return opener


def _download(
    opener: request.OpenerDirector,
    asked: request.Request,
    patience: float,
    limit: int,
    answer: Answer,
) -> None:
    """Fill `answer` from the network; whatever goes wrong is left in it."""
    response: Any  # as urllib has it
    try:
        try:
            response = opener.open(asked, timeout=patience)
            answer.status, answer.reason = response.status, response.reason
        except HTTPError as error:
            response = error  # it is the answer too
            answer.status, answer.reason = error.code, str(error.reason)[:80]
            if 300 <= error.code < 400:
                answer.reason = "and leads nowhere"
                error.close()
                return
        with response:
            _read_body(response, limit, answer)
    except Exception as error:  # the caller's thread tells of it
        _let_go(error)
        answer.error = error


def _let_go(error: BaseException | None) -> None:
    """Close what failed calls hold: Python 3.11.2 leaves the answer of a refusing proxy open."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__context__


def _read_body(response: Any, limit: int, answer: Answer) -> None:  # Any: as urllib has it
    headers = response.headers
    encoding = headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", ""):
        raise InputError("answers in an encoding that was not asked for")
    inflate = zlib.decompressobj(wbits=31) if "gzip" in encoding else None
    length, received = headers.get("Content-Length", ""), 0
    while data := response.read1(_CHUNK):
        received += len(data)
        while data:
            plain = inflate.decompress(data, _CHUNK * 16) if inflate else data
            data = inflate.unconsumed_tail if inflate else b""
            answer.body += plain
            if len(answer.body) > limit:
                raise TooLarge(f"answers with more than {limit // 2**20} MiB")
    chunked = headers.get("Transfer-Encoding", "").lower() == "chunked"
    short = length.isdecimal() and not chunked and received < int(length)
    if short or (inflate and not inflate.eof and received):
        raise http.client.IncompleteRead(b"")


def _way(target: SplitResult) -> str:
    """The proxy of the environment that a request takes, in words; nothing where it takes none."""
    proxy = request.getproxies().get(target.scheme)
    if not proxy or request.proxy_bypass(target.netloc):
        return ""
    return f" through the proxy {shown(proxy)}"


def _why(error: Exception, access: Access, way: str) -> str:
    """What kept a server from answering."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, InputError):
        return str(reason)
    if isinstance(reason, TimeoutError):
        return f"did not answer{way} within {access.patience:g} seconds"
    if isinstance(reason, ssl.SSLCertVerificationError):
        detail = reason.verify_message
        return f"its certificate cannot be verified ({detail}); --ca-file names its authority"
    if isinstance(reason, ssl.SSLError):
        return f"the secure connection failed ({(reason.reason or 'no TLS').lower()})"
    if isinstance(reason, OSError) and reason.strerror:
        return f"cannot be reached{way}: {reason.strerror}"
    if isinstance(reason, http.client.InvalidURL):
        return f"cannot be reached{way}: its host or its port is wrong"
    if way and type(reason) is OSError:  # the proxy does not open a tunnel
        return f"cannot be reached{way}: {str(reason)[:80]}"
    if isinstance(reason, ConnectionError | http.client.IncompleteRead):
        return f"closed the connection{way} without an answer"
    if isinstance(reason, zlib.error):
        return "answers with damaged gzip"
    return f"does not answer{way} as an http server does"
