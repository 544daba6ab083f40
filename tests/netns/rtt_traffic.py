# SPDX-License-Identifier: GPL-2.0
"""TCP connections between two namespaces. `serve` listens on ports of any address until the input
ends. `fetch` connects several times to each port of each address, and prints each connection's
ends."""
import asyncio
import json
import sys

REQUEST, ANSWER = b"x" * 700, b"y" * 20000
AT_ONCE = 12


async def answer(reader, writer):
    try:
        await reader.readexactly(len(REQUEST))
        writer.write(ANSWER)
        await writer.drain()
    finally:
        writer.close()


async def serve(ports):
    for port in ports:
        await asyncio.start_server(answer, ["0.0.0.0", "::"], port)
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def fetch(gate, address, port):
    async with gate:
        reader, writer = await asyncio.open_connection(address, port)
        client = writer.get_extra_info("sockname")
        writer.write(REQUEST)
        got = await reader.read(-1)
        writer.close()
        assert len(got) == len(ANSWER), len(got)
        return [client[0], client[1], address, port]


async def fetch_all(ports, times, addresses):
    gate = asyncio.Semaphore(AT_ONCE)
    print(json.dumps(await asyncio.gather(*(fetch(gate, address, port) for _ in range(times)
                                            for port in ports for address in addresses))))


if __name__ == "__main__":
    first, last = map(int, sys.argv[2].split("-"))
    if sys.argv[1] == "serve":
        asyncio.run(serve(range(first, last + 1)))
    else:
        asyncio.run(fetch_all(range(first, last + 1), int(sys.argv[3]), sys.argv[4:]))
