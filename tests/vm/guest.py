# SPDX-License-Identifier: GPL-2.0
"""A machine under software emulation that runs its init and powers itself off. In: the emulator's
command, with a kernel and an initial file system. Out: a folder that the guest writes over 9p, and
the console."""
import shutil
import signal
import subprocess
import time

from netns import testbed

CONSOLE_LINES = 60


def install(source, root, name):
    target = root / name.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def archive(root):
    """A folder as an archive for the kernel's initial file system."""
    return subprocess.run("find . | cpio --quiet -o -H newc", shell=True, cwd=root, check=True,
                          capture_output=True).stdout


class Guest:
    """One VM, from its start until it has powered itself off; before that it must leave a file
    `done` in its folder `out`. `slot` is the place of the card by which it writes there."""

    def __init__(self, name, folder, command, slot=None):
        self.name = name
        self.console = folder / "console"
        self.out = folder / "out"
        self.out.mkdir(parents=True, exist_ok=True)
        self.began = time.monotonic()
        self.seconds = None
        with self.console.open("wb") as console:
            self.popen = subprocess.Popen(
                [*testbed.DIE_WITH_PARENT, *command, "-nographic", "-no-reboot", "-fsdev",
                 f"local,id=out,path={self.out},security_model=none", "-device",
                 "virtio-9p-pci,fsdev=out,mount_tag=out" + (f",addr={slot}" if slot else "")],
                stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT)

    def finish(self, seconds):
        """Waits for the end, up to this time after the start, and then ends a VM that hangs.
        Returns the fault, with the console's end, or None."""
        if self.seconds is None:
            try:
                self.popen.wait(max(0, self.began + seconds - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.end()
            self.seconds = time.monotonic() - self.began
        if (self.out / "done").exists():
            return None
        lines = self.console.read_text(errors="replace").replace("\r", "").splitlines()
        how = "hung, and was ended" if self.popen.returncode == -signal.SIGKILL else "ended early"
        return "\n".join([f"{self.name}: the VM {how}; its console:", *lines[-CONSOLE_LINES:]])

    def end(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
