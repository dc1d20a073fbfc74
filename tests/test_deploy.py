"""The files in deploy/ fit together, and what they run is there. No container is started."""

from __future__ import annotations

import http.server
import inspect
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import click
import httpx
import pytest
import uvicorn
import yaml
from conftest import wait_until
from model_double import ModelDouble
from model_writer import Conversation, writing
from model_writer import write as compose
from ports import free_port
from postgres_server import postgres_running
from writer_server import add_user, configure, encode, writer_running

from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.served import configuration
from mkdocs_contentgen.served.configuration import ServerFields, read_server_fields
from mkdocs_contentgen.service.protocol import MAX_TEXT_BODY
from mkdocs_contentgen.writer.models import settings

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
WRITER = read_server_fields(DEPLOY / "writer.yml")


def instructions(name: str) -> list[str]:
    """Return the arguments of an instruction of the Dockerfile, one for each time it is there."""
    return re.findall(rf"^{name} (.*)", DOCKERFILE, re.MULTILINE)


def serve_options() -> dict[str, Any]:
    """Return the options of `contentgen writer serve` that the Dockerfile gives, parsed."""
    (line,) = instructions("CMD")
    program, *arguments = json.loads(line)
    assert program == "contentgen"
    command: click.Command = main
    while isinstance(command, click.Group):
        command = command.commands[arguments.pop(0)]
    assert command.name == "serve"
    return command.make_context("serve", arguments).params


def healthcheck() -> list[str]:
    """Return the command of the HEALTHCHECK."""
    (line,) = instructions("HEALTHCHECK")
    command: list[str] = json.loads(line.partition(" CMD ")[2])
    return command


class TestDockerfile:
    """What the image contains and runs."""

    def test_command(self) -> None:
        """The command has the options of the CLI, and the file that compose.yml mounts."""
        given = serve_options()
        assert given["host"] == "0.0.0.0"
        assert f"./writer.yml:{given['path']}:ro" in SERVICES["writer"]["volumes"]
        assert instructions("WORKDIR")[-1] == str(given["path"].parent)
        assert instructions("EXPOSE") == [str(given["port"])]

    def test_health(self) -> None:
        """The check succeeds while the server answers, and fails when it does not."""
        program, *arguments = healthcheck()
        assert program == "python"
        url = f"http://127.0.0.1:{serve_options()['port']}"
        assert f"{url}/healthz" in arguments[-1]
        with answering() as (port, paths):
            local = arguments[-1].replace(url, f"http://127.0.0.1:{port}")
            command = [sys.executable, *arguments[:-1], local]
            assert subprocess.run(command, check=False).returncode == 0
            assert paths == ["/healthz"]
        assert subprocess.run(command, check=False, capture_output=True).returncode != 0

    def test_base_image(self) -> None:
        """The image is pinned by version, and the server does not run as root."""
        (image,) = instructions("FROM")
        assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", image)
        assert instructions("USER") == ["contentgen"]
        assert DOCKERFILE.index("\nUSER") > DOCKERFILE.index("pip install")
        assert DOCKERFILE.index("\nUSER") < DOCKERFILE.index("\nCMD")

    @pytest.mark.system
    @pytest.mark.skipif(
        not (ROOT / "mkdocs_contentgen").exists(), reason="the source was removed for this run"
    )
    def test_source(self, tmp_path: Path) -> None:
        """The copied files are enough to build the package, with the extras that it installs."""
        for line in instructions("COPY"):
            *sources, target = shlex.split(line)
            for source in sources:
                path = ROOT / source
                if path.is_dir():
                    shutil.copytree(path, tmp_path / target)
                else:
                    shutil.copy(path, tmp_path / target)
        wheels = tmp_path / "wheels"
        command = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), "."]
        subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, check=True)
        (wheel,) = wheels.iterdir()
        (extras,) = re.findall(r"pip install .*\[([\w,]+)\]", DOCKERFILE)
        with ZipFile(wheel) as files:
            (name,) = (name for name in files.namelist() if name.endswith("/METADATA"))
            metadata = files.read(name).decode()
        assert set(extras.split(",")) <= set(re.findall("(?m)^Provides-Extra: (.*)", metadata))


