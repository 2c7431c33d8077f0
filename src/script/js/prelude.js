// The part of the engine written in JavaScript: the functions and values scripts see, and the
// exchange of plain data. It has no access to the host: a call of the host is an entry in `out`
// and a promise.
(function (MOST_TEXT, compileNamed, randomBytes, askNow, makeBuiltins, platform) {
  'use strict';
  const { stringify, parse } = JSON;
  const compile = eval; // indirect, so that the names in here are not in its scope
  const asText = String;
  const TOO_EARLY = 'a call is used before it has ended; write `await` before it, in an `async` function';

  const vars = Object.create(null); // the values of the script
  const dirty = new Set(); // names that were assigned
  const touched = new Map(); // names whose object was returned to scripts, with its JSON before
  const fns = Object.create(null); // functions and modules, without `$`
  const handles = new WeakMap(); // functions that were passed out as data, and their names
  const compiled = new Map(); // expressions
  const wants = new Map(); // calls of the host without an answer
  const waiting = new Map(); // runs without an end, and how many calls each waits for
  const out = [];
  let serial = 0;
  let current = 0; // the run that is being served
  let missing = null; // unknown names in the running expression
  let hosted = null; // the names the host serves; null: any
  let watches = true; // the running code may change the values it reads
  const asked = new Set(); // runs that have called the host
  const NONE = Symbol('no such function');

  // ---- values ----

  function keep(fn) {
    let name = handles.get(fn);
    if (name === undefined) {
      name = 'fn#' + ++serial;
      handles.set(fn, name);
      fns[name] = fn;
    }
    return name;
  }

  function replacer(_, value) {
    if (typeof value === 'function') return keep(value);
    if (typeof value === 'bigint') {
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : asText(value);
    }
    if (value instanceof Map) return Object.fromEntries(value);
    if (value instanceof Set) return Array.from(value);
    if (value instanceof Error) return asText(value);
    if (value instanceof Promise) throw new TypeError(TOO_EARLY);
    return value;
  }

  function json(value) {
    const text = stringify(value, replacer);
    if (text === undefined) return 'null';
    if (text.length > MOST_TEXT) throw new RangeError('the value is larger than ' + MOST_TEXT + ' bytes');
    return text;
  }

  function read(name) {
    const value = vars[name];
    if (watches && typeof value === 'object' && value !== null && !touched.has(name)) {
      touched.set(name, stringify(value, replacer));
    }
    return value;
  }

  function write(name, value) {
    vars[name] = value;
    dirty.add(name);
    return true;
  }

  function remove(name) {
    delete vars[name];
    dirty.add(name);
    return true;
  }

  function same(value, before) {
    try {
      return stringify(value, replacer) === before;
    } catch {
      return false;
    }
  }

  const NO_CHANGES = '{"set":[],"gone":[]}';

  // The changes since the host last got the values, as JSON.
  function changes() {
    if (dirty.size === 0 && touched.size === 0) return NO_CHANGES;
    for (const [name, before] of touched) {
      if (name in vars && !dirty.has(name) && same(vars[name], before) === false) dirty.add(name);
    }
    const set = [];
    const gone = [];
    const names = Array.from(dirty);
    dirty.clear();
    touched.clear();
    for (const name of names) {
      try {
        if (name in vars) set.push('[' + stringify(name) + ',' + json(vars[name]) + ']');
        else gone.push(stringify(name));
      } catch (error) {
        // A value without a plain form cannot be a value of the script.
        delete vars[name];
        throw new TypeError('`' + name + '` cannot be kept: ' + message(error));
      }
    }
    return '{"set":[' + set.join(',') + '],"gone":[' + gone.join(',') + ']}';
  }

  function update(changed) {
    if (changed.names !== null) hosted = new Set(changed.names);
    if (changed.reset) for (const name of Object.keys(vars)) delete vars[name];
    for (const [name, value] of changed.set) vars[name] = value;
    for (const name of changed.gone) delete vars[name];
  }

  // ---- the view of scripts ----

  function find(path) {
    if (path in fns) return fns[path];
    let at = undefined;
    for (const [index, part] of path.split('.').entries()) {
      at = index === 0 ? fns[part] : at == null ? undefined : at[part];
    }
    return at;
  }

  // The request for a function of the host.
  const wanted = (id, path, args) => '{"wants":{"run":' + current + ',"id":' + id + ',"name":' + stringify(path) +
    ',"args":[' + args.map((arg) => json(arg)).join(',') + '],"changes":' + changes() + '}}';

  // A call of the host that is waited for: nothing else runs meanwhile.
  function hostNow(path, arg) {
    // Calls that are not sent yet were made before this one.
    const calls = out.filter((event) => event.startsWith('{"wants"'));
    for (const call of calls) out.splice(out.indexOf(call), 1);
    const text = askNow('[' + [...calls, wanted(++serial, path, [arg])].join(',') + ']');
    if (text === '') throw new Error('`' + path + '` was not answered');
    const changed = parse(text);
    update(changed);
    if (changed.request.ok) return changed.request.value;
    throw thrown(changed.request.value);
  }

  const thrown = ({ message, properties }) => Object.assign(new Error(message), properties);

  // A function of the host: calling it sends a request; its fields are further functions.
  function host(path) {
    const call = function (...args) {
      return new Promise((resolve, reject) => {
        const id = ++serial;
        const run = current;
        asked.add(run);
        const event = wanted(id, path, args);
        wants.set(id, { resolve, reject, run });
        if (waiting.has(run)) waiting.set(run, waiting.get(run) + 1);
        out.push(event);
      });
    };
    return new Proxy(call, {
      get(target, name) {
        if (typeof name !== 'string' || name === 'then' || name in Function.prototype) return Reflect.get(target, name);
        return host(path + '.' + name);
      },
    });
  }

  // Whether the host serves a name, or names below it.
  function isHosted(name) {
    if (hosted === null || hosted.has(name)) return true;
    for (const known of hosted) if (known.startsWith(name + '.')) return true;
    return false;
  }

  function dollar(name) {
    const value = find(name);
    if (value === undefined && !isHosted(name)) {
      const error = new ReferenceError('there is no directive, function or import `$' + name + '`');
      error[NONE] = name;
      throw error;
    }
    if (typeof value !== 'function') return value === undefined ? host(name) : value;
    const bound = function (...args) {
      return value.apply(runtime, args);
    };
    return Object.assign(bound, value);
  }

  const runtime = new Proxy(Object.create(null), {
    get(_, name) {
      if (typeof name !== 'string') return undefined;
      if (name in vars) return read(name);
      return name[0] === '$' ? dollar(name.slice(1)) : undefined;
    },
    set: (_, name, value) => typeof name === 'string' && write(name, value),
    has: (_, name) => typeof name === 'string' && (name in vars || name[0] === '$'),
    deleteProperty: (_, name) => remove(name),
    ownKeys: () => Object.keys(vars),
    getOwnPropertyDescriptor(_, name) {
      if (!(name in vars)) return undefined;
      return { value: read(name), enumerable: true, configurable: true, writable: true };
    },
    getPrototypeOf: () => null,
    setPrototypeOf: () => false,
    preventExtensions: () => false,
    defineProperty: (_, name, what) => typeof name === 'string' && write(name, what.value),
  });

  // The names an expression may use without `this.`.
  const scope = new Proxy(Object.create(null), {
    has(_, name) {
      if (typeof name !== 'string') return false;
      if (name in vars || name[0] === '$') return true;
      if (!(name in globalThis) && missing !== null) missing.add(name);
      return false;
    },
    get(_, name) {
      if (typeof name !== 'string') return undefined;
      return name in vars ? read(name) : name[0] === '$' ? dollar(name.slice(1)) : undefined;
    },
    set: (_, name, value) => write(name, value),
  });

  // The names a function may use: only `$name`, so that no value shadows its own names.
  const dollars = new Proxy(Object.create(null), {
    has: (_, name) => typeof name === 'string' && name[0] === '$' && name.length > 1,
    get: (_, name) => (typeof name === 'string' ? dollar(name.slice(1)) : undefined),
  });

  // ---- runs ----

  function message(error) {
    try {
      if (error !== null && typeof error === 'object' && 'message' in error) {
        const name = error.name === undefined || error.name === 'Error' ? '' : asText(error.name) + ': ';
        return name + asText(error.message);
      }
      return asText(error);
    } catch {
      return 'an error that cannot be shown';
    }
  }

  // Where an error happened, as far as it was in a file or a function of the script.
  function place(error) {
    try {
      const frames = asText(error.stack).matchAll(/(?:^|[\s(])((?:fn:|module\d+\/)[^\s():]*):(\d+):(\d+)/g);
      for (const [, file, line, column] of frames) {
        return [file, file.startsWith('fn:') ? Math.max(Number(line) - 1, 1) : Number(line), Number(column)];
      }
    } catch {}
    return null;
  }

  function settle(run, kind, text, where) {
    if (!waiting.delete(run)) return;
    asked.delete(run);
    let changed;
    try {
      changed = changes();
    } catch (error) {
      kind = 'thrown';
      text = stringify(message(error));
      changed = NO_CHANGES;
    }
    out.push('{"done":{"run":' + run + ',"kind":"' + kind + '","value":' + text + ',"place":' + stringify(where || null) + ',"changes":' + changed + '}}');
  }

  function done(run, value) {
    try {
      if (typeof value === 'string' && asked.has(run) && value.includes('[object Promise]')) {
        throw new TypeError(TOO_EARLY);
      }
      if (value === undefined) settle(run, 'undefined', 'null');
      else if (typeof value === 'function') settle(run, 'function', stringify(keep(value)));
      else settle(run, 'value', json(value));
    } catch (error) {
      settle(run, 'thrown', stringify(message(error)));
    }
  }

  function failed(run, error, lookedFor) {
    if (error !== null && typeof error === 'object' && typeof error[NONE] === 'string') {
      return settle(run, 'missing', stringify(error[NONE]), place(error));
    }
    if (error instanceof ReferenceError && lookedFor) {
      for (const name of lookedFor) {
        if (error.message === name + ' is not defined') return settle(run, 'unknown', stringify(name));
      }
    }
    settle(run, 'thrown', stringify(message(error)), place(error));
  }

  const waits = (it) => it !== null && typeof it === 'object' && typeof it.then === 'function';

  function follow(run, value, lookedFor) {
    if (Array.isArray(value) && value.some(waits)) value = Promise.all(value);
    if (waits(value)) {
      Promise.resolve(value).then((value) => done(run, value), (error) => failed(run, error, lookedFor));
    } else {
      done(run, value);
    }
  }

  // The end of the quoted text or the bracket that opens here.
  function closing(text, at) {
    const open = text[at];
    if (open !== '(') {
      for (let end = at + 1; end < text.length; end += 1) {
        if (text[end] === '\\') end += 1;
        else if (text[end] === open) return end;
      }
      return -1;
    }
    let depth = 0;
    for (let end = at; end < text.length; end += 1) {
      if ('"\'`'.includes(text[end])) {
        end = closing(text, end);
        if (end < 0) return -1;
      } else if (text[end] === '(') depth += 1;
      else if (text[end] === ')' && --depth === 0) return end;
    }
    return -1;
  }

  // An expression in which the calls of the host are awaited, so that it gets their values.
  function awaited(text) {
    // An author who handles promises is left alone.
    if (!text.includes('$') || /\bPromise\.|\.(?:then|catch|finally)\s*\(/.test(text)) return text;
    let out = '';
    for (let at = 0; at < text.length; at += 1) {
      if ('"\'`'.includes(text[at])) {
        const end = closing(text, at);
        if (end < 0) return text;
        out += text.slice(at, end + 1);
        at = end;
        continue;
      }
      const head = /[\p{L}\p{N}_$.]$/u.test(out) ? null : CALL.exec(text.slice(at));
      const end = head === null ? -1 : closing(text, at + head[0].length - 1);
      const isHost = end >= 0 && typeof find(head[1]) !== 'function' && isHosted(head[1]);
      if (!isHost || /\bawait\s*$/.test(out)) {
        out += text[at];
        continue;
      }
      const inside = awaited(text.slice(at + head[0].length, end));
      out += '(await ' + head[0] + inside + '))';
      at = end;
    }
    return out;
  }

  const CALL = /^(?:this\s*\.\s*)?\$([\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*)\s*\(/u;

  // What a text may hold only if it changes something, or may do so in a way that is not seen.
  const CHANGES = new RegExp([
    /[$`]|\\u|\+\+|--|<<=|>>=|[\])]\s*\(|\?\.\s*\(/,
    /(?:^|[^=!<>])=(?![=>])/,
    /\b(?:push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|assign|set\w*|add|delete|clear|apply|call|bind|define\w*|freeze|seal|preventExtensions|new|function|class|eval|Function|Reflect|Proxy|async|await|constructor|prototype|__\w+)\b/,
  ].map((part) => part.source).join('|'));
  const PURE_CALLS = new Set(('at abs ceil charAt charCodeAt codePointAt concat endsWith entries every exp filter find findIndex ' +
    'findLast flat flatMap floor from fromEntries includes indexOf isArray isFinite isInteger isNaN join keys lastIndexOf localeCompare log ' +
    'map match matchAll max min normalize now padEnd padStart parse parseFloat parseInt pow random reduce reduceRight repeat replace ' +
    'replaceAll round search sign slice some split sqrt startsWith stringify substr substring test toFixed toISOString toLocaleString ' +
    'toLowerCase toPrecision toReversed toSorted toSpliced toString toUpperCase trim trimEnd trimStart trunc values with ' +
    'Array Boolean Date Number Object String').split(' '));

  // Whether an expression surely changes none of the values that it reads.
  function isPure(text) {
    if (CHANGES.test(text)) return false;
    for (const [, name] of text.matchAll(/([\p{L}_][\p{L}\p{N}_]*)\s*\(/gu)) if (!PURE_CALLS.has(name)) return false;
    return true;
  }

  function expression(text) {
    let made = compiled.get(text);
    if (made === undefined) {
      const make = (text) => {
        const kind = /\bawait\b/.test(text) ? 'async function' : 'function';
        return compile('(' + kind + ' ($scope) { with ($scope) { return (' + text + '\n) } })');
      };
      const waiting = awaited(text);
      try {
        made = make(waiting);
      } catch (error) {
        // An `await` may not stand inside a function that is not async.
        if (waiting === text) throw error;
        made = make(text);
      }
      made.isPure = isPure(text);
      if (compiled.size >= 1000) compiled.clear();
      compiled.set(text, made);
    }
    return made;
  }

  const HEAD = /^\s*(?:(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)\s*)*(async\b\s*)?(function\b\s*)?(\*\s*)?([\p{L}_$][\p{L}\p{N}_$]*)?\s*(?=\()/u;

  // `name(args) {..}`, `function name(args) {..}`, `async (args) {..}`, `(args) => ..`. The source
  // begins on a line of its own, so that its columns stay; `place` subtracts the line above it.
  function build(written, file) {
    // `import()` of what is here; the name has as many letters, so that columns stay.
    const source = written.replace(/(?<![.\w$])import(?=\s*\()/g, '_mport');
    const inside = (text) => compileNamed('(function ($dollars) { with ($dollars) { return (' + text + '\n) } })', file)(dollars);
    const head = HEAD.exec(source);
    if (head !== null) {
      const [all, async, , star, name = ''] = head;
      const rest = source.slice(all.length);
      const end = all.trimEnd().length;
      const before = all.slice(0, end - name.length).replace(/[^\n]/g, ' ');
      const word = (async ? 'async ' : '') + 'function' + (star ? '*' : '');
      try {
        return inside(word + '\n' + before + name + all.slice(end) + rest);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        let other;
        try {
          // A reserved word may name a method: `delete(x) {..}`.
          other = name
            ? inside('({\n' + (async ? 'async ' : '') + (star ? '*' : '') + name + rest + '})[' + stringify(name) + ']')
            : inside('\n' + source);
        } catch {
          throw error;
        }
        return other;
      }
    }
    return inside('\n' + source);
  }

  function require(name) {
    const found = builtin[asText(name).replace(/^node:/, '')];
    return found === undefined ? absent(asText(name)) : found;
  }

  async function imported(name) {
    const bare = asText(name).replace(/^node:/, '');
    if (!Object.hasOwn(builtin, bare)) absent(bare)();
    return { default: builtin[bare], ...builtin[bare] };
  }

  // What a file imports and is not here: an error where it is used.
  function absent(name) {
    const fail = () => {
      throw new Error('there is no module `' + name + '` in here; only `' + Object.keys(builtin).join('`, `') + '`');
    };
    const use = new Proxy(function () {}, {
      get: (target, key) => (typeof key === 'string' && key !== 'then' && key !== 'prototype' ? use : target[key]),
      apply: fail,
      construct: fail,
    });
    return use;
  }

  // The `process` of a file that reads it.
  const readsProcess = (source) => /\bprocess\s*\./.test(source) && !/\b(?:const|let|var|import)\b[^;\n]*\bprocess\b(?!\s*\.)/.test(source);

  // CommonJS files that others require, by name; each runs once.
  const files = Object.create(null);
  const loaded = Object.create(null);

  function beside(file, name) {
    const parts = file.split('/').slice(0, -1);
    for (const part of name.split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '.' && part !== '') parts.push(part);
    }
    return parts.join('/');
  }

  function requireFrom(file) {
    return (name) => {
      const wanted = asText(name);
      if (!/^\.{1,2}\//.test(wanted)) return require(wanted);
      const full = beside(file, wanted);
      const found = ['', '.js', '.cjs', '.mjs', '/index.js'].map((end) => full + end).find((it) => it in files);
      if (found === undefined) throw new Error('there is no file `' + wanted + '` of CommonJS beside the module');
      if (!(found in loaded)) {
        loaded[found] = {};
        loaded[found] = commonjs(files[found], found);
      }
      return loaded[found];
    };
  }

  function commonjs(source, file) {
    const names = Array.from(source.matchAll(/^(?:async\s+)?function\s*\*?\s*([\p{L}_$][\p{L}\p{N}_$]*)/gmu), (m) => m[1]);
    const own = names.map((name) => stringify(name) + ': ' + name).join(', ');
    const module = { exports: {} };
    const text = '(function (exports, module, require' + (readsProcess(source) ? ', process' : '') + ') {' + source + '\n;return {' + own + '} })';
    const declared = compileNamed(text, file === undefined || file === '' ? 'module' : file).call(module.exports, module.exports, module, file === undefined || file === '' ? require : requireFrom(file), builtin.process);
    const exported = module.exports;
    if (typeof exported === 'function') return Object.assign({ default: exported }, exported);
    return Object.keys(exported).length > 0 ? exported : declared;
  }

  function isModule(source) {
    return /^\s*(?:export\b|import\b\s*[\w{*'"])/m.test(source);
  }

  // Engine modules cannot import the built-in ones: those imports become constants.
  function imports(source) {
    const process = readsProcess(source) ? 'const process = __require("process"); ' : '';
    return process + source.replace(/^([ \t]*)import\s+([^'";]+?)\s+from\s*(['"])([^'"]+)\3\s*;?/gm, (all, space, what, _, name) => {
      // A relative file: the engine resolves it by its name.
      if (/^\.{1,2}\//.test(name)) return all;
      const from = '__require(' + stringify(name) + ')';
      const parts = [];
      const list = /\{([^}]*)\}/.exec(what);
      const rest = what.replace(/\{[^}]*\}/, '').replace(/,/g, ' ').trim();
      const whole = /^\*\s*as\s+(\S+)$/.exec(rest);
      if (whole !== null) parts.push('const ' + whole[1] + ' = ' + from);
      else if (rest !== '') parts.push('const ' + rest + ' = ' + from);
      if (list !== null) parts.push('const {' + list[1].replace(/\s+as\s+/g, ': ') + '} = ' + from);
      return space + parts.join('; ') + ';';
    });
  }

  function listed(id) {
    const at = fns[id];
    const functions = [];
    const values = [];
    for (const name of Object.keys(at)) {
      if (typeof at[name] === 'function') functions.push(name);
      else values.push(name);
    }
    return { functions, values };
  }

  function register(id, exported) {
    let all = Object.assign({}, exported);
    const main = all.default;
    if (main !== null && typeof main === 'object' && Object.keys(all).length === 1) all = Object.assign({}, main);
    fns[id] = all;
    return listed(id);
  }

  function evaluate(run, text) {
    const lookedFor = new Set();
    let made;
    try {
      made = expression(text);
    } catch (error) {
      return settle(run, 'invalid', stringify(message(error)));
    }
    const outer = missing;
    missing = lookedFor;
    watches = !made.isPure;
    try {
      follow(run, made.call(runtime, scope), lookedFor);
    } catch (error) {
      failed(run, error, lookedFor);
    } finally {
      missing = outer;
      watches = true;
    }
  }

  const tasks = {
    eval(order) {
      evaluate(order.run, order.expr);
    },
    compile(order) {
      try {
        expression(order.expr);
      } catch (error) {
        return settle(order.run, 'invalid', stringify(message(error)));
      }
      done(order.run, true);
    },
    define(order) {
      fns[order.name] = build(order.source, 'fn:' + order.name);
      done(order.run, true);
    },
    call(order) {
      const fn = find(order.name);
      if (typeof fn !== 'function') return settle(order.run, 'unknown', stringify(order.name));
      follow(order.run, fn.apply(runtime, order.args));
    },
    bind(order) {
      const found = find(order.to);
      if (found === undefined) return settle(order.run, 'unknown', stringify(order.to));
      fns[order.name] = found;
      done(order.run, true);
    },
    declare(order) {
      waiting.delete(order.run);
      if (!isModule(order.source)) {
        files[order.file] = order.source;
        // For modules that import it: all its exports as one object, and each by its name.
        const names = new Set(Array.from(order.source.matchAll(/\bexports\.([A-Za-z_$][\w$]*)\s*=[^=]/g), (m) => m[1]));
        names.delete('default');
        const parts = Array.from(names, (name, at) => ['v' + at + ' = all.' + name, 'v' + at + ' as ' + name]);
        let text = 'const all = __file(' + stringify(order.file) + '); export default all;';
        if (parts.length > 0) text += 'const ' + parts.map((part) => part[0]).join(', ') + '; export { ' + parts.map((part) => part[1]).join(', ') + ' };';
        return out.push('{"declared":{"run":' + order.run + ',"file":' + stringify(order.file) + ',"source":' + stringify(text) + '}}');
      }
      out.push('{"declared":{"run":' + order.run + ',"file":' + stringify(order.file) + ',"source":' + stringify(imports(order.source)) + '}}');
    },
    module(order) {
      if (order.kind === 'builtin') {
        const found = require(order.source);
        if (!Object.values(builtin).includes(found)) found();
        return done(order.run, register(order.id, found));
      }
      if (order.kind === 'module' || (order.kind === 'auto' && isModule(order.source))) {
        // The host evaluates it and passes the exports to `modules`.
        out.push('{"module":{"run":' + order.run + ',"id":' + stringify(order.id) + ',"file":' + stringify(order.file) + ',"source":' + stringify(imports(order.source)) + '}}');
        return;
      }
      done(order.run, register(order.id, commonjs(order.source, order.file)));
    },
  };

  function start(text) {
    const changed = parse(text);
    const order = changed.request;
    current = order.run;
    watches = true;
    waiting.set(order.run, 0);
    update(changed);
    try {
      tasks[order.type](order);
    } catch (error) {
      failed(order.run, error);
    }
  }

  function answer(text) {
    const changed = parse(text);
    const order = changed.request;
    const want = wants.get(order.id);
    if (want === undefined) return;
    wants.delete(order.id);
    current = want.run;
    watches = true;
    if (waiting.has(want.run)) waiting.set(want.run, waiting.get(want.run) - 1);
    update(changed);
    if (order.ok) want.resolve(order.value);
    else want.reject(thrown(order.value));
  }

  function modules(run, id, exported) {
    done(run, register(id, exported));
  }

  // The run is stuck: nothing will ever settle the promise it waits for.
  function drain(run) {
    if (waiting.get(run) === 0 && !out.some((event) => event.startsWith('{"module"') || event.startsWith('{"declared"'))) settle(run, 'stuck', 'null');
    return '[' + out.splice(0, out.length).join(',') + ']';
  }

  // ---- built-ins ----

  function log(...parts) {
    const text = parts.map((part) => {
      if (typeof part === 'string') return part;
      try {
        return typeof part === 'object' && part !== null ? json(part) : asText(part);
      } catch (error) {
        return message(error);
      }
    });
    out.push('{"log":{"run":' + current + ',"text":' + stringify(text.join(' ').slice(0, 10000)) + '}}');
  }

  const folder = () => (typeof vars.__dirname === 'string' ? vars.__dirname : '');
  const { modules: builtin, globals } = makeBuiltins(host, hostNow, (count) => new Uint8Array(randomBytes(count)), folder, platform, () => vars.env ?? {});
  const say = Object.freeze({ log, info: log, warn: log, error: log, debug: log });
  Object.defineProperty(globalThis, 'console', { value: say });
  Object.defineProperty(globalThis, '_mport', { value: imported });
  for (const name of Object.keys(globals)) Object.defineProperty(globalThis, name, { value: globals[name] });
  Object.defineProperty(globalThis, '__require', { value: require });
  Object.defineProperty(globalThis, '__file', {
    value: (file) => {
      if (!(file in loaded)) {
        loaded[file] = {};
        loaded[file] = commonjs(files[file], file);
      }
      return loaded[file];
    },
  });
  Object.preventExtensions(globalThis);
  return { start, answer, modules, drain };
})
