// node slack_socket.cjs PORT EMULATOR: Socket Mode in front of the package emulate, which has none.
// Calls of the Web API go to the emulator; apps.connections.open and the socket are served here with
// the package ws of the folder $REAL. A user writes with POST /human {channel, text, thread} and
// presses with POST /press {channel, ts, thread, value}: that goes over the socket until it is
// acknowledged. GET /posted tells what the app sent, and what the emulator answered.
const http = require('node:http');
const { createRequire } = require('node:module');

const { WebSocketServer } = createRequire(`${process.env.REAL}/server.cjs`)('ws');
const [, , port, emulator] = process.argv;
const BOT = 'test_token_admin';
const HUMAN = 'U0HUMAN';

let socket = null;
let number = 0;
const waiting = new Map();
const posted = [];

const body = (request) => new Promise((resolve) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => resolve(Buffer.concat(pieces)));
});

function deliver(type, payload) {
  const envelope_id = `e${++number}`;
  const frame = JSON.stringify({ envelope_id, type, accepts_response_payload: false, payload });
  waiting.set(envelope_id, frame);
  socket?.send(frame);
  return { ok: true };
}

async function human({ channel, text, thread }) {
  const headers = { authorization: `Bearer ${BOT}`, 'content-type': 'application/json' };
  const args = JSON.stringify({ channel, text, thread_ts: thread });
  const answer = await fetch(`${emulator}/api/chat.postMessage`, { method: 'POST', headers, body: args });
  const { ts } = await answer.json();
  const event = { type: 'message', channel, channel_type: 'channel', user: HUMAN, text, ts };
  if (thread) event.thread_ts = thread;
  deliver('events_api', { type: 'event_callback', event_id: `Ev${ts}`, event });
  // A mention is delivered a second time, as what it is.
  return { ts, ...deliver('events_api', { type: 'event_callback', event: { ...event, type: 'app_mention' } }) };
}

const press = ({ channel, ts, thread, value }) => deliver('interactive', {
  type: 'block_actions', user: { id: HUMAN, username: 'ann' }, channel: { id: channel },
  container: { type: 'message', message_ts: ts, channel_id: channel, thread_ts: thread },
  trigger_id: `t${number}`, response_url: `http://127.0.0.1:${port}/response`,
  actions: [{ type: 'button', action_id: 'b0', value }],
});

const server = http.createServer(async (request, response) => {
  const sent = await body(request);
  const json = (value) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(value));
  };
  if (request.url === '/human') return json(await human(JSON.parse(sent)));
  if (request.url === '/press') return json(press(JSON.parse(sent)));
  if (request.url === '/response') return json({ ok: true });
  if (request.url === '/posted') return json({ posted, waiting: waiting.size });
  if (request.url === '/break') {
    socket?.terminate();
    return json({ ok: true });
  }
  if (request.url === '/api/apps.connections.open') {
    return json({ ok: true, url: `ws://127.0.0.1:${port}/link?ticket=1` });
  }
  const { host, authorization, ...headers } = request.headers;
  const given = await fetch(emulator + request.url, {
    method: request.method,
    headers: { ...headers, authorization: `Bearer ${BOT}` },
    body: sent.length > 0 ? sent : undefined,
  });
  const answer = Buffer.from(await given.arrayBuffer());
  if (request.url.includes('/api/chat.')) {
    const method = request.url.split('/api/')[1];
    posted.push({ method, args: JSON.parse(sent), answer: JSON.parse(answer) });
  }
  response.statusCode = given.status;
  response.setHeader('content-type', given.headers.get('content-type') ?? 'text/plain');
  response.end(answer);
});

new WebSocketServer({ server, path: '/link' }).on('connection', (connected) => {
  socket = connected;
  connected.send(JSON.stringify({ type: 'hello', num_connections: 1 }));
  for (const frame of waiting.values()) connected.send(frame);
  connected.on('message', (text) => waiting.delete(JSON.parse(text).envelope_id));
});
server.listen(Number(port), '127.0.0.1');
