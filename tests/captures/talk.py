# SPDX-License-Identifier: GPL-2.0
"""Conversations over real sockets, for wire.py to record: servers in one namespace, and in the
other a client with one conversation. A seed chooses the content; times and TCP's numbers are the
kernel's.

    python -m captures.talk serve FOLDER                  prints "ready", and ends with its standard input
    python -m captures.talk CONVERSATION 4|6 SEED FOLDER  FOLDER: cert.pem and key.pem
"""
import contextlib
import random
import socket
import ssl
import struct
import sys
import threading
import time

from captures import loose

ALL_4, ALL_6 = "0.0.0.0", "::"
# Many, so that filters have much to distinguish; each end has all of its own.
SERVERS = {4: ("10.0.0.2", "192.168.1.2", "172.16.0.2", *(f"198.51.100.{n}" for n in range(7, 250, 31))),
           6: ("2001:db8::2", "fd00::2", "2001:db8:5::7")}
CLIENTS = {4: ("10.0.0.1", "192.168.1.1", "172.16.5.9",
               *(f"10.{n * 7 % 250 + 1}.{n * 13 % 250}.{n * 29 % 250 + 1}" for n in range(1, 140))),
           6: ("2001:db8::1", "fd00::1", *(f"2001:db8:{n:x}::{n * 77:x}" for n in range(1, 20)))}
WORDS = ("frame channel beacon sensor capture header station access point radio signal noise packet window "
         "segment label tag length offset checksum address network session clock ledger the of a and to in is "
         "that for with by on at from which each sent received").split()
TEXT, TLS_12, TLS_13, NAMES, MAIL, ECHO, SIP, LOG, TIME, SHELL, FILES = (
    80, 443, 8443, 53, 25, 7, 5060, 514, 123, 22, 21)
SECONDS = 15


def words(rng, count):
    return " ".join(rng.choice(WORDS) for _ in range(count)).encode()


