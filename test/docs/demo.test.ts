/** `npm run demo` as it is typed in a clone: twice at once, and with the variables of a terminal in use. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { failingUpstream, workingUpstream } from "../../bin/demo/sampleUpstreams.mjs"
import { build, builtFolder } from "../cli/built.ts"
import { makeClone } from "./clone.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-demo-test-"))
const temporary = mkdtempSync(join(tmpdir(), "gateway-demo-tmp-"))
beforeAll(async () => {
  await build()
  makeClone(folder)
}, 300_000)
afterAll(() => {
  for (const each of [folder, temporary]) rmSync(each, { recursive: true, force: true })
})

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const demo = (variables: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(
      "npm",
      ["run", "demo"],
      {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: temporary, ...variables },
        timeout: 240_000
      },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 99), stdout, stderr })
    )
  })

const shows = [
  /^Gateway at http:\/\/127\.0\.0\.1:\d+, with two SAMPLE upstreams/m,
  /^── POST \/v1\/chat\/completions, streamed, with the official 'openai' package ──+$/m,
  /^── POST \/v1\/messages, streamed, with the official '@anthropic-ai\/sdk' package ──+$/m,
  /^Decision: combo 'demo', strategy priority, order sample-down\/sample-model → sample-up\/sample-model$/m,
  /^ {2}failed {4}sample-down\/sample-model {2}http_503 {2}\d+ ms$/m,
  /^ {2}completed sample-up\/sample-model {2}ok {2}\d+ ms$/m,
  /^Usage: {4}24 tokens in, 41 out \(upstream\), wires chat → chat$/m,
  /^Usage: {4}24 tokens in, 41 out \(upstream\), wires messages → chat$/m,
  /^Cost: {5}\$0\.000687 {3}first token after \d+ ms, 2 attempts$/m,
  /That is the main job\. Next: npm start/
]

const isRight = ({ code, stderr, stdout }: Ran): void => {
  assert.strictEqual(code, 0, stderr + stdout)
  for (const line of shows) assert.match(stdout, line)
  assert.strictEqual(stdout.split("Hello! I am a sample upstream inside this demo").length, 3)
  assert.notMatch(stderr, /Error|demo failed/)
}

describe("npm run demo", () => {
  it("shows the main job, also twice at once, and leaves no data folder", { timeout: 300_000 }, async () => {
    for (const ran of await Promise.all([demo(), demo()])) isRight(ran)
    assert.deepStrictEqual(
      readdirSync(temporary).filter((name) => name.startsWith("gateway-demo-")),
      []
    )
  })

  it(
    "shows the same where the terminal has variables of the gateway and of providers",
    { timeout: 300_000 },
    async () => {
      isRight(
        await demo({
          REQUIRE_API_KEY: "true",
          GATEWAY_API_KEY: "gw_of_another",
          GATEWAY_URL: "http://127.0.0.1:9",
          OPENAI_API_KEY: "sk-of-the-terminal-0123",
          OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
          ANTHROPIC_AUTH_TOKEN: "of-the-terminal",
          PORT: "1"
        })
      )
    }
  )

  it("says what to do where the program is not built", { timeout: 300_000 }, async () => {
    rmSync(join(folder, "dist"))
    try {
      const { code, stderr } = await demo()
      assert.strictEqual(code, 1)
      assert.match(stderr, /The demo failed: .*\n.*the program is not built yet: run 'npm run build'/)
    } finally {
      symlinkSync(builtFolder, join(folder, "dist"))
    }
  })
})

describe("the sample upstream", () => {
  it("answers what is no question of a chat, and goes on", async () => {
    const { close, url } = await workingUpstream()
    const failing = await failingUpstream()
    try {
      const chat = `${url}/chat/completions`
      const models = await fetch(`${url}/models`)
      assert.deepStrictEqual(((await models.json()) as { readonly data: unknown }).data, [
        { id: "sample-model", object: "model" }
      ])
      const asked: ReadonlyArray<readonly [address: string, init: RequestInit, status: number]> = [
        [chat, { method: "GET" }, 404],
        [chat, { method: "POST" }, 400],
        [chat, { method: "POST", body: "{" }, 400],
        [chat, { method: "POST", body: "null" }, 400],
        [chat, { method: "POST", body: `"${"x".repeat(1_100_000)}"` }, 400],
        [`${url}/embeddings`, { method: "POST", body: "{}" }, 404],
        [url, { method: "DELETE" }, 404],
        [`${failing.url}/models`, { method: "GET" }, 503]
      ]
      for (const [address, init, status] of asked) {
        const answer = await fetch(address, init)
        assert.strictEqual(answer.status, status, `${init.method} ${address}`)
        assert.isString(((await answer.json()) as { readonly error: { readonly message: unknown } }).error.message)
      }
      const leaving = new AbortController()
      const begun = await fetch(chat, { method: "POST", body: "{}", signal: leaving.signal })
      leaving.abort()
      await begun.text().catch(() => "")
      const whole = await fetch(chat, { method: "POST", body: "{}" })
      assert.match(await whole.text(), /data: \[DONE\]/)
    } finally {
      close()
      failing.close()
    }
  })
})
