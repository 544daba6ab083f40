# SPDX-License-Identifier: GPL-2.0
"""A real Kafka broker on loopback, and a cluster of three. In: the jars (jars.py), and a folder. Out: listeners
without and with TLS and SASL, and what is in a topic.

A broker is one KRaft node, broker and controller. All brokers have ACLs: without deny(), all is allowed.
Controllers are super users: they elect a leader before they have ACLs.

On a machine with two idle CPUs, with Kafka 4.1.2 and OpenJDK 17, a broker answers after 3 s (0.7 s to format, 2 s to
start; 2 s of CPU), and has 215 MB; started again after a kill, after 4 s, as the controller waits for the lost
session's end (3 s here, 9 s by default). Three brokers answer after 7 s, and have 620 MB.
"""
import collections
import contextlib
import functools
import pathlib
import random
import re
import signal
import socket
import subprocess
import tempfile
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (AclBinding, AclBindingFilter, AclOperation, AclPermissionType, AdminClient,
                                   NewTopic, ResourcePatternType, ResourceType)
from kafka import jars

USER, PASSWORD = "saluki", "correct horse"
CLUSTER = "c2FsdWtpLXRlc3RzLWthZg"  # any 16 bytes, in base64
LISTENERS = {"plain": "PLAINTEXT", "tls": "SSL", "sasl": "SASL_SSL"}
SETTINGS = """
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map={protocols},CONTROLLER:SASL_PLAINTEXT
inter.broker.listener.name=PLAIN
log.dirs={data}
metadata.log.dir={metadata}
ssl.keystore.type=PEM
ssl.keystore.location={pem}
sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
    user_{user}="{password}";
sasl.mechanism.controller.protocol=PLAIN
listener.name.controller.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
    username="node" password="{password}" user_node="{password}";
super.users=User:node
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
auto.create.topics.enable=false
num.network.threads=1
num.io.threads=2
background.threads=2
log.cleaner.dedupe.buffer.size=2097152
log.index.size.max.bytes=65536
offsets.topic.num.partitions=1
transaction.state.log.num.partitions=1
offsets.topic.replication.factor={copies}
transaction.state.log.replication.factor={copies}
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
controlled.shutdown.enable={several}
"""
LOG4J = """
rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
appender.file.type=File
appender.file.name=file
appender.file.fileName={log}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %c{{1}}: %m%n
"""

Message = collections.namedtuple("Message", "partition offset key headers value time_ms")


def free_ports(count):
    """Ports that no outgoing connection takes while the broker is down: below the range that the kernel gives away. A
    client would otherwise connect to itself there."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    with contextlib.ExitStack() as stack:
        sockets = []
        while len(sockets) < count:
            s = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                s.bind(("127.0.0.1", random.randrange(lowest // 2, lowest)))
                sockets.append(s)
        return [s.getsockname()[1] for s in sockets]


def wait_for(what, seconds=30):
    """Asks the broker until it says so: metadata follow a request's answer some ms later."""
    end = time.monotonic() + seconds
    while not (said := what()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
    return said


@functools.cache
def certificates():
    """A folder with authority.pem and broker.pem (key and certificate), for all brokers."""
    kept = tempfile.TemporaryDirectory(prefix="saluki-kafka-")
    folder = pathlib.Path(kept.name)
    certificates.kept = kept  # removed when Python ends
    script = """openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout a.key -out authority.pem
        openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout b.key -out b.csr
        openssl x509 -req -in b.csr -CA authority.pem -CAkey a.key -CAcreateserial -days 2 -extfile san -out b.pem
        cat b.key b.pem authority.pem > broker.pem"""
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True, capture_output=True)
    return folder


def dotted(settings):
    return {re.sub("__?", lambda m: "._"[len(m[0]) - 1], name): value for name, value in settings.items()}


def acl(topic, operation, permission):
    """For all users. A topic with an ACL needs one that allows the rest."""
    return ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:*", "*", operation, permission


