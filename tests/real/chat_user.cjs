// node chat_user.cjs telegram|slack ADDRESS FOLDER: a user who talks with Avocet over an emulator of
// the service. Prints what was tried; the first thing that does not happen is the end.
//   first    a question, an answer; a proposed command, approved by its button
//   second   after a restart: one answer to a new message, and none more to the old ones
const { existsSync } = require('node:fs');

const [, , service, address, folder, part] = process.argv;
const PATIENCE = 20_000;
const TOKEN = '1:real-secret';
const CHANNEL = 'C000000001';

async function call(path, body) {
  const options = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(address + path, options);
  return answer.json();
}

const ann = { id: 1, first_name: 'Ann', username: 'ann', is_bot: false };
const chat = { id: 1, type: 'private', first_name: 'Ann', username: 'ann' };
let thread;
let number = 0;

// Each service: how the user writes and presses, and what the chat shows: id, text, buttons.
const services = {
  telegram: {
    say: (text) => call('/sendMessage', { botToken: TOKEN, from: ann, chat, text, date: Math.floor(Date.now() / 1000) }),
    press: (message, data) => call('/sendCallback', {
      botToken: TOKEN, id: String(++number), from: ann, chat_instance: '1', data,
      message: { message_id: message.id, chat, from: ann, date: 1, text: message.text },
    }),
    async shown() {
      const { result } = await call('/getUpdatesHistory', { token: TOKEN });
      return result.filter(({ message }) => message && !message.from).map(({ messageId, message }) => ({
        id: messageId,
        text: message.text ?? '',
        buttons: (message.reply_markup?.inline_keyboard ?? []).flat().map(({ callback_data }) => callback_data),
      }));
    },
  },
  slack: {
    async say(text) {
      const sent = await call('/human', { channel: CHANNEL, text: `<@U000000001> ${text}`, thread });
      thread ??= sent.ts;
    },
    press: (message, value) => call('/press', { channel: CHANNEL, ts: message.id, thread, value }),
    async shown() {
      const { posted } = await call('/posted');
      const messages = new Map();
      for (const { args, answer } of posted) {
        const id = args.ts ?? answer.ts;
        const actions = (args.blocks ?? []).flatMap((block) => (block.type === 'actions' ? block.elements : []));
        messages.set(id, { id, text: args.text, buttons: actions.map(({ value }) => value) });
      }
      return [...messages.values()];
    },
  },
};
const { say, press, shown } = services[service];

async function waitFor(what, find) {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const messages = await shown();
    const found = await find(messages);
    if (found) {
      console.log(`${service}: ${what}`);
      return found;
    }
    if (Date.now() > until) {
      console.log(`${service}: never: ${what}\n${JSON.stringify(messages, null, 1)}`);
      process.exit(1);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// Markup may put signs before punctuation.
const heard = (word) => ({ text }) => text.includes('heard') && text.includes(word);

async function first() {
  await say('greetings');
  await waitFor('a message is answered', (messages) => messages.find(heard('greetings')));
  await say('create the file');
  const question = await waitFor('a command is a question with buttons', (messages) =>
    messages.find(({ buttons }) => buttons.length > 0));
  if (existsSync(`${folder}/made-by-chat`)) throw new Error('it ran unasked');
  await press(question, question.buttons[0]);
  await waitFor('the approved command ran', () => existsSync(`${folder}/made-by-chat`));
  // The emulator of Telegram keeps the buttons of a text that is replaced without them.
  await waitFor('the question is closed', (messages) =>
    messages.some(({ id, text }) => id === question.id && text.includes('Approved')));
  await press(question, question.buttons[0]);
}

async function second() {
  await say('welcome');
  await waitFor('a message after a restart is answered', (messages) => messages.find(heard('welcome')));
  const messages = await shown();
  for (const word of ['greetings', 'welcome']) {
    const count = messages.filter(heard(word)).length;
    if (service === 'telegram' && count !== 1) throw new Error(`${count} answers to ${word}`);
  }
}

(part === 'second' ? second() : first()).catch((error) => {
  console.error(error);
  process.exit(1);
});
