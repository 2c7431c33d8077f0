// node slack_client.cjs API APP_TOKEN BOT_TOKEN: an app of the packages @slack/socket-mode and
// @slack/web-api, in the folder $REAL. It answers every message with a question and every press
// with the button's value: what it understands, the server under test says rightly.
const { createRequire } = require('node:module');

const load = createRequire(`${process.env.REAL}/client.cjs`);
const { SocketModeClient } = load('@slack/socket-mode');
const { WebClient } = load('@slack/web-api');

const [, , slackApiUrl, appToken, botToken] = process.argv;
const web = new WebClient(botToken, { slackApiUrl });
const socket = new SocketModeClient({ appToken, clientOptions: { slackApiUrl } });

socket.on('message', async ({ event, ack }) => {
  await ack();
  const button = { type: 'button', action_id: 'b0', value: 'n1:once', text: { type: 'plain_text', text: 'Once' } };
  await web.chat.postMessage({
    channel: event.channel,
    text: `you said ${event.text}`,
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'Run it?' } }, { type: 'actions', elements: [button] }],
  });
});
socket.on('interactive', async ({ body, ack }) => {
  await ack();
  const { channel, message, actions } = body;
  await web.chat.update({ channel: channel.id, ts: message.ts, text: `pressed ${actions[0].value}`, blocks: [] });
});
socket.on('slash_commands', async ({ body, ack }) => {
  await ack();
  await web.chat.postMessage({ channel: body.channel_id, text: `command ${body.command}` });
});
socket.start();