def binary(rng, count):
    """Half of it random: all of it would take as much space in the repository."""
    return b"".join(rng.randbytes(4) + bytes(4) for _ in range(count // 8))


# ---- servers ---------------------------------------------------------------------------------------


def until_empty_line(s):
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        got = s.recv(4096)
        if not got:
            return b""
        data += got
    return data


def web(s):
    """GET /SEED/WORDS: so many words."""
    while asked := until_empty_line(s):
        path = asked.split(b" ")[1].split(b"/")
        body = words(random.Random(int(path[1])), int(path[2]))
        s.sendall(b"HTTP/1.1 200 OK\r\nServer: captures\r\nContent-Type: text/plain\r\nContent-Length: " +
                  str(len(body)).encode() + b"\r\n\r\n" + body)


def echo(s):
    while got := s.recv(65536):
        s.sendall(got)


def lines(greeting):
    """A server that answers requests in lines."""
    def serve(s):
        s.sendall(greeting + b"\r\n")
        with s.makefile("rb") as f:
            for number, line in enumerate(f):
                s.sendall(b"25%d %s\r\n" % (number % 10, line.strip()[:40]))
                if line.startswith(b"QUIT"):
                    break
    return serve


def names_tcp(s):
    while head := s.recv(2):
        asked = s.recv(struct.unpack(">H", head)[0])
        said = loose.answer(asked)
        s.sendall(struct.pack(">H", len(said)) + said)


TCP = {TEXT: web, ECHO: echo, MAIL: lines(b"220 mail.example.org ESMTP"), FILES: lines(b"220 FTP"),
       SHELL: lines(b"SSH-2.0-captures"), NAMES: names_tcp}
UDP = {NAMES: loose.answer, ECHO: lambda asked: asked,
       SIP: lambda asked: b"SIP/2.0 200 OK\r\n" + asked.split(b"\r\n", 1)[1],
       TIME: lambda asked: b"\x24\1" + asked[2:], LOG: None}


def tls(folder, version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
    context.minimum_version = context.maximum_version = version

    def serve(s):
        with context.wrap_socket(s, server_side=True) as t:
            web(t)
    return serve


def one(serve, s):
    with contextlib.suppress(OSError), s:
        serve(s)


def accept(port, serve):
    listener = socket.create_server((ALL_6, port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
    while True:
        s, _ = listener.accept()
        threading.Thread(target=one, args=(serve, s), daemon=True).start()


def receive(port, serve, family, address):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind((address, port))
    while True:
        asked, by = s.recvfrom(65536)
        if serve:
            s.sendto(serve(asked), by)


def serve_all(folder):
    tcp = {**TCP, TLS_12: tls(folder, ssl.TLSVersion.TLSv1_2), TLS_13: tls(folder, ssl.TLSVersion.TLSv1_3)}
    begin = [(accept, port, serve) for port, serve in tcp.items()]
    for port, serve in UDP.items():
        # One socket per address, so that answers come from the request's address.
        begin += [(receive, port, serve, socket.AF_INET, a) for a in SERVERS[4]]
        begin += [(receive, port, serve, socket.AF_INET6, a) for a in SERVERS[6]]
    for work, *args in begin:
        threading.Thread(target=work, args=args, daemon=True).start()
    time.sleep(0.3)
    print("ready", flush=True)
    sys.stdin.read()


# ---- the client ------------------------------------------------------------------------------------


class Client:
    def __init__(self, version, rng, folder):
        self.version, self.rng, self.folder = version, rng, folder
        self.family = socket.AF_INET if version == 4 else socket.AF_INET6

    def tcp(self, port):
        s = socket.create_connection((self.rng.choice(SERVERS[self.version]), port), timeout=SECONDS,
                                     source_address=(self.source, 0))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    @property
    def source(self):
        return self.rng.choice(CLIENTS[self.version])

    def udp(self):
        s = socket.socket(self.family, socket.SOCK_DGRAM)
        s.settimeout(0.5)
        s.bind((self.source, 0))
        return s

    def ask(self, port, *questions):
        """Datagrams; a lost one is not sent again."""
        with self.udp() as s:
            to = self.rng.choice(SERVERS[self.version]), port
            for q in questions:
                s.sendto(q, to)
                if UDP.get(port):
                    with contextlib.suppress(TimeoutError, ConnectionError):
                        s.recv(65536)


def read_page(s, rng, count):
    s.sendall(b"GET /%d/%d HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: captures\r\n\r\n" %
              (rng.randrange(50), count))
    data = b""
    while b"\r\n\r\n" not in data:
        data += s.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += s.recv(65536)


def talk_web(c):
    for _ in range(36):
        with c.tcp(TEXT) as s:
            for _ in range(c.rng.choice((1, 1, 2, 4))):
                read_page(s, c.rng, c.rng.choice((1, 5, 40, 300)))


def talk_secure(c):
    context = ssl.create_default_context(cafile=f"{c.folder}/cert.pem")
    context.check_hostname = False
    for n in range(10):
        with context.wrap_socket(c.tcp(TLS_12 if n % 2 else TLS_13), server_hostname="www.example.org") as s:
            for _ in range(3):
                read_page(s, c.rng, c.rng.choice((5, 20, 60)))


def talk_names(c):
    for n in range(110):
        c.ask(NAMES, loose.question(c.rng))
        if n % 20 == 0:
            with c.tcp(NAMES) as s:
                asked = loose.question(c.rng)
                s.sendall(struct.pack(">H", len(asked)) + asked)
                s.recv(4096)


def talk_mail(c):
    for port in (MAIL, FILES, SHELL, MAIL):
        with c.tcp(port) as s:
            s.recv(4096)
            for _ in range(18):
                s.sendall(c.rng.choice((b"NOOP ", b"RCPT TO: ", b"RETR ")) + words(c.rng, 3) + b"\r\n")
                s.recv(4096)
            s.sendall(b"QUIT\r\n")
            s.recv(4096)


def talk_voice(c):
    rng = c.rng
    for n in range(12):
        c.ask(SIP, b"INVITE sip:%d@example.org SIP/2.0\r\nCSeq: %d INVITE\r\n\r\n" % (rng.randrange(1000), n))
        c.ask(TIME, b"\x23\0\6\xec" + bytes(36) + rng.randbytes(8))
        c.ask(LOG, b"<34>1 host captures - - - " + words(rng, 8))
        # RTP: to a port without a listener, which the kernel reports in ICMP
        c.ask(5062 + 2 * n, *(struct.pack(">BBHII", 0x80, 0, k, 160 * k, n) + binary(rng, 80) for k in range(10)))
        c.ask(ECHO, words(rng, 200), words(rng, 800))


def talk_control(c):
    loose.pings(c.rng, c.version, CLIENTS, SERVERS)
    loose.groups(c.rng, c.version, CLIENTS)
    loose.protocols(c.rng, c.version, CLIENTS, SERVERS)


def talk_links(c):
    loose.links(c.rng)


def talk_bulk(c):
    rng = c.rng
    for _ in range(2):
        with c.tcp(ECHO) as s:
            for size in (1, 100, 30000, 5000, 60000):
                data = words(rng, size // 6 + 1)
                sender = threading.Thread(target=s.sendall, args=(data,))
                sender.start()
                left = len(data)
                while left:
                    left -= len(s.recv(min(left, rng.choice((100, 4000, 65536)))))
                sender.join()
    talk_odd(c)


def talk_odd(c):
    """A port without a listener; urgent data; a connection that is reset, and one half-closed."""
    for port in (1, 9, 4444):
        with contextlib.suppress(ConnectionError):
            c.tcp(port).close()
    with c.tcp(ECHO) as s:
        s.send(b"!", socket.MSG_OOB)
        s.sendall(b"half")
        s.shutdown(socket.SHUT_WR)
        while s.recv(4096):
            pass
    s = c.tcp(ECHO)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.sendall(b"reset")
    s.close()


def talk_pieces(c):
    """Datagrams that the kernel sends in fragments, with TCP in between."""
    for _ in range(8):
        c.ask(ECHO, *(words(c.rng, n) for n in (300, 600, 1500, 10)))
        with c.tcp(TEXT) as s:
            read_page(s, c.rng, 100)
    loose.pings(c.rng, c.version, CLIENTS, SERVERS, sizes=(2000, 4000))


def main(what, *args):
    if what == "serve":
        return serve_all(*args)
    version, seed, folder = args
    return globals()[f"talk_{what}"](Client(int(version), random.Random(int(seed)), folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
