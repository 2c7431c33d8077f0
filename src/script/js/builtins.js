// What scripts may use besides the language itself: paths, timers, texts, addresses, files and
// programs. What reaches the outside is a call of the host: a file or a program is a step.
(function (host, hostNow, randomBytes, folder, platform, environment) {
  'use strict';
  const asText = String;

  // ---- paths ----

  function normal(text) {
    const parts = [];
    for (const part of text.split('/')) {
      if (part === '' || part === '.') continue;
      if (part === '..' && parts.length > 0 && parts[parts.length - 1] !== '..') parts.pop();
      else if (part !== '..' || text[0] !== '/') parts.push(part);
    }
    const joined = (text[0] === '/' ? '/' : '') + parts.join('/');
    return joined === '' ? '.' : joined + (text.endsWith('/') && parts.length > 0 ? '/' : '');
  }

  function full(...parts) {
    let at = '';
    for (const part of parts.map(asText).reverse()) {
      if (part === '') continue;
      at = at === '' ? part : part + '/' + at;
      if (part[0] === '/') break;
    }
    const all = normal(at[0] === '/' ? at : (folder() || '/') + '/' + at);
    return all.length > 1 ? all.replace(/\/$/, '') : all;
  }

  const path = {
    sep: '/',
    delimiter: ':',
    basename(text, end) {
      const name = asText(text).replace(/\/+$/, '').split('/').pop();
      return end && name !== end && name.endsWith(end) ? name.slice(0, -end.length) : name;
    },
    dirname(text) {
      const trimmed = asText(text).replace(/(.)\/+$/, '$1');
      const at = trimmed.lastIndexOf('/');
      if (at < 0) return '.';
      return at === 0 ? '/' : trimmed.slice(0, at).replace(/(.)\/+$/, '$1');
    },
    extname(text) {
      const name = path.basename(text);
      const at = name.lastIndexOf('.');
      return at <= 0 ? '' : name.slice(at);
    },
    join: (...parts) => normal(parts.map(asText).filter((part) => part !== '').join('/')),
    normalize: (text) => normal(asText(text)),
    isAbsolute: (text) => asText(text)[0] === '/',
    resolve: full,
    relative(from, to) {
      const [a, b] = [from, to].map((text) => full(text).split('/').filter(Boolean));
      let same = 0;
      while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
      return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/');
    },
    parse(text) {
      const [root, dir] = [asText(text)[0] === '/' ? '/' : '', path.dirname(text)];
      const [base, ext] = [path.basename(text), path.extname(text)];
      const name = ext === '' ? base : base.slice(0, -ext.length);
      return { root, dir: dir === '.' && !asText(text).startsWith('.') ? '' : dir, base, ext, name };
    },
    format(parts) {
      const base = parts.base || (parts.name || '') + (parts.ext || '');
      const dir = parts.dir || parts.root || '';
      return dir === '' || dir.endsWith('/') ? dir + base : dir + '/' + base;
    },
  };

  // ---- timers ----

  let serial = 0;
  const stopped = new Set();
  const open = new Set();

  function setTimeout(work, time, ...args) {
    const id = ++serial;
    open.add(id);
    host('#pause')(Math.max(0, Number(time) || 0)).then(() => {
      open.delete(id);
      if (!stopped.delete(id)) work(...args);
    });
    return id;
  }

  function clearTimeout(id) {
    if (open.has(id)) stopped.add(id);
  }

  // ---- texts and bytes ----

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') {
      const escaped = encodeURIComponent(asText(text).toWellFormed());
      const bytes = [];
      for (let at = 0; at < escaped.length; at += 1) {
        if (escaped[at] !== '%') bytes.push(escaped.charCodeAt(at));
        else {
          bytes.push(parseInt(escaped.slice(at + 1, at + 3), 16));
          at += 2;
        }
      }
      return new Uint8Array(bytes);
    }
  }

  class TextDecoder {
    get encoding() { return 'utf-8'; }
    decode(bytes = []) {
      const view = new Uint8Array(bytes.buffer ? bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) : bytes);
      let out = '';
      for (let at = 0; at < view.length; ) {
        const byte = view[at];
        const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        const part = Array.from(view.slice(at, at + length), (it) => '%' + it.toString(16).padStart(2, '0'));
        try {
          out += decodeURIComponent(part.join(''));
          at += length;
        } catch {
          out += '\ufffd';
          at += 1;
        }
      }
      return out;
    }
  }

  function structuredClone(value, seen = new Map()) {
    if (typeof value === 'function') throw new TypeError('a function cannot be cloned');
    if (value === null || typeof value !== 'object') return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => (seen.set(value, copy), copy);
    const inner = (it) => structuredClone(it, seen);
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (ArrayBuffer.isView(value)) return keep(value.slice());
    if (value instanceof Map) {
      const copy = keep(new Map());
      value.forEach((it, key) => copy.set(inner(key), inner(it)));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      value.forEach((it) => copy.add(inner(it)));
      return copy;
    }
    const copy = keep(Array.isArray(value) ? [] : {});
    for (const key of Object.keys(value)) copy[key] = inner(value[key]);
    return copy;
  }

  const crypto = Object.freeze({
    getRandomValues(list) {
      const bytes = randomBytes(list.byteLength);
      new Uint8Array(list.buffer, list.byteOffset, list.byteLength).set(bytes);
      return list;
    },
    randomUUID() {
      const bytes = randomBytes(16);
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    },
  });

  // ---- addresses ----

  class URLSearchParams {
    constructor(start = '') {
      const text = typeof start === 'string' ? start.replace(/^\?/, '') : null;
      const word = (part) => decodeURIComponent(part.replace(/\+/g, ' '));
      if (text === null) this.pairs = Object.entries(start).map(([name, value]) => [name, asText(value)]);
      else this.pairs = text.split('&').filter(Boolean).map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [word(part), ''] : [word(part.slice(0, at)), word(part.slice(at + 1))];
      });
    }
    get(name) { const found = this.pairs.find((pair) => pair[0] === name); return found ? found[1] : null; }
    getAll(name) { return this.pairs.filter((pair) => pair[0] === name).map((pair) => pair[1]); }
    has(name) { return this.get(name) !== null; }
    append(name, value) { this.pairs.push([name, asText(value)]); }
    delete(name) { this.pairs = this.pairs.filter((pair) => pair[0] !== name); }
    set(name, value) { this.delete(name); this.append(name, value); }
    entries() { return this.pairs[Symbol.iterator](); }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&'); }
  }

  class URL {
    constructor(text, base) {
      const form = /^([a-z][a-z0-9+.-]*:)\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^:/?#]*)(?::(\d+))?([^?#]*)(\?[^#]*)?(#.*)?$/i;
      let found = form.exec(asText(text));
      if (found === null && base !== undefined) {
        const from = new URL(base);
        const below = asText(text)[0] === '/' ? asText(text) : from.pathname.replace(/[^/]*$/, '') + text;
        found = form.exec(from.origin + below);
      }
      if (found === null) throw new TypeError('`' + text + '` is not an address');
      const [, protocol, username = '', password = '', host, port = '', way, search = '', hash = ''] = found;
      Object.assign(this, { protocol: protocol.toLowerCase(), username, password, hostname: host.toLowerCase(), port });
      Object.assign(this, { pathname: normal(way || '/'), search, hash, searchParams: new URLSearchParams(search) });
    }
    get host() { return this.hostname + (this.port ? ':' + this.port : ''); }
    get origin() { return this.protocol + '//' + this.host; }
    get href() {
      const query = this.searchParams.toString();
      return this.origin + this.pathname + (query ? '?' + query : '') + this.hash;
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }

  // ---- programs and files, each as a step ----

  function promised(work) {
    return (...args) => {
      const callback = args.findLast((arg) => typeof arg === 'function');
      const given = work(...args.filter((arg) => typeof arg !== 'function'));
      if (callback === undefined) return given;
      given.then((out) => callback(null, out.stdout, out.stderr), (error) => callback(error, error.stdout ?? '', error.stderr ?? error.message));
      return {};
    };
  }

  const order = (program, args) => ({ program: asText(program), args: Array.isArray(args) ? args.map(asText) : [], check: false });
  const outcome = ({ program, args }) => ({ code, stdout, stderr }) => {
    if (code === 0) return { stdout, stderr };
    throw Object.assign(new Error('Command failed: ' + [program, ...args].join(' ') + '\n' + stderr), { code, status: code, stdout, stderr });
  };
  const started = (program, args) => host('#exec')(order(program, args)).then(outcome(order(program, args)));
  const startedNow = (program, args) => outcome(order(program, args))(hostNow('#exec', order(program, args))).stdout;
  const child_process = {
    exec: promised((command) => started('sh', ['-c', asText(command)])),
    execFile: promised(started),
    execSync: (command) => startedNow('sh', ['-c', asText(command)]),
    execFileSync: startedNow,
    spawnSync: (program, args) => {
      const { code, ...streams } = hostNow('#exec', order(program, args));
      return { status: code, ...streams };
    },
    spawn: () => { throw new Error('`spawn` is not available here; use `execFile` or `spawnSync`'); },
  };
  const constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 };
  // Each with the directive that does it, and what that takes.
  const steps = {
    readFile: ['#readFile', (path) => asText(path)],
    writeFile: ['#writeFile', (path, content) => ({ path: asText(path), content: asText(content) })],
    readdir: ['#listFilenames', (dir) => ({ dir: asText(dir), recursive: false })],
  };
  const files = { constants, access: (path) => started('test', ['-e', path]).then(() => undefined) };
  const called = (work) => (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== 'function') return work(...args);
    work(...args.slice(0, -1)).then((value) => callback(null, value), callback);
  };
  const fs = {
    constants,
    promises: files,
    access: called(files.access),
    accessSync: (path) => void startedNow('test', ['-e', path]),
    existsSync: (path) => hostNow('#exec', order('test', ['-e', path])).code === 0,
  };
  for (const [name, [directive, taken]] of Object.entries(steps)) {
    files[name] = (...args) => host(directive)(taken(...args));
    fs[name] = called(files[name]);
    fs[name + 'Sync'] = (...args) => hostNow(directive, taken(...args));
  }
  const util = { promisify: (work) => (...args) => new Promise((resolve, reject) => {
    if (Object.values(child_process).includes(work)) work(...args).then(resolve, reject);
    else work(...args, (error, value) => (error ? reject(error) : resolve(value)));
  }) };
  const type = { darwin: 'Darwin', win32: 'Windows_NT' }[platform] ?? 'Linux';
  const os = { EOL: '\n', platform: () => platform, type: () => type, tmpdir: () => '/tmp', homedir: () => environment().HOME };
  const process = { platform, argv: [], cwd: () => folder() || '/', get env() { return environment(); } };
  const globals = { setTimeout, clearTimeout, TextEncoder, TextDecoder, structuredClone, crypto, URL, URLSearchParams };
  return { modules: { path, os, child_process, fs, 'fs/promises': files, util, process }, globals };
})
