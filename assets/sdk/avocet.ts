/**
 * Avocet from TypeScript: sessions of one `avocet serve --stdio`, ops in and events out.
 *
 *     const avocet = await Avocet.start(["--model", "gpt-5"]);
 *     const session = await avocet.open("/path/to/project");
 *     for await (const event of session.ask("which tests fail?", () => "reject"))
 *       if (event.event === "replied") console.log(event.message);
 *     await avocet.close();
 *
 * The ops and events are those of `avocet serve --schema`. Needs nothing but Node 18 or Bun.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

export type Json = any;
export type Decide = (question: Json) => Json | Promise<Json>;

/** Events of one session that wait to be read. */
class Events {
  private waiting: Json[] = [];
  private reader?: (event: Json) => void;

  push(event: Json): void {
    if (!this.reader) return void this.waiting.push(event);
    this.reader(event);
    this.reader = undefined;
  }

  next(): Promise<Json> {
    if (this.waiting.length > 0) return Promise.resolve(this.waiting.shift());
    return new Promise((resolve) => (this.reader = resolve));
  }
}

export class Avocet {
  private numbers = 0;
  private answers = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  private sessions = new Map<string, Events>();
  private ended: Promise<number | null>;
  private isGone = false;
  private process: ChildProcess;

  private constructor(options: string[], program: string) {
    const stdio: ["pipe", "pipe", "inherit"] = ["pipe", "pipe", "inherit"];
    this.process = spawn(program, [...options, "serve", "--stdio"], { stdio });
    createInterface({ input: this.process.stdout! }).on("line", (line) => this.read(JSON.parse(line)));
    this.ended = new Promise((resolve) => this.process.on("close", resolve));
    void this.ended.then(() => this.end());
    this.process.on("error", () => this.end());
    // A program that has ended reads no more; what waits for it is told so below.
    this.process.stdin!.on("error", () => {});
  }

  static async start(options: string[] = [], program = "avocet"): Promise<Avocet> {
    const avocet = new Avocet(options, program);
    await avocet.call("initialize");
    return avocet;
  }

  /** Sends a request and returns its result. */
  call(method: string, params: Json = {}): Promise<Json> {
    if (this.isGone) return Promise.reject(new Error("the program has ended"));
    const id = ++this.numbers;
    const answer = new Promise<Json>((resolve, reject) => this.answers.set(id, { resolve, reject }));
    this.process.stdin!.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return answer;
  }

  /** Opens a session in a folder, or continues a saved one. */
  async open(folder?: string, resume?: string): Promise<Session> {
    const { session } = await this.call("session.open", { folder, resume });
    return new Session(this, session, this.events(session));
  }

  /** Saves every session and ends the program. */
  close(): Promise<number | null> {
    this.process.stdin!.end();
    return this.ended;
  }

  private events(session: string): Events {
    if (!this.sessions.has(session)) this.sessions.set(session, new Events());
    return this.sessions.get(session)!;
  }

  private read(message: Json): void {
    const answer = message.method ? undefined : this.answers.get(message.id);
    this.answers.delete(message.id);
    if (message.error) answer?.reject(new Error(String(message.error.data ?? message.error.message)));
    else answer?.resolve(message.result);
    if (message.method === "session.event") this.events(message.params.session).push(message.params.event);
    if (message.method === "session.closed") this.events(message.params.session).push(undefined);
  }

  private end(): void {
    this.isGone = true;
    for (const { reject } of this.answers.values()) reject(new Error("the program has ended"));
    for (const events of this.sessions.values()) events.push(undefined);
  }
}

export class Session {
  readonly avocet: Avocet;
  readonly name: string;
  private waiting: Events;

  constructor(avocet: Avocet, name: string, events: Events) {
    this.avocet = avocet;
    this.name = name;
    this.waiting = events;
  }

  /** Gives an op to the session, such as "stop" or { steer: { text: "only the tests" } }. */
  op(op: Json, submit?: number): Promise<Json> {
    return this.avocet.call("session.op", { session: this.name, op, submit });
  }

  /** The events from now on, until the session is closed. */
  async *events(): AsyncGenerator<Json> {
    for (let event = await this.waiting.next(); event !== undefined; event = await this.waiting.next()) yield event;
  }

  /** Sends a message and yields the events of its turn. `decide` gets each question and returns a
   *  decision, such as "approve"; without it nothing is approved. */
  async *ask(text: string, decide?: Decide): AsyncGenerator<Json> {
    await this.op({ submit: { text } });
    for await (const event of this.events()) {
      if (event.event === "asked") {
        const decision = (await decide?.(event.question)) ?? "reject";
        const sent = decision === "reject" ? { reject: { word: null } } : decision;
        await this.op({ decide: { ask: event.id, decision: sent } });
      }
      yield event;
      if (event.event === "turn_ended") return;
    }
  }

  close(): Promise<Json> {
    return this.avocet.call("session.close", { session: this.name });
  }
}
