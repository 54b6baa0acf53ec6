"""Who the viewer answers, and what it never says: other pages, other names, other users, hostile records."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import tfreel
from tfreel.viewer.keys import Keys

from viewing import SCRIPT, SVG, Visitor, scene, visit


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    path = tmp_path_factory.mktemp("secret-folder") / "scenes.tfrecord"
    with tfreel.Writer(path) as out:
        for i in range(5):
            out.write(scene(i))
    visitor = visit(path)
    yield visitor
    visitor.viewer.stop()


def stranger(visitor: Visitor) -> Visitor:
    return Visitor(visitor.viewer)


# Requests that are refused ----------------------------------------------------------------------------------

# Without the secret: nothing at all, whatever the address is.
NO_SECRET = [
    "/",
    "/?token=",
    "/?token=guess",
    "/?token=" + "A" * 43,
    "/?token=a&token=b",
    "/?token=%00%ff",
    "/api/overview",
    "/api/overview?token=guess",
    "/api/records",
    "/api/records/0",
    "/api/records/0/features/name",
    "/api/records/0/thumbnail?feature=image%2Fencoded",
    "/api/scan",
    "/api/queries?where=label=1",
    "/static/main.js",
    "/static/style.css",
    "/frame/guess/",
    "/frame/guess/api/overview",
    "/frame//api/overview",
    "/nothing",
]


@pytest.mark.parametrize("target", NO_SECRET)
def test_strangers_are_refused(visitor: Visitor, target: str) -> None:
    answer = stranger(visitor).ask(target)
    assert answer.status == 403
    assert b"scenes" not in answer.body


@pytest.mark.parametrize(
    "cookie", ["", "x", "tfreel-{port}=", "tfreel-{port}=guess", "tfreel-1={value}", "={value}"]
)
def test_other_cookies_open_nothing(visitor: Visitor, cookie: str) -> None:
    assert visitor.cookie is not None
    value = visitor.cookie.partition("=")[2]
    headers = {"Cookie": cookie.format(port=visitor.port, value=value)}
    assert stranger(visitor).ask("/api/overview", headers=headers).status == 403


def fetched(site: str, mode: str, dest: str) -> dict[str, str]:
    """What a browser says about where a request comes from, and what it is for."""
    return {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}


# With the secret, which a browser sends along: still nothing for other pages, hosts and methods.
ATTACKS = {
    "another host": {"Host": "evil.example"},
    "another host that begins like ours": {"Host": "127.0.0.1.evil.example"},
    "another host that ends like ours": {"Host": "evil-localhost"},
    "a name that means this machine": {"Host": "localtest.me:{port}"},
    "an empty host": {"Host": ""},
    "a host with a user": {"Host": "localhost@evil.example"},
    "a host with a path": {"Host": "localhost/evil"},
    "another address": {"Host": "192.168.0.1"},
    "the address of all": {"Host": "0.0.0.0:{port}"},
    "an origin elsewhere": {"Origin": "http://evil.example"},
    "an origin on another port": {"Origin": "http://127.0.0.1:1"},
    "an origin of another kind": {"Origin": "https://127.0.0.1:{port}"},
    "an origin that is none": {"Origin": "null"},
    "an origin of a file": {"Origin": "file://"},
    "a script of another site": fetched("cross-site", "cors", "empty"),
    "an image of another site": fetched("cross-site", "no-cors", "image"),
    "a page of the same site": fetched("same-site", "cors", "empty"),
    "a visit from another site": fetched("cross-site", "navigate", "document"),
    "a frame on another site": fetched("cross-site", "navigate", "iframe"),
    "an unknown site": {"Sec-Fetch-Site": "?"},
}


@pytest.mark.parametrize("target", ["/", "/api/overview", "/api/records/0/features/name"])
@pytest.mark.parametrize("name", ATTACKS)
def test_requests_of_others_are_refused_although_they_have_the_cookie(
    visitor: Visitor, name: str, target: str
) -> None:
    headers = {key: value.format(port=visitor.port) for key, value in ATTACKS[name].items()}
    answer = visitor.ask(target, headers=headers)
    assert answer.status == 403
    assert b"scenes" not in answer.body
    assert b"Scene" not in answer.body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_only_questions_are_taken(visitor: Visitor, method: str) -> None:
    answer = visitor.ask("/api/scan", method=method)
    assert answer.status in (400, 405)
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_body_is_refused(visitor: Visitor) -> None:
    assert visitor.ask("/api/overview", headers={"Content-Length": "3"}, body=b"abc").status == 400
    chunked = {"Transfer-Encoding": "chunked"}
    assert visitor.ask("/api/overview", headers=chunked, body=b"0\r\n\r\n").status == 400


def test_an_endless_address_is_refused(visitor: Visitor) -> None:
    assert visitor.ask("/api/queries?where=" + "x" * 9000).status == 414
    assert visitor.ask("/" + "x" * 60_000).status in (400, 414)


@pytest.mark.parametrize(
    "target",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/server.py",
        "/static/....//server.py",
        "/static/%00",
        "/static//etc/passwd",
        "/static/main.js/../../server.py",
        "//etc/passwd",
        "/..%5c..%5cetc%5cpasswd",
        "/api/records/../../../../etc/passwd",
        "/api/records/0/features/..%2f..%2fetc%2fpasswd",
        "/api/records/-1",
        "/api/records/0x10",
        "/api/queries/..%2f..%2fscan/x",
        "/api/records/1e3",
        "/file:///etc/passwd",
    ],
)
def test_no_address_becomes_a_path(visitor: Visitor, target: str) -> None:
    answer = visitor.ask(target)
    assert answer.status in (400, 404)
    assert b"root:" not in answer.body
    assert b"import" not in answer.body


@pytest.mark.parametrize(
    "query",
    [
        {"where": "__import__('os')"},
        {"where": "label.__class__ == 1"},
        {"where": "(" * 500},
        {"where": "not " * 500 + "label = 1"},
        {"where": "x" * 5000},
        {"search": "x" * 5000},
        {"sort": "nothing"},
        {"file": "99"},
        {"file": "-1"},
        {"split": "../../etc"},
    ],
)
def test_questions_that_try_too_much_are_refused(visitor: Visitor, query: dict[str, str]) -> None:
    assert visitor.get("queries", **query).status == 400


@pytest.mark.parametrize(
    "parameters",
    [{"size": "999999"}, {"size": "-1"}, {"value": "7"}, {"step": "0"}, {"feature": "../../etc/passwd"}],
)
def test_thumbnails_of_nothing_are_refused(visitor: Visitor, parameters: dict[str, str]) -> None:
    asked = {"feature": "image/encoded", **parameters}
    assert visitor.get("records/0/thumbnail", **asked).status in (400, 404)


def test_a_websocket_is_refused(visitor: Visitor) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    assert stranger(visitor).ask("/", headers=headers).status == 403


@pytest.mark.parametrize(
    "request_text",
    [
        "GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.example\r\nHost: {host}\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : {host}\r\n\r\n",
        "GET /\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: {host}\r\nX: " + "a" * 70_000 + "\r\n\r\n",
    ],
)
def test_malformed_requests_are_refused(visitor: Visitor, request_text: str) -> None:
    """Two hosts, none, one in the address; smuggling; no HTTP at all."""
    with socket.create_connection((visitor.host, visitor.port), timeout=10) as connection:
        connection.sendall(request_text.format(host=f"{visitor.host}:{visitor.port}").encode("latin-1"))
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while block := connection.recv(65536):
            received += block
    assert b" 200 " not in received.partition(b"\r\n")[0]
    assert b"scenes" not in received
    assert visitor.json("overview")["state"] == "ready"


# The secret -------------------------------------------------------------------------------------------------


def test_a_link_works_once(visitor: Visitor) -> None:
    target = "/?" + urlsplit(visitor.viewer.url).query
    assert stranger(visitor).ask(target).status == 200
    assert stranger(visitor).ask(target).status == 403


def test_a_link_that_is_looked_at_by_head_is_not_used_up(visitor: Visitor) -> None:
    target = "/?" + urlsplit(visitor.viewer.url).query
    assert stranger(visitor).ask(target, method="HEAD").status == 403
    assert stranger(visitor).ask(target).status == 200


def test_a_link_on_another_page_works_if_it_is_new(visitor: Visitor) -> None:
    target = "/?" + urlsplit(visitor.viewer.url).query
    headers = fetched("cross-site", "navigate", "document")
    assert stranger(visitor).ask(target, headers=headers).status == 200
    assert stranger(visitor).ask(target, headers=headers).status == 403


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(visitor: Visitor) -> None:
    answer = stranger(visitor).ask("/?" + urlsplit(visitor.viewer.url).query)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert f"tfreel-{visitor.port}=" in cookie


def test_the_link_is_not_the_cookie_and_is_not_in_the_page(visitor: Visitor) -> None:
    query = urlsplit(visitor.viewer.url).query
    token = query.partition("=")[2]
    answer = stranger(visitor).ask("/?" + query)
    assert token not in answer.headers["set-cookie"]
    assert token.encode() not in answer.body


def test_secrets_have_more_than_128_bits_and_differ() -> None:
    keys = Keys()
    secrets = [keys.session, keys.frame, *(keys.new_link() for _ in range(20))]
    assert len(set(secrets)) == len(secrets)
    assert all(len(secret) * 6 >= 128 for secret in secrets)


def test_only_so_many_unused_links_are_kept() -> None:
    keys = Keys()
    first = keys.new_link()
    links = [keys.new_link() for _ in range(64)]
    assert not keys.redeem(first)
    assert keys.redeem(links[0])


# Frames -----------------------------------------------------------------------------------------------------


def frame(visitor: Visitor) -> str:
    found = re.search(r'src="http://[^/]+(/frame/[^"]+)"', visitor.viewer._repr_html_())
    assert found
    return found[1]


def test_a_notebook_may_show_its_own_viewer_in_a_frame(visitor: Visitor) -> None:
    headers = fetched("cross-site", "navigate", "iframe")
    answer = stranger(visitor).ask(frame(visitor), headers=headers)
    assert answer.status == 200
    assert "x-frame-options" not in answer.headers
    assert "frame-ancestors http://localhost:*" in answer.headers["content-security-policy"]
    assert stranger(visitor).ask(frame(visitor) + "api/overview").status == 200


def test_scripts_of_other_pages_get_nothing_through_a_frame(visitor: Visitor) -> None:
    headers = fetched("cross-site", "cors", "empty")
    assert stranger(visitor).ask(frame(visitor) + "api/overview", headers=headers).status == 403


def test_the_command_line_has_no_frames(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"n": 1}])
    with tfreel.Viewer(tmp_path / "x.tfrecord") as viewer:
        assert Visitor(viewer).ask(f"/frame/{viewer._keys.frame}/").status == 403


# What is sent -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/static/main.js",
        "/api/overview",
        "/api/nothing",
        "/api/records/0/features/name",
        "/api/records?offset=x",
    ],
)
def test_every_answer_wears_its_armour(visitor: Visitor, target: str) -> None:
    headers = visitor.ask(target).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers
    assert not any(name.startswith("access-control") for name in headers)


def test_refusals_wear_it_too(visitor: Visitor) -> None:
    headers = stranger(visitor).ask("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("name", ["vector image", "page", "name", "blob", "sound", SCRIPT])
def test_what_is_no_image_is_a_download(visitor: Visitor, name: str) -> None:
    answer = visitor.feature(0, name)
    assert answer.type == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert "<" not in answer.headers["content-disposition"]
    assert "sandbox" in answer.headers["content-security-policy"]


def test_markup_behind_the_beginning_of_an_image_stays_an_image(tmp_path: Path) -> None:
    polyglot = b"GIF89a\x01\x00\x01\x00\x80\x00\x00/*" + SVG
    tfreel.save(tmp_path / "x.tfrecord", [{"x": polyglot, "y": b"\x89PNG\r\n\x1a\n" + SVG}])
    visitor = visit(tmp_path / "x.tfrecord")
    with visitor.viewer:
        assert visitor.feature(0, "x").type == "image/gif"
        assert "sandbox" in visitor.feature(0, "x").headers["content-security-policy"]
        assert visitor.feature(0, "y").type == "application/octet-stream"


def test_json_is_never_markup(visitor: Visitor) -> None:
    answer = visitor.get("records/0")
    assert answer.type == "application/json"
    assert SCRIPT in answer.json()["features"][0]["name"] or SCRIPT in str(answer.json())


def test_errors_name_no_folder(visitor: Visitor) -> None:
    for target in (
        "/api/records/99",
        "/api/queries?where=x",
        "/api/records/0/array?feature=name",
        "/nothing",
    ):
        assert b"secret-folder" not in visitor.ask(target).body


# Too much ---------------------------------------------------------------------------------------------------


def test_too_large_a_record_is_told_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfreel.viewer.collection.MOST_RECORD_BYTES", 1000)
    tfreel.save(tmp_path / "x.tfrecord", [{"x": b"y" * 2000}, {"x": b"z"}])
    visitor = visit(tmp_path / "x.tfrecord")
    with visitor.viewer:
        assert visitor.feature(0, "x").status == 413
        record = visitor.json("records/0")
        assert "2,0" in record["error"]
        assert record["kind"] == "too large"
        assert record["wire"]["length"] > 2000
        assert visitor.json("records")["rows"][1]["features"]["x"]["items"][0]["text"] == "z"


def test_many_requests_at_once_are_answered_or_refused(visitor: Visitor) -> None:
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(visitor.get("records/0").status)

    threads = [threading.Thread(target=ask) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 503}
    assert 200 in statuses
    assert visitor.json("overview")["state"] == "ready"


def test_a_visitor_who_hangs_up_does_no_harm(visitor: Visitor) -> None:
    for _ in range(20):
        connection = http.client.HTTPConnection(visitor.host, visitor.port, timeout=5)
        connection.putrequest("GET", "/api/overview")
        connection.endheaders()
        connection.close()
    assert visitor.json("overview")["state"] == "ready"


# Where it listens, and when it ends -------------------------------------------------------------------------


def test_it_listens_on_this_machine_only(visitor: Visitor) -> None:
    assert visitor.host == "127.0.0.1"
    address = socket.gethostbyname(socket.gethostname())
    if address.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r".+"):
        socket.create_connection((address, visitor.port), timeout=1).close()


def test_another_host_keeps_the_secret_and_takes_addresses_but_no_names(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"n": 1}])
    with tfreel.view(tmp_path / "x.tfrecord", host="0.0.0.0") as viewer:
        visitor = Visitor(viewer)
        visitor.host = "127.0.0.1"
        assert visitor.ask("/api/overview").status == 403
        visitor.enter()
        assert visitor.ask("/api/overview", headers={"Host": "10.1.2.3:80"}).status == 200
        assert visitor.ask("/api/overview", headers={"Host": "evil.example"}).status == 403


PROGRAM = [sys.executable, "-m", "tfreel", "view", "x.tfrecord", "--no-browser"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_soon(number: int, code: int) -> None:
    tfreel.save("x.tfrecord", [{"n": 1}])
    with subprocess.Popen(PROGRAM, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", url)
        begin = time.monotonic()
        running.send_signal(number)
        assert running.wait(10) == code
        assert time.monotonic() - begin < 3  # 0.25 s on a machine with nothing else to do
        assert "Traceback" not in running.communicate()[1]


def test_it_ends_with_the_process_that_started_it() -> None:
    tfreel.save("x.tfrecord", [{"n": 1}])
    code = (
        "import subprocess, sys\n"
        f"running = subprocess.Popen({PROGRAM!r}, stdout=subprocess.PIPE, text=True)\n"
        "print(running.stdout.readline().strip(), running.pid, flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    number = int(done.stdout.split()[1])
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        with open(f"/proc/{number}/stat") as file:
            if file.read().split(")")[1].split()[0] == "Z":
                return
        time.sleep(0.05)
    pytest.fail("it is still there")


def test_it_ends_if_the_process_that_started_it_was_gone_before_it_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tfreel.save("x.tfrecord", [{"n": 1}])
    with tfreel.view("x.tfrecord") as viewer:
        monkeypatch.setattr(os, "getppid", lambda: 1)
        viewer.wait()


def test_another_host_is_warned_about() -> None:
    tfreel.save("x.tfrecord", [{"n": 1}])
    command = [*PROGRAM, "--host", "0.0.0.0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert "?token=" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert "whoever can reach this machine" in running.communicate(timeout=10)[1]


def test_without_its_packages_one_line_says_what_to_install(tmp_path: Path) -> None:
    tfreel.save("x.tfrecord", [{"n": 1}])
    (tmp_path / "starlette.py").write_text("raise ImportError('no')")
    environment = {**os.environ, "PYTHONPATH": os.fspath(tmp_path)}
    done = subprocess.run(PROGRAM, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        'tfreel: the viewer needs starlette and uvicorn: pip install "tfreel[view]"'
    ]
