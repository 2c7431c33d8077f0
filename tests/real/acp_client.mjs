// An editor on the official SDK of the Agent Client Protocol: starts an agent, opens a session, sends
// one prompt, answers its permissions, serves files, and prints each message in one line.
//
//   node acp_client.mjs [--cwd DIR] [--reject] [--cancel-after MS] [--load ID] [--prompt TEXT] -- AGENT ARG…
//
// SDK names the folder that `@agentclientprotocol/sdk` is installed in. Ends with 0 if the turn ended.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const sdk = `${process.env.SDK}/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js`;
const acp = await import(pathToFileURL(sdk).href);
const words = process.argv.slice(2);
const split = words.indexOf('--');
const [given, [program, ...args]] = [words.slice(0, split), words.slice(split + 1)];
const option = (name, otherwise) => (given.includes(name) ? given[given.indexOf(name) + 1] : otherwise);
const cwd = option('--cwd', process.cwd());
const print = (what, value) => console.log(what, JSON.stringify(value ?? null).slice(0, 300));

const agent = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
agent.on('exit', (code, signal) => print('exit', { code, signal }));
const { client, agent: calls } = acp.methods;
const editor = acp
  .client({ name: 'avocet-real-test' })
  .onRequest(client.session.requestPermission, async ({ params: { toolCall, options } }) => {
    print('permission', { title: toolCall.title, kinds: options.map((one) => one.kind) });
    const kind = given.includes('--reject') ? 'reject_once' : 'allow_once';
    const { optionId } = options.find((one) => one.kind === kind);
    return { outcome: { outcome: 'selected', optionId } };
  })
  .onNotification(client.session.update, async ({ params: { update } }) => {
    print(update.sessionUpdate, update.content ?? update);
  })
  .onRequest(client.fs.readTextFile, async ({ params: { path } }) => {
    print('read', path);
    return { content: await readFile(path, 'utf8') };
  })
  .onRequest(client.fs.writeTextFile, async ({ params: { path, content } }) => {
    print('write', path);
    await writeFile(path, content);
    return {};
  });

const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
try {
  await editor.connectWith(stream, async (connection) => {
    const ask = (method, params) => connection.request(method, params);
    const fs = { readTextFile: true, writeTextFile: true };
    const protocolVersion = acp.PROTOCOL_VERSION;
    print('initialize', await ask(calls.initialize, { protocolVersion, clientCapabilities: { fs } }));
    const load = option('--load');
    if (load) await ask(calls.session.load, { sessionId: load, cwd, mcpServers: [] });
    const sessionId = load ?? (await ask(calls.session.new, { cwd, mcpServers: [] })).sessionId;
    print('session', sessionId);
    const cancel = Number(option('--cancel-after', 0));
    if (cancel) setTimeout(() => connection.notify(calls.session.cancel, { sessionId }), cancel);
    const prompt = [{ type: 'text', text: option('--prompt', 'Say hello.') }];
    print('stop', (await ask(calls.session.prompt, { sessionId, prompt })).stopReason);
    print('list', (await ask(calls.session.list, { cwd })).sessions.map((one) => one.title));
  });
} catch (error) {
  print('error', { code: error?.code, message: error?.message, data: error?.data });
  process.exitCode = 1;
}
agent.stdin.end();
setTimeout(() => agent.kill(), 5000).unref();
