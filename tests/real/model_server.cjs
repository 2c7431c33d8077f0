// node model_server.cjs PORT: a model server with two answers. Asked to create the file, it
// proposes a command; to anything else, and after the command, it answers with a sentence.
const http = require('node:http');

const step = {
  type: 'cmd', message: 'I create the file.',
  data: { cwd: null, commands: [{ program: 'touch', args: ['made-by-chat'], requires: {} }], expected_effect: '' },
};
const sentence = (text) => ({ type: 'chat', message: `The model heard: ${text}`, data: { format: 'plain' } });

http.createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  if (request.method === 'GET') {
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ object: 'list', data: [{ id: 'mock', object: 'model' }] }));
  }
  const { messages } = JSON.parse(Buffer.concat(pieces));
  const text = (message) => (typeof message.content === 'string' ? message.content : JSON.stringify(message.content));
  const last = text(messages.at(-1));
  const answer = JSON.stringify(/\bcreate the file\b/.test(last) ? step : sentence(last.slice(0, 40)));
  response.setHeader('content-type', 'text/event-stream');
  const chunk = (delta, finish_reason = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  for (let at = 0; at < answer.length; at += 20) chunk({ content: answer.slice(at, at + 20) });
  chunk({}, 'stop');
  response.end('data: [DONE]\n\n');
}).listen(Number(process.argv[2]), '127.0.0.1');
