#!/usr/bin/env bash
# Tries the clients of assets/sdk against `avocet serve --stdio` with a scripted model: a message, a
# step that is approved and one that is rejected, a refused op, and a saved session that goes on.
# TypeScript is translated by esbuild from npm. Run by hand:
#
#   tests/real/sdk.sh        AVOCET=target/debug/avocet  REAL=~/real
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=$(realpath "${AVOCET:-$here/../../target/debug/avocet}")
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
real=${REAL:-$(mktemp -d)}
if [ ! -x "$real/npm-sdk/node_modules/.bin/esbuild" ]; then
    mkdir -p "$real/npm-sdk"
    (cd "$real/npm-sdk" && npm init -y && npm install --no-audit --no-fund esbuild typescript @types/node) > "$real/npm.log"
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/home" "$root/work"
write() {
    printf '{"type":"cmd","message":"I write.","data":{"cwd":null,"commands":[{"tool":"file.write","input":{"path":"%s","content":"new\\n"}}],"expected_effect":""}}\n---\n' "$1"
}
done='{"type":"chat","message":"Done.","data":{"format":"plain"}}'
{ write a.txt; write b.txt; echo "$done"; } > "$root/replies"
echo "$done" > "$root/again"
export HOME=$root/home AVOCET_HOME=$root/avocet AVOCET=$avocet ROOT=$root

cat > "$root/try.py" <<'PY'
import os, sys
from avocet import Avocet, AvocetError
root, program = os.environ["ROOT"], os.environ["AVOCET"]
decisions = iter(["approve", "reject"])
with Avocet(["--model", f"scripted:{root}/replies"], program) as avocet:
    session = avocet.open(root + "/work")
    said = [event["message"] for event in session.ask("write both", lambda _: next(decisions)) if event["event"] == "replied"]
    assert said[-1] == "Done.", said
    try:
        session.op("sing")
        raise SystemExit("an unknown op was taken")
    except AvocetError as error:
        assert "sing" in str(error), error
    session.close()
assert os.path.exists(root + "/work/a.txt") and not os.path.exists(root + "/work/b.txt")
with Avocet(["--model", f"scripted:{root}/again"], program) as avocet:
    saved = avocet.call("session.list", folder=root + "/work")["sessions"][0]
    session = avocet.open(root + "/work", saved["id"])
    assert any(event["event"] == "turn_ended" for event in session.ask("and now?"))
    avocet.process.kill()
    for _ in range(3):
        try:
            session.op("stop")
            raise SystemExit("a program that is gone took an op")
        except AvocetError as error:
            assert "has ended" in str(error), error
    list(session)
print("python: passed")
PY
PYTHONPATH=$here/../../assets/sdk python3 "$root/try.py"

cat > "$root/try.ts" <<'TS'
import { existsSync } from "node:fs";
import assert from "node:assert/strict";
import { Avocet } from "./avocet.ts";
const { ROOT: root, AVOCET: program } = process.env as Record<string, string>;
const decisions = ["approve", "reject"];
const avocet = await Avocet.start(["--model", `scripted:${root}/replies`], program);
const session = await avocet.open(root + "/work");
const said: string[] = [];
for await (const event of session.ask("write both", () => decisions.shift()))
  if (event.event === "replied") said.push(event.message);
assert.equal(said.at(-1), "Done.");
await assert.rejects(session.op("sing"), /sing/);
await session.close();
assert.equal(await avocet.close(), 0);
await assert.rejects(session.op("stop"), /has ended/);
const killed = await Avocet.start(["--model", `scripted:${root}/again`], program);
const open = await killed.open(root + "/work");
(killed as any).process.kill("SIGKILL");
for (let n = 0; n < 3; n++) await assert.rejects(open.op("stop"), /has ended/);
for await (const event of open.events()) assert.ok(event);
assert.equal(await killed.close(), null);
assert.ok(existsSync(root + "/work/a.txt") && !existsSync(root + "/work/b.txt"));
console.log("typescript: passed");
TS
rm -f "$root/work/a.txt"
cp "$here/../../assets/sdk/avocet.ts" "$root/avocet.ts"
(cd "$root" && "$real/npm-sdk/node_modules/.bin/tsc" --noEmit --strict --target es2022 --module nodenext \
    --allowImportingTsExtensions --typeRoots "$real/npm-sdk/node_modules/@types" --types node avocet.ts)
"$real/npm-sdk/node_modules/.bin/esbuild" "$root/try.ts" --bundle --platform=node --format=esm --outfile="$root/try.mjs" --log-level=error
node "$root/try.mjs"
