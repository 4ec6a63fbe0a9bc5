"""Serves pages: by Python's http.server, and by nginx where it is installed."""

import http.server
import os
import signal
import subprocess
import time

import fetch
import link

PR_SET_PDEATHSIG = 1
FOLDER = "/mnt"  # There is a file system of the link's own on it.

# The sizes of nginx's pages; http.server gives any.
SIZES = [1000, 4000, 8000, 12000, 13000, 14000, 14480, 14481, 14600, 15000, 16000, 20000, 28000]
SIZES += [36000, 43440, 43441, 56000, 72000, 88000, 101360, 101361, 112000, 128000]

# As Debian sets it, and for HTTP/2 without sendfile too.
# nginx makes its temporary folders and gives them to its user, so they are here and not Debian's.
NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 64; }}
http {{
    sendfile on; tcp_nopush on; access_log off; default_type text/plain;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen {host}:{nginx}; root {folder}/nginx; }}
    server {{ listen {host}:{h2} http2; root {folder}/h2; }}
    server {{ listen {host}:{h2-read} http2; sendfile off; root {folder}/h2; }}
}}
"""


def end_with_parent():
    """Ends this process when its parent ends."""
    link.system("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)


class Apart(http.server.BaseHTTPRequestHandler):
    """Gives /N as N bytes, headers too, and sends the headers in a call of their own."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        size = int(self.path[1:])
        self.send_response(200)
        length = size - len(b"".join(self._headers_buffer) + b"Content-Length: 0000000\r\n\r\n")
        self.send_header("Content-Length", f"{length:07}")
        self.end_headers()
        self.wfile.write(b"-" * length)

    def log_message(self, *_):
        pass


class Together(Apart):
    """The same in one call."""

    wbufsize = 1 << 20


def lacks_nginx():
    """Returns why nginx cannot serve here; nothing if it can."""
    try:
        asked = subprocess.run(["nginx", "-v"], capture_output=True, check=False)
    except OSError as error:
        return f"nginx is missing ({error.strerror}): scripts/setup.sh studies"
    said = asked.stderr.decode(errors="replace").strip()
    code = asked.returncode
    return code and f"nginx does not run: 'nginx -v' ends with {code}: {said}"


def serve():
    """Starts the servers, which end when this process does, and waits until they answer."""
    for server, handler in (("python", Together), ("python-apart", Apart)):
        pages = http.server.ThreadingHTTPServer((link.SERVER, fetch.PORTS[server]), handler)
        if os.fork() == 0:
            end_with_parent()
            pages.serve_forever()
        pages.server_close()
    if lacks_nginx():
        return
    with open(f"{FOLDER}/nginx.conf", "w") as settings:
        settings.write(NGINX.format(host=link.SERVER, folder=FOLDER, **fetch.PORTS))
    command = ["nginx", "-c", f"{FOLDER}/nginx.conf"]
    await_nginx(subprocess.Popen(command, preexec_fn=end_with_parent))
    for server in ("nginx", "h2"):
        os.mkdir(f"{FOLDER}/{server}")
        for size in SIZES:
            fit(f"{FOLDER}/{server}/{size}", server, size)


def await_nginx(process):
    until = time.monotonic() + 5
    while True:
        try:
            return fetch.fetch("nginx", 0)
        except ConnectionRefusedError:
            if process.poll() is not None or time.monotonic() > until:
                raise link.Refused("nginx does not start") from None
            time.sleep(0.01)


def fit(path, server, size):
    """Makes a page as long as it must be for the whole answer to have the size."""
    length = size
    for _ in range(4):
        with open(path, "w") as page:
            page.truncate(length)
        came = fetch.fetch(server, size)[1]
        length += size - came
        if fetch.is_size(server, came, size):
            return
    raise link.Refused(f"no page of {server} has {size} bytes with its headers")
