"""A server that takes only what the vendors' own types allow: a field more, or one that is required
and missing, is answered with a 400 that names it. Each conversation is a call of `exec`, one of
`file_read`, and an answer.

    strict_server.py PORT
"""

import http.server
import importlib
import json
import pkgutil
import sys

import anthropic
import openai
import typing_extensions
from pydantic import ConfigDict, TypeAdapter, ValidationError


def forbid_others(package):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and typing_extensions.is_typeddict(kind):
                kind.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


forbid_others(anthropic.types)
forbid_others(openai.types)

from anthropic.types import message_create_params as messages  # noqa: E402
from openai.types.chat import completion_create_params as chat  # noqa: E402
from openai.types.responses import response_create_params as responses  # noqa: E402

FORMATS = {
    "/messages": TypeAdapter(messages.MessageCreateParamsStreaming),
    "/chat/completions": TypeAdapter(chat.CompletionCreateParamsStreaming),
    "/responses": TypeAdapter(responses.ResponseCreateParamsStreaming),
}
CALLS = [("exec", {"program": "ls", "args": []}), ("file_read", {"path": "README.md"}), None]
WORDS, DONE = "I look first.", "All is as it should be."
count = 0


def chat_events(call, number):
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {"content": DONE}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        made = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        delta = {"content": WORDS, "reasoning_content": "hm", "tool_calls": [made]}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}
    yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [end]}


def message_events(call, number):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    blocks = [({"type": "text", "text": ""}, [{"type": "text_delta", "text": WORDS if call else DONE}])]
    if call:
        thought = {"type": "thinking", "thinking": "", "signature": ""}
        signed = {"type": "signature_delta", "signature": "c2ln"}
        blocks.insert(0, (thought, [{"type": "thinking_delta", "thinking": "hm"}, signed]))
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}}
        blocks.append((use, [{"type": "input_json_delta", "partial_json": json.dumps(call[1])}]))
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if call else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def response_events(call, number):
    part = {"type": "output_text", "text": WORDS if call else DONE, "annotations": []}
    said = {"id": f"msg_{number}", "type": "message", "status": "completed", "role": "assistant"}
    items = [{**said, "content": [part]}]
    if call:
        items[0]["phase"] = "commentary"
        items.append({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "e"})
        made = {"type": "function_call", "call_id": f"call_{number}", "name": call[0]}
        items.append({**made, "id": f"fc_{number}", "arguments": json.dumps(call[1])})
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    response = {"id": "r", "object": "response", "status": "completed", "output": items}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {"type": "response.completed", "response": {**response, "usage": usage}}


EVENTS = {"/messages": message_events, "/chat/completions": chat_events, "/responses": response_events}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, kind, text):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        models = [{"id": name, "object": "model"} for name in ("gpt-5", "claude-sonnet-4-5")]
        self.answer(200, "application/json", json.dumps({"object": "list", "data": models}))

    def do_POST(self):
        global count
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        kind = next((end for end in FORMATS if self.path.endswith(end)), None)
        if kind is None:
            return self.answer(404, "application/json", "{}")
        try:
            FORMATS[kind].validate_python(body)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))[-200:]
            print(f"refused {kind}: {place}: {first['msg']}", flush=True)
            message = {"message": f"{place}: {first['msg']}", "type": "invalid_request_error"}
            return self.answer(400, "application/json", json.dumps({"error": message}))
        print(f"taken {kind}", flush=True)
        events = EVENTS[kind](CALLS[count % len(CALLS)], count)
        count += 1
        lines = (f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.answer(200, "text/event-stream", "".join(lines) + "data: [DONE]\n\n")


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