class TestCompose:
    """What one part names exists in the other."""

    def test_services(self) -> None:
        """The parts reach each other by the names of the services, on their ports."""
        port = serve_options()["port"]
        assert re.findall(r"set \$writer (\S+);", NGINX) == [f"writer:{port}"]
        ledger = urlsplit(SERVICES["writer"]["environment"]["CONTENTGEN_LEDGER"])
        assert (urlsplit(WRITER.endpoint).hostname, ledger.hostname) == ("ollama", "postgres")
        assert SERVICES["postgres"]["environment"]["POSTGRES_USER"] == ledger.username
        names = {"nginx", "writer", "postgres", "ollama"}
        assert set(SERVICES) == names
        for service in SERVICES.values():
            assert set(service.get("depends_on", ())) <= names
            for name, needed in service.get("depends_on", {}).items():
                if needed["condition"] == "service_healthy":
                    assert "healthcheck" in SERVICES[name] or name == "writer"

    def test_ports(self) -> None:
        """Only nginx is published, on loopback, and listens on that port."""
        published = {name: s["ports"] for name, s in SERVICES.items() if "ports" in s}
        (listening,) = re.findall(r"listen (\d+) ssl;", NGINX)
        assert published == {"nginx": [f"127.0.0.1:{listening}:{listening}"]}

    def test_volumes(self) -> None:
        """Each file exists, each named volume is declared, and each is used."""
        used = set()
        for volume in (v for service in SERVICES.values() for v in service.get("volumes", ())):
            source = volume.split(":")[0]
            if source.startswith("./"):
                # The certificate is the operator's.
                assert source == "./tls" or (DEPLOY / source).is_file(), source
            else:
                used.add(source)
        assert used == set(COMPOSE["volumes"])
        assert instructions("VOLUME") == ["/var/lib/contentgen"]

    def test_tls(self) -> None:
        """The certificate is where nginx looks for it, and git ignores it."""
        files = re.findall(r"ssl_certificate\w* (\S+);", NGINX)
        assert {str(Path(file).parent) for file in files} == {"/etc/nginx/tls"}
        assert "./tls:/etc/nginx/tls:ro" in SERVICES["nginx"]["volumes"]
        assert "deploy/tls/" in (ROOT / ".gitignore").read_text("utf-8").split()

    def test_environment(self) -> None:
        """The writer, or uvicorn, reads each variable that it is given."""
        modules = (settings, configuration, uvicorn.config)
        source = "".join(map(inspect.getsource, modules))
        for name in SERVICES["writer"]["environment"]:
            assert f'"{name}"' in source

    def test_health_of_the_database(self) -> None:
        """It is asked over TCP: while its image makes it, it listens on a socket of files only."""
        command = SERVICES["postgres"]["healthcheck"]["test"]
        assert "--host=127.0.0.1" in command

    def test_images(self) -> None:
        """The images are pinned by version."""
        for service in SERVICES.values():
            if "build" not in service:
                assert re.search(r":\d+\.\d+", service["image"]), service["image"]

    def test_shutdown(self) -> None:
        """Containers have the time to finish a text."""
        grace = SERVICES["writer"]["stop_grace_period"]
        seconds = 5 * WRITER.call_timeout + 30
        assert int(grace.removesuffix("s")) > seconds
        unit = (DEPLOY / "contentgen-writer@.service").read_text(encoding="utf-8")
        (stop,) = re.findall("TimeoutStopSec=([0-9]+)", unit)
        assert int(stop) > 5 * ServerFields(model="m").call_timeout + 30

    def test_starts(self) -> None:
        """The unit is started again until its database is there: systemd allows 5 in 10 s."""
        unit = (DEPLOY / "contentgen-writer@.service").read_text(encoding="utf-8")
        (pause,) = re.findall("^RestartSec=([0-9]+)", unit, re.MULTILINE)
        assert 5 * int(pause) > 10

    @pytest.mark.system
    def test_unit(self, tmp_path: Path) -> None:
        """There is nothing wrong with it, but for a program that is not there."""
        if shutil.which("systemd-analyze") is None:
            pytest.skip("needs systemd-analyze")
        unit = (DEPLOY / "contentgen-writer@.service").read_text(encoding="utf-8")
        path = tmp_path / "contentgen-writer@8766.service"
        path.write_text(unit.replace("/opt/contentgen/bin/contentgen", "/bin/true"))
        command = ["systemd-analyze", "verify", str(path)]
        checked = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.fixture
def nginx(tmp_path: Path, certificate: Path) -> Iterator[tuple[str, int, list[str]]]:
    """Run the configured nginx; return its URL, the port behind it, and the paths asked for."""
    with answering() as (upstream, paths), nginx_running(tmp_path, certificate, [upstream]) as url:
        yield url, upstream, paths


