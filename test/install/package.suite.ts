/** `npm pack`, then `npm install -g` of what it made, into a folder without a checkout; the program is used from there. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { afterAll, inject } from "vitest"
import { hasDatabase, longestInstallMs } from "./setup.ts"
import * as Fake from "../support/FakeUpstream.ts"

const running = promisify(execFile)
const project = new URL("../..", import.meta.url).pathname
const packed = inject("packed")
const installed = inject("installed")
const folder = mkdtempSync(join(tmpdir(), "gateway-installed-"))
const home = join(folder, "home")
const place = join(installed, "lib/node_modules/onegateway")
const adminKey = "install-admin-key-0123456789"

/** What a login shell of a new user has. */
const environment = { PATH: `${join(installed, "bin")}:${process.env["PATH"]}`, HOME: home, LANG: "C.UTF-8" }

/** All packages in a folder of them, those of scopes by their whole name. */
const packagesIn = (modules: string): ReadonlyArray<string> =>
  readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name]
    )

const serve = Effect.acquireRelease(
  Effect.promise(async () => {
    const child = spawn("gateway", ["serve", "--port", "0", "--no-open"], {
      cwd: folder,
      env: { ...environment, GATEWAY_ADMIN_KEY: adminKey },
      stdio: ["ignore", "pipe", "inherit"]
    })
    for await (const line of createInterface(child.stdout)) {
      const url = /^Gateway listening on (\S+)$/.exec(line)?.[1]
      if (url !== undefined) return { child, url }
    }
    throw new Error("The installed program ended before it listened.")
  }),
  ({ child }) =>
    Effect.promise(async () => {
      child.stdout.resume()
      child.kill("SIGTERM")
      await once(child, "close")
    })
)

interface Answered {
  readonly status: number
  /** As much of the bodies as is looked at. */
  readonly json: {
    readonly choices?: ReadonlyArray<{ readonly message: { readonly content: string } }>
    readonly input_tokens?: number
  }
}

const call = (url: string, path: string, body: unknown): Effect.Effect<Answered> =>
  Effect.promise(async () => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return { status: answer.status, json: (await answer.json()) as Answered["json"] }
  })

describe("the package", () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("holds the program and its papers, and nothing of how it is made", () => {
    const paths = packed.files.map(({ path }) => path)
    const program = ["bin/gateway", "dist/main.cjs", "dist/THIRD-PARTY-NOTICES.txt"]
    for (const needed of ["LICENSE", "README.md", ...program, "dist/plugin.mjs", "dist/plugin.d.mts"]) {
      assert.include(paths, needed)
    }
    assert.deepStrictEqual(
      paths.filter((path) => /^(?:src|test|bench|\.ci)\/|\.map$|\.ts$/.test(path)),
      []
    )
  })

  it("brings only what the program needs to run", () => {
    const present = packagesIn(join(place, "node_modules"))
    assert.includeMembers([...present], ["@node-rs/argon2"])
    for (const developers of [
      "better-sqlite3",
      "effect",
      "typescript",
      "rolldown",
      "vitest",
      "openai",
      "gpt-tokenizer"
    ]) {
      assert.notInclude(present, developers)
    }
    assert.isTrue(statSync(join(place, "dist/main.cjs")).isFile())
  })

  it("is no larger than 5 MB, has no code that one Node has compiled, and runs nothing when it is installed", () => {
    assert.isAtMost(packed.size, 5_000_000)
    assert.deepStrictEqual(
      packed.files.filter(({ path }) => path.endsWith(".v8")),
      []
    )
    const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8"))
    assert.notProperty(manifest, "scripts")
    assert.notProperty(manifest, "devDependencies")
    assert.deepStrictEqual(manifest.bin, { gateway: "bin/gateway" })
  })

  it("is installed in 20 seconds without a compiler and without a warning", () => {
    assert.isAtMost(inject("installMs"), longestInstallMs)
    assert.notMatch(inject("installSaid"), /warn|deprecated|gyp/i)
  })

  it("needs a driver of the database only where Node has none, and says so there", () => {
    if (hasDatabase()) assert.strictEqual(inject("withoutDriver"), "")
    else {
      assert.match(
        inject("withoutDriver"),
        /^gateway: Node\.js \S+ has no SQLite of its own: use Node\.js 22\.16 or newer/
      )
      assert.include(inject("withoutDriver"), "npm install --global better-sqlite3@")
    }
  })

  it("cannot be published from a checkout", async () => {
    const refused = await running("npm", ["publish", "--dry-run"], { cwd: project, env: process.env }).catch(
      (error: { readonly stderr: string }) => error.stderr
    )
    assert.include(refused, "Nothing is published from a checkout")
  })

  it("answers --version and --help on a machine that knows nothing of it", async () => {
    const run = async (flag: string) => (await running("gateway", [flag], { cwd: folder, env: environment })).stdout
    assert.match(await run("--version"), /^\d+\.\d+\.\d+\n$/)
    assert.include(await run("--help"), "serve")
  })

  it.scoped("serves a first answer and counts tokens, with its data in the home folder", () =>
    Effect.gen(function* () {
      const fake = yield* Fake.start
      fake.always(Fake.json(Fake.chatCompletion({ text: "Hello from afar." })))
      const { url } = yield* serve
      const node = {
        name: "far",
        prefix: "far",
        type: "openai-compatible",
        baseUrl: `${fake.origin}/v1`,
        wires: ["chat"]
      }
      assert.strictEqual((yield* call(url, "/api/provider-nodes", node)).status, 201)
      const connection = { provider: "far", name: "far", apiKey: "sk-far-0123456789", models: ["small"] }
      assert.strictEqual((yield* call(url, "/api/providers", connection)).status, 201)
      const messages = [{ role: "user", content: "Hello" }]
      const answer = yield* call(url, "/v1/chat/completions", { model: "far/small", messages })
      assert.strictEqual(answer.json.choices?.[0]?.message.content, "Hello from afar.")
      const count = yield* call(url, "/v1/messages/count_tokens", { model: "far/small", messages })
      assert.isAbove(count.json.input_tokens ?? 0, 0)
      assert.isTrue(existsSync(join(home, ".gateway")))
    })
  )
})
