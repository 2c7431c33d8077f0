// node public_scripts_reference.mjs FOLDER [--mended] > REFERENCE.json : the messages that the
// published engine sends for each public script, for tests/real/public_scripts.py; with --mended,
// those that it sends without the faults that are named below. It runs from a copy in a folder with
//     npm install --ignore-scripts --before 2026-04-14 @isdk/ai-tool-agent@0.11.4 systeminformation
// whose package.json has "type": "module"; later versions of what it depends on do not fit together.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ARGS = {
  content: 'some text', target: 'English', lang: 'English', language: 'English',
  name: 'Dobby', command: 'ls', error: 'not found',
}
const REPLIES = ['reply one', 'reply two', 'reply three']
const OBJECT = '{"reasoning": "it lists", "command": "ls", "answer": "5", "safe": true}'
const CATALOG = '{"summary": "a guide", "files": [{"title": "One", "filepath": "cli.md", "description": "d"}]}'
const LANGUAGES = '[{"name": "English", "value": "en"}, {"name": "French", "value": "fr"}]'

function example(schema) {
  if (schema === null || typeof schema !== 'object') return 'five'
  if (schema.enum) return schema.enum[0]
  const kind = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (kind === 'object') return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, part]) => [name, example(part)]))
  if (kind === 'array') return [example(schema.items ?? {})]
  return { number: 5, integer: 5, boolean: true }[kind] ?? 'five'
}

// The repository has the script that loads a file, and not its loader.
const LOADER = `import fs from 'fs/promises'
export async function loadFile(params) {
  return await fs.readFile(params?.content ?? this?.content ?? params, 'utf8')
}
`

// What is mended in a copy of the engine, and why.
const FAULTS = [
  // The text of a file takes the place of its mark by `String.replace`, in which `$\`` and `$&` of
  // that text mean parts of the message.
  ['n=n.replace(t,i)', 'n=n.replace(t,()=>i)'],
  // The values of a template are rendered once more: `{{…}}` in the text of a file is code.
  ['s&&(e[n]=s)', '0'],
  // A message that has a template as well as a mark has its mark escaped with the values, and is
  // sent with `[[thinking]]` in it; and the JSON of a value loses its backslashes.
  ['n&&(n=ra($t(n)))', 'n&&(n=n.replace(/\\\\(?![\\[\\]])/g,"\\\\\\\\"))'],
  // A separator drops the messages before it without asking the model for their replies.
  ['async $initDone(t){', 'async $initDone(t){await this.tryParseMessages();'],
  // What goes on to the next script is the result of the model ("AI结果"), without the words of the
  // script before it.
  ['this.prompt[o]=u,', 'this.prompt[o]=t.reply=u,'],
  [':this.__result=s.content', ':this.__result=s.reply??s.content'],
  [':this.__result=r.content', ':this.__result=r.reply??r.content'],
]

function mend() {
  const engine = fileURLToPath(import.meta.resolve('@isdk/ai-tool-agent'))
  let text = fs.readFileSync(engine, 'utf8')
  for (const [found, mended] of FAULTS) {
    if (text.split(found).length !== 2) throw new Error(`the engine is another one: ${found}`)
    text = text.replace(found, () => mended)
  }
  fs.writeFileSync(path.join(path.dirname(engine), 'mended.mjs'), text)
}

async function load(mended) {
  const engine = import.meta.resolve('@isdk/ai-tool-agent')
  return await import(mended ? new URL('mended.mjs', engine) : engine)
}

// The choice or the text that tests/real/public_scripts.py answers with.
function answer(choices) {
  const all = Array.isArray(choices) ? choices : []
  const of = (name) => all.find((it) => (it?.name ?? it) === name)
  const chosen = of('Exit') ?? of('English') ?? all.at(-1)
  return chosen === undefined ? 'why' : (chosen.value ?? chosen)
}

