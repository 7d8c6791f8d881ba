/** The build keeps what V8 has compiled of the program, and a start takes it. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import { brotliDecompressSync } from "node:zlib"
import { readHeader } from "../../src/store/engine/DatabaseHeader.ts"
import { migrations, versionOf } from "../../src/store/migrations/index.ts"
import { nodeFlags } from "./built.ts"
import { program, project } from "./support.ts"

/** Starts the program with `--help`, and writes to stderr whether V8 refused the compiled code of each script; null where it has none. */
const probe = (folder: string): string => `
  import { launch } from ${JSON.stringify(join(project, "bin/launch.cjs"))}
  const refused = []
  process.argv.splice(1, process.argv.length, "gateway", "--help")
  process.on("exit", () => process.stderr.write(JSON.stringify(refused)))
  launch(${JSON.stringify(folder)}, ({ cachedDataRejected }) => refused.push(cachedDataRejected ?? null))
`

describe("the built program", () => {
  const { main } = program()
  const start = (flags: ReadonlyArray<string>) =>
    spawnSync(process.execPath, [...flags, "--input-type=module", "--eval", probe(dirname(main))], {
      encoding: "utf8",
      env: { PATH: process.env.PATH }
    })

  it("starts a command with the compiled code that the build has kept of every script", () => {
    const { status, stderr, stdout } = start(nodeFlags)
    assert.strictEqual(status, 0)
    assert.include(stdout, "serve")
    const refused: ReadonlyArray<boolean | null> = JSON.parse(stderr)
    assert.isAbove(refused.length, 2)
    assert.deepStrictEqual(new Set(refused), new Set([false]))
  })

  it("has threads whose code loads: without them their work is done in the way of requests, and nothing says so", async () => {
    const assets = join(dirname(main), "assets")
    const names = readdirSync(assets).filter((name) => /^(?:worker|bodyThread|guardThread)-[^.]+\.mjs$/.test(name))
    assert.lengthOf(names, 3)
    for (const name of names) {
      const url = pathToFileURL(join(assets, name)).href
      const code = `import(${JSON.stringify(url)}).then(() => require("node:worker_threads").parentPort.postMessage("loaded"))`
      const thread = new Worker(code, { eval: true })
      const [first] = await Promise.race([once(thread, "message"), once(thread, "error")])
      await thread.terminate()
      assert.strictEqual(first, "loaded", name)
    }
  })

  it("has the empty database that a new data folder begins with, of this version", () => {
    const built = brotliDecompressSync(readFileSync(join(dirname(main), "empty.sqlite.br")))
    assert.strictEqual(readHeader(built)?.userVersion, versionOf(migrations))
  })

  it("starts without it where Node has other flags", () => {
    const { status, stderr, stdout } = start([])
    assert.strictEqual(status, 0)
    assert.include(stdout, "serve")
    assert.include(JSON.parse(stderr), true)
  })
})