class Broker:
    """`disk_mb`: the data are in a tmpfs of this size. `peers`: {node: port of its controller}, if several."""

    def __init__(self, folder, disk_mb=None, node=1, peers=None, heap_mb=512):
        self.folder, self.node, self.heap_mb, self.process = pathlib.Path(folder), node, heap_mb, None
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data, self.log, self.mounted = self.folder / "data", self.folder / "broker.log", False
        *ports, controller = free_ports(len(LISTENERS) + 1)
        self.ports = dict(zip(LISTENERS, ports))
        self.peers = peers or {node: controller}
        self.address = f"127.0.0.1:{self.ports['plain']}"
        self.data.mkdir()
        if disk_mb:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={disk_mb}m", "kafka", self.data], check=True)
            self.mounted = True
        self._write_settings()
        self._admin = None

    def _write_settings(self):
        several = len(self.peers) > 1
        (self.folder / "settings").write_text(SETTINGS.format(
            node=self.node, voters=",".join(f"{n}@127.0.0.1:{p}" for n, p in self.peers.items()),
            controller=self.peers[self.node], data=self.data, metadata=self.folder / "metadata",
            listeners=",".join(f"{n.upper()}://127.0.0.1:{p}" for n, p in self.ports.items()),
            protocols=",".join(f"{n.upper()}:{p}" for n, p in LISTENERS.items()), user=USER, password=PASSWORD,
            pem=certificates() / "broker.pem", copies=len(self.peers), several=str(several).lower()))
        (self.folder / "log4j2.properties").write_text(LOG4J.format(log=self.log))

    def _java(self, *args):
        return ["setpriv", "--pdeathsig", "KILL", "java", f"-Xmx{self.heap_mb}m", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}",
                "-cp", f"{jars.folder()}/*", *args]

    # ---- the process -------------------------------------------------------------------------------

    def launch(self):
        """Starts it, formatted, without waiting."""
        assert self.process is None
        settings = str(self.folder / "settings")
        with open(self.folder / "output", "ab") as output:
            if not (self.folder / "metadata").exists():
                subprocess.run(self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings),
                               stdout=output, stderr=output, check=True)
            self.process = subprocess.Popen(self._java("kafka.Kafka", settings), stdout=output, stderr=output,
                                            start_new_session=True)

    def wait(self, seconds=60):
        """Waits until it answers, and knows of all brokers."""
        end = time.monotonic() + seconds
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < end, self.said()

    def _answers(self):
        with contextlib.suppress(KafkaException):
            return len(self.admin().list_topics(timeout=1).brokers) == len(self.peers)

    def start(self):
        self.launch()
        self.wait()
        return self

    def kill(self, signo=signal.SIGKILL):
        """Ends it at once, as a power failure does to a process; also a suspended one."""
        if self.process:
            self.process.send_signal(signo)
            self.process.wait(60)
            self.process = None

    def stop(self):
        self.kill(signal.SIGTERM)

    def restart(self):
        """Starts it again, at the same port with the same data."""
        self.kill()
        return self.start()

    def suspend(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def ended(self, seconds=60):
        """Waits until it has ended by itself; returns its exit status."""
        status = self.process.wait(seconds)
        self.process = None
        return status

    def said(self):
        return "".join(p.read_text(errors="replace")[-3000:] for p in (self.log, self.folder / "output") if p.exists())

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) >> 10

    def close(self):
        self._admin = None
        self.kill()
        if self.mounted:
            subprocess.run(["umount", "-l", self.data], check=True)
            self.mounted = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- the disk ----------------------------------------------------------------------------------

    def fill_disk(self, leave=0):
        """Fills the tmpfs, but for `leave` bytes."""
        assert self.mounted
        with open(self.data / "ballast", "wb", buffering=0) as f, contextlib.suppress(OSError):
            while f.write(bytes(65536)):
                pass
        with open(self.data / "ballast", "r+b") as f:
            f.truncate(max(0, f.seek(0, 2) - leave))

    def free_disk(self):
        (self.data / "ballast").unlink()

    # ---- clients -----------------------------------------------------------------------------------

    def client(self, listener="plain", **more):
        """A client's settings for librdkafka. A `_` in the names of `more` is a dot, `__` is a `_`."""
        found = {"bootstrap.servers": f"127.0.0.1:{self.ports[listener]}", "security.protocol": LISTENERS[listener]}
        if listener != "plain":
            found["ssl.ca.location"] = str(certificates() / "authority.pem")
        if listener == "sasl":
            found |= {"sasl.mechanism": "PLAIN", "sasl.username": USER, "sasl.password": PASSWORD}
        return found | dotted(more)

    def quiet(self, listener="plain", **more):
        """Settings of the tests' own clients: they connect soon, and say nothing while the broker is down."""
        return self.client(listener, reconnect_backoff_ms=50, reconnect_backoff_max_ms=200, log__level=0, **more)

    def admin(self):
        if not self._admin:
            self._admin = AdminClient(self.quiet())
        return self._admin

    def producer(self, **more):
        return Producer(self.quiet(enable_idempotence=True, linger_ms=0, **more))

    # ---- topics ------------------------------------------------------------------------------------

    def _done(self, futures):
        for future in futures.values():
            future.result(30)

    def partitions(self, topic):
        """Those that have a leader."""
        found = self.admin().list_topics(topic, timeout=10).topics[topic]
        return [] if found.error else [p.id for p in found.partitions.values() if p.leader >= 0]

    def create_topic(self, topic, partitions=1, copies=1, **config):
        """A `_` in the names of `config` is a dot."""
        self._done(self.admin().create_topics([NewTopic(
            topic, partitions, copies, config=dotted(config))]))
        wait_for(lambda: len(self.partitions(topic)) == partitions)
        return topic

    def delete_topic(self, topic):
        self._done(self.admin().delete_topics([topic]))
        wait_for(lambda: not self.partitions(topic))

    def deny(self, topic, operation=AclOperation.WRITE):
        """Denies one operation on a topic to all, until allow()."""
        self._done(self.admin().create_acls([AclBinding(*acl(topic, operation, AclPermissionType.DENY)),
                                             AclBinding(*acl(topic, AclOperation.ALL, AclPermissionType.ALLOW))]))
        wait_for(lambda: len(self._acls(topic)) == 2)

    def allow(self, topic):
        self._done(self.admin().delete_acls([self._any_acl(topic)]))
        wait_for(lambda: not self._acls(topic))

    def _any_acl(self, topic):
        return AclBindingFilter(*acl(topic, AclOperation.ANY, AclPermissionType.ANY))

    def _acls(self, topic):
        return self.admin().describe_acls(self._any_acl(topic)).result(30)

    def produce(self, topic, value, key=None, headers=None, partition=-1, timestamp=0, **settings):
        """Puts one message in; returns where it is. Raises KafkaException."""
        reports, producer = [], Producer(self.quiet(linger_ms=0, **settings))
        producer.produce(topic, value, key, partition, timestamp=timestamp, headers=headers,
                         on_delivery=lambda *said: reports.append(said))
        assert producer.flush(30) == 0
        error, message = reports[0]
        if error:
            raise KafkaException(error)
        return message.partition(), message.offset()

    def messages(self, topic, seconds=30):
        """All that is in the topic at present, by partition and offset."""
        consumer = Consumer(self.quiet(group_id="tests", enable_partition_eof=True, enable_auto_commit=False,
                                       fetch_wait_max_ms=10))
        with contextlib.closing(consumer):
            left = set(self.partitions(topic))
            assert left, f"no topic {topic}"
            consumer.assign([TopicPartition(topic, p, 0) for p in left])
            found, end = [], time.monotonic() + seconds
            while left:
                assert time.monotonic() < end, f"the end of {topic} not within {seconds} s"
                m = consumer.poll(1)
                if m and not m.error():
                    found.append(Message(m.partition(), m.offset(), m.key(), dict(m.headers() or ()), m.value(),
                                         m.timestamp()[1]))
                elif m and m.error().code() == KafkaError._PARTITION_EOF:
                    left.discard(m.partition())
                elif m:
                    raise KafkaException(m.error())
        return sorted(found, key=lambda m: (m.partition, m.offset))


class Cluster:
    """Three brokers. Its memory is three times a broker's."""

    def __init__(self, folder, count=3):
        peers = dict(zip(range(1, count + 1), free_ports(count)))
        self.brokers = [Broker(pathlib.Path(folder) / f"broker-{n}", node=n, peers=peers, heap_mb=256) for n in peers]
        self.address = ",".join(b.address for b in self.brokers)

    def start(self):
        for b in self.brokers:
            b.launch()
        for b in self.brokers:
            b.wait()
        return self

    def leader(self, topic, partition=0):
        """The broker that leads a partition."""
        alive = next(b for b in self.brokers if b.process)
        found = alive.admin().list_topics(topic, timeout=10).topics[topic]
        return self.brokers[found.partitions[partition].leader - 1]

    def close(self):
        with contextlib.ExitStack() as stack:
            for b in self.brokers:
                stack.callback(b.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
