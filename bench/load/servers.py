"""Servers for measurements of generators: each on a free port, for as long as a block runs."""

import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Problem

HERE = Path(__file__).resolve().parent

NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 1000000000;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""
MOSQUITTO = """listener {port} 127.0.0.1
allow_anonymous true
persistence false
max_inflight_messages 0
max_queued_messages 0
set_tcp_nodelay true
log_dest none
"""
# The settings, and the command that takes them.
DEBIAN = {
    "nginx": (NGINX, "/usr/sbin/nginx -p {folder} -c {config}"),
    "mosquitto": (MOSQUITTO, "/usr/sbin/mosquitto -c {config}"),
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Debian:
    """One of Debian's; gives the port."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        text, command = DEBIAN[self.name]
        self.folder, port = tempfile.TemporaryDirectory(), free_port()
        place = self.folder.name
        config = Path(place) / "config"
        config.write_text(text.format(port=port, folder=place))
        (Path(place) / "index.html").write_text("ok\n")
        self.process = subprocess.Popen(command.format(folder=place, config=config).split())
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except ConnectionRefusedError:
                time.sleep(0.05)
        self.__exit__()
        raise Problem(f"{self.name} takes no connection on port {port}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


class Made:
    """One of which the truth is known, made by server.py with these words; gives its address."""

    def __init__(self, *words):
        self.words = words

    def __enter__(self):
        command = [sys.executable, HERE / "server.py", *self.words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        return f"http://127.0.0.1:{int(self.process.stdout.readline())}/"

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
