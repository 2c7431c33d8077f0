// node telegram_server.cjs PORT: the package telegram-test-api of the folder in $REAL. A bot calls
// http://127.0.0.1:PORT/bot<token>/METHOD; users write with POST /sendMessage and /sendCallback.
const { createRequire } = require('node:module');

const loaded = createRequire(`${process.env.REAL}/server.cjs`)('telegram-test-api');
const TelegramServer = loaded.default ?? loaded;
const port = Number(process.argv[2]);
const server = new TelegramServer({ host: '127.0.0.1', port, protocol: 'http', storage: 'RAM', storeTimeout: 600 });
server.start();
