# SPDX-License-Identifier: GPL-2.0
"""Two cables: the generator feeds one, on which a consumer listens. The other leads from the sensor
to its collector. The generator and the first cable's receiving side in the kernel share one CPU,
the consumer and its export the other."""
import collections
import subprocess

from netns import testbed

GENERATE = testbed.BUILD / "tests/generate"
GENERATOR_CPU, CONSUMER_CPU = 0, 1
COLLECTOR = "10.9.0.2:5600"

# `cpu_s` is the generator's run time with the kernel's receiving side, which runs in its place.
# `idle` counts the program's runs that were too early for a frame, `late` the frames it never came
# to.
Sent = collections.namedtuple("Sent", "frames seconds cpu_s idle late")


def on_cpu(cpu, *command):
    return ["taskset", "-c", str(cpu), *command]


class Cable:
    def __init__(self, stack, directory):
        self.stack = stack
        self.directory = directory
        self.keys = testbed.Keys(directory)
        self.keys.sensor("bench")
        self.written = directory / "written.pcapng"  # by the collector
        self.generator, self.sensor, self.collector = (self._namespace() for _ in range(3))
        testbed.veth(self.generator, "gen0", self.sensor, "cap0")
        testbed.veth(self.sensor, "exp0", self.collector, "exp1")
        self.sensor.run("ip", "addr", "add", "10.9.0.1/24", "dev", "exp0")
        self.collector.run("ip", "addr", "add", "10.9.0.2/24", "dev", "exp1")

    def _namespace(self):
        ns = testbed.Namespace()
        self.stack.callback(ns.close)
        return ns

    def attached(self, ns, what, interface):
        """Attaches a program of generate.bpf.c. Returns a handle that detaches it."""
        p = ns.start(GENERATE, "--attach", what, interface, stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE)

        def close():
            if p.poll() is None:
                p.stdin.close()
                p.wait()
                p.stdout.close()
        self.stack.callback(close)
        if p.stdout.readline() != "ready\n":
            raise RuntimeError(f"the bench cannot attach its program '{what}' to {interface}")
        return close

    def start_generator(self, trace, rate, seconds, *more, under=()):
        """`under`: a command that runs it."""
        p = self.generator.start(*under, *on_cpu(GENERATOR_CPU, GENERATE, "gen0", trace, rate,
                                                 seconds, *more), stdout=subprocess.PIPE)
        self.stack.callback(lambda: p.poll() is None and p.kill())
        return p

    @staticmethod
    def sent(popen):
        """Waits for a generator's final report."""
        out = popen.communicate()[0].split()
        if popen.returncode:
            raise RuntimeError(f"the generator ended with {popen.returncode}")
        return Sent(int(out[0]), int(out[1]) / 1e9, int(out[2]) / 1e9, *map(int, out[3:]))

    def generate(self, trace, rate, seconds, *more, under=()):
        """Sends the trace's frames over and over; rate 0: as fast as possible."""
        return self.sent(self.start_generator(trace, rate, seconds, *more, under=under))
