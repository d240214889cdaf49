"""Plays a short session with a language server and prints what an editor would show.

usage: session.py SERVER FILE [LINE:COLUMN...]     positions to hover over, counted from 1
"""

import json
import subprocess
import sys


def framed(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def messages(data):
    """The messages of a stream, each after its header."""
    while data:
        header, _, rest = data.partition(b"\r\n\r\n")
        length = int(header.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        yield json.loads(rest[:length])
        data = rest[length:]


def start_of(item):
    start = item["range"]["start"]
    return f"{start['line'] + 1}:{start['character'] + 1}"


def main():
    server, path = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    document = {"uri": "test:///model.mlir"}
    calls = [
        {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen",
         "params": {"textDocument": {**document, "languageId": "mlir", "version": 1, "text": text}}},
    ]
    hovers = {}
    for number, position in enumerate(sys.argv[3:], 1):
        line, column = map(int, position.split(":"))
        hovers[number] = position
        calls.append({"id": number, "method": "textDocument/hover",
                      "params": {"textDocument": document, "position": {"line": line - 1, "character": column - 1}}})
    calls += [{"id": 1000, "method": "shutdown"}, {"method": "exit"}]
    result = subprocess.run([server], input=b"".join(map(framed, calls)), capture_output=True, timeout=50)
    for message in messages(result.stdout):
        if message.get("id") == 0:
            info = message["result"]
            print("server", info["serverInfo"]["name"], "hovers" if info["capabilities"]["hoverProvider"] else "is silent")
        elif message.get("method") == "textDocument/publishDiagnostics":
            found = message["params"]["diagnostics"]
            print(len(found), "diagnostics")
            for item in found:
                print(f"{start_of(item)}: {item['message']}")
                for related in item.get("relatedInformation", []):
                    print(f"  {start_of(related['location'])}: {related['message']}")
        elif message.get("id") in hovers:
            shown = message["result"]
            print(f"hover {hovers[message['id']]}:", shown["contents"]["value"] if shown else "nothing")
        elif message.get("id") == 1000:
            print("shut down")
    print("exit code", result.returncode)


main()