async function play(file, libraries, mended) {
  const { AIScriptServer } = await load(mended)
  const { llm, LLMProvider } = await import('@isdk/ai-tool-llm')
  const tool = await import('@isdk/ai-tool')
  const calls = []
  class Canned extends LLMProvider {
    async func(input) {
      calls.push(input.value.map(({ role, content }) => ({ role, content })))
      const form = input.response_format ?? input.options?.response_format
      const schema = form?.schema ?? form?.json_schema?.schema
      let content = REPLIES[Math.min(calls.length, REPLIES.length) - 1]
      const asked = JSON.stringify(input.value)
      if (form && asked.includes('ISO 639-1')) content = LANGUAGES
      else if (form && asked.includes('filepath')) content = CATALOG
      else if (schema) content = JSON.stringify(example(schema))
      else if (form) content = OBJECT
      return { content, stop: true, finishReason: 'stop', options: {} }
    }
    async getModelInfo() {}
  }
  new Canned('canned').register()
  tool.ServerTools.register(llm)
  llm.setCurrentProvider('canned')
  let confirmed = false
  class Script extends AIScriptServer {
    $detectLang() { return 'English' }
    $translate(params) { return this.$exec({ id: 'translator', args: params }) }
    $isDir(dir) {
      dir = dir?.content ?? dir
      return fs.existsSync(dir) && fs.statSync(dir).isDirectory()
    }
    $listFilenames({ dir }) { return tool.readFilenamesRecursiveSync(dir, { level: 1 }) }
    async $consoleInput(params) {
      if ((params?.inputType ?? this?.inputType) !== 'confirm') return { answer: answer(params?.choices ?? this?.choices) }
      const first = !confirmed
      confirmed = true
      return { answer: first }
    }
  }
  // Of scripts with one name the last found counts, and folders are searched with all that is below
  // them: the library comes before what is below the script's own folder, and after what is in it.
  const own = path.dirname(file)
  const hasFolders = fs.readdirSync(own, { withFileTypes: true }).some((entry) => entry.isDirectory())
  Script.searchPaths = mended && hasFolders ? [own, ...libraries] : [...libraries, own]
  if (mended) {
    // Values are rendered once more here too, unless it is told not to.
    tool.PromptTemplate.prototype.expandValue = false
    // The script that was called last is among the values of a template, which then fails: in the
    // script there is its caller again.
    Object.defineProperty(Script.prototype, 'L', {
      get() { return this._last },
      set(script) { this._last = script },
    })
    // Of equal calls only the first is made, and its reply is taken for the others.
    Script.prototype._memoizedCache = { has: () => false, get() {}, set() {} }
  }
  Script.logLevel = 'silence'
  try {
    const script = await Script.loadFile(file, {}, { USER_ENV: {} })
    script.llmStream = false
    const runtime = await script.getRuntime(false)
    await runtime.run(file.endsWith('lib/file.ai.yaml') ? { ...ARGS, content: 'README.md' } : ARGS)
    return { calls }
  } catch (error) {
    return { error: String(error?.message ?? error), calls }
  }
}

const given = process.argv.slice(2)
const mended = given.includes('--mended')
const [root, only] = given.filter((it) => it !== '--mended').map((name) => path.resolve(name))
if (only) {
  const folder = path.join(root, path.relative(root, only).split(path.sep)[0])
  const loader = path.join(folder, 'lib', 'load-file.js')
  if (fs.existsSync(path.join(folder, 'lib', 'file.ai.yaml')) && !fs.existsSync(loader)) fs.writeFileSync(loader, LOADER)
  // The published program brings the library of the one repository along.
  const libraries = Array.from(new Set([path.join(root, 'cli', 'lib'), path.join(folder, 'lib')]))
  process.chdir(folder)
  fs.writeSync(3, JSON.stringify(await play(only, libraries, mended)))
  process.exit(0)
}
const found = fs.readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.ai.yaml') && path.basename(name) !== '.ai.yaml' && !name.includes('node_modules'))
// The shell scripts import a module that they do not bring along.
const modules = path.join(root, 'node_modules')
if (!fs.existsSync(modules)) fs.symlinkSync(path.join(process.cwd(), 'node_modules'), modules)
if (mended) mend()
const out = {}
for (const name of found.sort()) {
  try {
    // Each in a process of its own: what one registers stays.
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe']
    const temporary = path.join(process.cwd(), 'one.json')
    stdio[3] = fs.openSync(temporary, 'w')
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), root, path.join(root, name), ...(mended ? ['--mended'] : [])], { stdio, timeout: 180000 })
    out[name] = JSON.parse(fs.readFileSync(temporary, 'utf8'))
  } catch (error) {
    out[name] = { error: `it did not end: ${error.code ?? error.message}`, calls: [] }
  }
  process.stderr.write(`${name}: ${out[name].error ?? out[name].calls.length + ' calls'}\n`)
}
console.log(JSON.stringify(out, null, 1))