@contextmanager
def nginx_running(directory: Path, certificate: Path, upstreams: list[int]) -> Iterator[str]:
    """Run the configured nginx before these ports until the block ends; yield its URL."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("needs nginx")
    port = free_port()
    writers = "".join(f"server 127.0.0.1:{upstream} max_fails=0;" for upstream in upstreams)
    temporary = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    local = {
        "/etc/nginx/tls/fullchain.pem": str(certificate),
        "/etc/nginx/tls/privkey.pem": str(certificate.with_name("key.pem")),
        "/tmp/nginx.pid": str(directory / "nginx.pid"),
        "listen 8443 ssl": f"listen 127.0.0.1:{port} ssl",
        # Several addresses of one name are what this upstream is.
        "set $writer writer:8766": "set $writer writers",
        "http {": f"http {{ upstream writers {{ {writers} }}"
        + "".join(f"{name}_temp_path {directory};" for name in temporary),
    }
    text = NGINX
    for there, here in local.items():
        assert text.count(there) == 1, there
        text = text.replace(there, here)
    path = directory / "nginx.conf"
    path.write_text(text)
    command = [program, "-e", "stderr", "-p", str(directory), "-c", str(path)]
    checked = subprocess.run([*command, "-t"], check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr.replace('"user" directive', "")
    # Its workers keep large bodies in the directory of the test, which only its owner can read.
    directives = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
    process = subprocess.Popen([*command, "-g", directives], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: listens(port))
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def listens(port: int) -> bool:
    """Return whether somebody listens on a port."""
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def answering() -> Iterator[tuple[int, list[str]]]:
    """Run a server in place of the writer; return its port and the paths asked for.

    It answers a POST with the path, the body and the Idempotency-Key.
    """
    paths: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer(b"ok\n")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(body + self.headers.get("Idempotency-Key", "").encode())

        def answer(self, body: bytes) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_port, paths
        finally:
            server.shutdown()


@pytest.mark.system
class TestNginx:
    """A real nginx with the configuration, before a server in place of the writer."""

    def test_limits(self, nginx: tuple[str, int, list[str]]) -> None:
        """Large bodies do not reach the writer, nor do requests for the metrics."""
        url, _, paths = nginx
        large = httpx.post(
            f"{url}/generate-blog", content=b"x" * (MAX_TEXT_BODY + 1), verify=False, timeout=60
        )
        assert large.status_code == 413
        assert httpx.get(f"{url}/metrics", verify=False, timeout=60).status_code == 404
        assert paths == []
        assert httpx.get(f"{url}/healthz", verify=False, timeout=60).status_code == 200

    def test_slow_body(self, nginx: tuple[str, int, list[str]]) -> None:
        """A body that is not complete takes no connection of the writer."""
        url, _, paths = nginx
        host, port = url.removeprefix("https://").split(":")
        context = httpx.create_ssl_context(verify=False)
        with (
            socket.create_connection((host, int(port))) as plain,
            context.wrap_socket(plain) as slow,
        ):
            slow.sendall(b"POST /generate-blog HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
            assert httpx.get(f"{url}/healthz", verify=False, timeout=60).status_code == 200
            assert paths == ["/healthz"]
            slow.sendall(b'"a": 1}.')
            assert slow.recv(100).startswith(b"HTTP/1.1 200")
        assert len(paths) == 2


def ask_through(url: str, token: str, number: int) -> httpx.Response:
    """Ask for a text as a client does that trusts the certificate."""
    path, headers, body = encode(token, f"Topic {number}", key=str(number))
    return httpx.post(f"{url}{path}", headers=headers, content=body, verify=False, timeout=60)


@pytest.mark.system
class TestRestarts:
    """A real nginx before real writers that are restarted while texts are asked for."""

    def test_in_turn(self, tmp_path: Path, certificate: Path, model: ModelDouble) -> None:
        """With two writers and a queue, none is refused, and each text is written once. 8 s."""
        model.answer = writing(slowly)
        limits = {"requests_per_minute": 10_000, "parallel": 100}
        with postgres_running() as postgres:
            configure(tmp_path, model.endpoint, ledger=postgres.url, limits=limits, parallel=2)
            token = add_user(tmp_path)
            with ExitStack() as stack:
                ports = [free_port(), free_port()]
                writers = [
                    stack.enter_context(writer_running(tmp_path, token=token, port=port))
                    for port in ports
                ]
                url = stack.enter_context(nginx_running(tmp_path, certificate, ports))
                pool = stack.enter_context(ThreadPoolExecutor(40))
                asked = [pool.submit(ask_through, url, token, number) for number in range(150)]
                for writer, port in zip(writers, ports, strict=True):
                    # While a writer starts on a slow machine, the other one can write all.
                    texts = min(len(model.calls) + 20, 149)
                    wait_until(lambda: len(model.calls) > texts)  # noqa: B023
                    writer.process.terminate()
                    assert writer.wait() == 0
                    again = stack.enter_context(writer_running(tmp_path, token=token, port=port))
                    # As the loop of the guide does.
                    wait_until(lambda: again.get("/readyz").status_code == 200)  # noqa: B023
                answers = [it.result() for it in asked]
        assert Counter(answer.status_code for answer in answers) == {200: 150}
        topics = Counter(str(call.body["messages"]) for call in model.calls)
        assert set(topics.values()) == {1}

    def test_of_the_only_one(self, tmp_path: Path, certificate: Path, model: ModelDouble) -> None:
        """Without another one, clients learn when to ask again, in JSON."""
        configure(tmp_path, model.endpoint)
        port = free_port()
        with (
            writer_running(tmp_path, port=port) as writer,
            nginx_running(tmp_path, certificate, [port]) as url,
        ):
            assert ask_through(url, writer.token, 1).status_code == 200
            writer.process.kill()
            writer.wait()
            refused = ask_through(url, writer.token, 1)
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
            assert refused.json()["success"] is False
            with writer_running(tmp_path, token=writer.token, port=port) as again:
                kept = ask_through(url, writer.token, 1)
                assert kept.status_code == 200
                wait_until(lambda: again.log)
                assert again.log[-1]["request"] == kept.headers["X-Request-Id"]
                metrics = httpx.get(f"{url}/metrics%0A", verify=False, timeout=60)
                assert metrics.status_code == 404


def slowly(conversation: Conversation) -> str:
    """Write a text in 100 ms."""
    time.sleep(0.1)
    return compose(conversation)
