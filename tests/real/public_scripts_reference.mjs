// node public_scripts_reference.mjs FOLDER > REFERENCE.json : the messages that the published engine
// sends for each public script, for tests/real/public_scripts.py. Run it in a folder with
//     npm install --before 2026-04-14 @isdk/ai-tool-agent@0.11.4 systeminformation
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

async function play(file, library) {
  const { AIScriptServer } = await import('@isdk/ai-tool-agent')
  const { llm, LLMProvider } = await import('@isdk/ai-tool-llm')
  const tool = await import('@isdk/ai-tool')
  const calls = []
  class Canned extends LLMProvider {
    async func(input) {
      calls.push(input.value.map(({ role, content }) => ({ role, content })))
      const form = input.response_format ?? input.options?.response_format
      const schema = form?.schema ?? form?.json_schema?.schema
      let content = REPLIES[Math.min(calls.length, REPLIES.length) - 1]
      if (schema) content = JSON.stringify(example(schema))
      else if (form) content = JSON.stringify(input.value).includes('ISO 639-1') ? LANGUAGES : OBJECT
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
      if ((params?.inputType ?? this?.inputType) !== 'confirm') return { answer: 'en' }
      const answer = !confirmed
      confirmed = true
      return { answer }
    }
  }
  Script.searchPaths = [library, path.dirname(file)]
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

const [root, only] = process.argv.slice(2).map((name) => path.resolve(name))
if (only) {
  const folder = path.join(root, path.relative(root, only).split(path.sep)[0])
  const loader = path.join(folder, 'lib', 'load-file.js')
  if (fs.existsSync(path.join(folder, 'lib', 'file.ai.yaml')) && !fs.existsSync(loader)) fs.writeFileSync(loader, LOADER)
  process.chdir(folder)
  fs.writeSync(3, JSON.stringify(await play(only, path.join(folder, 'lib'))))
  process.exit(0)
}
const found = fs.readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.ai.yaml') && path.basename(name) !== '.ai.yaml' && !name.includes('node_modules'))
const out = {}
for (const name of found.sort()) {
  try {
    // Each in a process of its own: what one registers stays.
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe']
    const temporary = path.join(process.cwd(), 'one.json')
    stdio[3] = fs.openSync(temporary, 'w')
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), root, path.join(root, name)], { stdio, timeout: 60000 })
    out[name] = JSON.parse(fs.readFileSync(temporary, 'utf8'))
  } catch (error) {
    out[name] = { error: `it did not end: ${error.code ?? error.message}`, calls: [] }
  }
  process.stderr.write(`${name}: ${out[name].error ?? out[name].calls.length + ' calls'}\n`)
}
console.log(JSON.stringify(out, null, 1))
