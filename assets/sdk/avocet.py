"""Avocet from Python: sessions of one `avocet serve --stdio`, ops in and events out.

    with Avocet(["--model", "gpt-5"]) as avocet:
        session = avocet.open("/path/to/project")
        for event in session.ask("which tests fail?", decide=lambda question: "reject"):
            if event["event"] == "replied":
                print(event["message"])

The ops and events are those of `avocet serve --schema`. Needs nothing but Python 3.8.
"""
import itertools
import json
import queue
import subprocess
import threading


GONE = {"error": {"message": "the program has ended"}}


class AvocetError(Exception):
    """What the program refused, in its own words."""


class Avocet:
    def __init__(self, options=(), program="avocet"):
        command = [program, *options, "serve", "--stdio"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
        self.numbers = itertools.count(1)
        self.answers = {}
        self.sessions = {}
        self.lock = threading.Lock()
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()
        self.version = self.call("initialize")["version"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, method, **params):
        """Sends a request and returns its result."""
        number, answer = next(self.numbers), queue.Queue()
        self.answers[number] = answer
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            with self.lock:
                self.process.stdin.write(json.dumps(message) + "\n")
                self.process.stdin.flush()
        except (OSError, ValueError):
            self.ended = True
        if self.ended:
            answer.put(GONE)
        answer = answer.get()
        if "error" in answer:
            error = answer["error"]
            raise AvocetError(error.get("data") or error["message"])
        return answer["result"]

    def open(self, folder=None, resume=None):
        """Opens a session in a folder, or continues a saved one."""
        params = {"folder": folder, "resume": resume}
        given = {name: value for name, value in params.items() if value is not None}
        name = self.call("session.open", **given)["session"]
        return Session(self, name, self._events(name))

    def close(self):
        """Saves every session and ends the program."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        return self.process.wait()

    def _events(self, name):
        return self.sessions.setdefault(name, queue.Queue())

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            params = message.get("params", {})
            if "method" not in message:
                self.answers.pop(message["id"], queue.Queue()).put(message)
            elif message["method"] == "session.event":
                self._events(params["session"]).put(params["event"])
            elif message["method"] == "session.closed":
                self._events(params["session"]).put(None)
        self.ended = True
        for answer in list(self.answers.values()):
            answer.put(GONE)
        for events in list(self.sessions.values()):
            events.put(None)


class Session:
    def __init__(self, avocet, name, events):
        self.avocet, self.name, self.events = avocet, name, events

    def op(self, op, submit=None):
        """Gives an op to the session, such as "stop" or {"steer": {"text": "only the tests"}}."""
        extra = {} if submit is None else {"submit": submit}
        self.avocet.call("session.op", session=self.name, op=op, **extra)

    def __iter__(self):
        """The events from now on, until the session is closed."""
        return iter(self.events.get, None)

    def ask(self, text, decide=None):
        """Sends a message and yields the events of its turn. `decide` gets each question and returns
        a decision, such as "approve"; without it nothing is approved."""
        self.op({"submit": {"text": text}})
        for event in self:
            if event["event"] == "asked":
                decision = decide(event["question"]) if decide else "reject"
                decision = {"reject": {"word": None}} if decision == "reject" else decision
                self.op({"decide": {"ask": event["id"], "decision": decision}})
            yield event
            if event["event"] == "turn_ended":
                return

    def close(self):
        self.avocet.call("session.close", session=self.name)
