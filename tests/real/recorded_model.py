"""A model server that gives the recorded replies of a task, one for each request, as chat completions
with the tokens they would take. Prints its port.

    recorded_model.py REPLIES [STATUS]

With STATUS every request fails with it, and with 0 it gets no answer. A request without the key `sk-test` is refused.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

replies = Path(sys.argv[1]).read_text(encoding="utf-8").split("\n---\n")
status = int(sys.argv[2]) if len(sys.argv) > 2 else 200
USAGE = {"prompt_tokens": 1200, "completion_tokens": 80, "prompt_tokens_details": {"cached_tokens": 1000}}


class Server(BaseHTTPRequestHandler):
    def answer(self, code, kind, body):
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        models = {"object": "list", "data": [{"id": "recorded", "object": "model"}]}
        self.answer(200, "application/json", json.dumps(models).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        if status == 0:
            # Until the client goes away.
            self.rfile.read()
            return
        code = status if self.headers.get("authorization") == "Bearer sk-test" else 401
        if code != 200:
            return self.answer(code, "application/json", b'{"error":{"message":"no"}}')
        chunks = [
            {"choices": [{"index": 0, "delta": {"content": replies.pop(0)}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": USAGE},
        ]
        lines = [json.dumps(chunk) for chunk in chunks] + ["[DONE]"]
        self.answer(200, "text/event-stream", "".join(f"data: {line}\n\n" for line in lines).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Server)
print(server.server_port, flush=True)
server.serve_forever()
