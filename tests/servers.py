"""HTTP servers on loopback that answer as a test says."""

import gzip
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Handler = BaseHTTPRequestHandler
Answer = Callable[[Handler], None]


@contextmanager
def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that gives every GET to `answer`."""

    class One(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.close_connection = True
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that leaves early is no error of the server."""

    server = Quiet(("127.0.0.1", 0), One)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def reply(
    handler: Handler, body: bytes = b"", status: int = 200, *, length: int | None = None,
    **headers: str,
) -> None:  # fmt: skip
    """One answer; `length` is what it claims to have, if that is not the truth."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


def page(body: bytes | str, status: int = 200, **headers: str) -> Answer:
    """A server that always answers the same."""
    data = body.encode() if isinstance(body, str) else body
    return lambda handler: reply(handler, data, status, **headers)


def in_turn(*answers: Answer) -> Answer:
    """A server that answers one way after the other, and then as the last."""
    left = list(answers)

    def answer(handler: Handler) -> None:
        now = left.pop(0) if len(left) > 1 else left[0]
        now(handler)

    return answer


def zipped(body: bytes) -> Answer:
    """A server that compresses."""
    return page(gzip.compress(body), Content_Encoding="gzip")


def chunked(body: bytes, *, whole: bool = True, size: int = 100) -> Answer:
    """A server that sends chunks; it leaves out the last one where the answer is not whole."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for at in range(0, len(body), size):
            part = body[at : at + size]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if whole:
            handler.wfile.write(b"0\r\n\r\n")

    return answer


def needing(value: str, then: Answer) -> Answer:
    """A server that wants one value of Authorization."""

    def answer(handler: Handler) -> None:
        good = handler.headers.get("Authorization") == value
        (then if good else page("no", 401, WWW_Authenticate="Bearer"))(handler)

    return answer
