// node -r ./loopback.cjs SERVER: whatever the server would listen on, it listens on 127.0.0.1 only.
const { Server } = require('node:net');

const HOST = '127.0.0.1';
const listen = Server.prototype.listen;

Server.prototype.listen = function (first, ...rest) {
  const isPort = typeof first === 'number' || /^\d+$/.test(String(first));
  if (first !== null && typeof first === 'object' && first.path === undefined && first.fd === undefined) {
    return listen.call(this, { ...first, host: HOST }, ...rest);
  }
  if (isPort) {
    const others = typeof rest[0] === 'string' ? rest.slice(1) : rest;
    return listen.call(this, first, HOST, ...others);
  }
  return listen.call(this, first, ...rest);
};
