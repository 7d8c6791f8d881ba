/** Accounts of coding programs, servers of one's own, and names that are taken. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Fake from "../support/FakeUpstream.ts"
import { piped, program } from "./support.ts"

/** Each test starts the program several times. */
const patienceMs = 120_000

const { dataDir, main, run, serve, start } = program()

const stored = async (DATA_DIR: string) =>
  JSON.parse((await run(["providers", "list", "--json"], { DATA_DIR })).stdout).connections

/** As Claude Code writes it. */
const claudeFile = JSON.stringify({
  claudeAiOauth: {
    accessToken: "sk-ant-oat01-sample",
    refreshToken: "sk-ant-ort01-sample",
    expiresAt: 4_102_444_800_000,
    scopes: ["user:inference", "user:profile"],
    subscriptionType: "max"
  }
})

/** As Codex writes it. */
const codexFile = JSON.stringify({
  OPENAI_API_KEY: null,
  tokens: {
    id_token: "a.b.c",
    access_token: "sample-access",
    refresh_token: "sample-refresh",
    account_id: "account-1"
  },
  last_refresh: "2030-01-01T00:00:00Z"
})

describe("gateway provider login", () => {
  it(
    "waits without a terminal until the browser is back, where the gateway has a public address",
    async () => {
      const DATA_DIR = dataDir()
      const environment = { DATA_DIR, GATEWAY_ADMIN_KEY: "admin-key-of-the-sign-in-test" }
      const serving = await serve({ ...environment, NEXT_PUBLIC_BASE_URL: "https://gateway.tunnel.example/" })
      const child = start(["provider", "login", "codex", "--client-id", "mine"], {
        ...environment,
        PORT: new URL(serving.url).port
      })
      const exit = once(child, "exit")
      let told = ""
      child.stderr?.setEncoding("utf8")
      const address = await new Promise<URL>((resolve, reject) => {
        child.stderr?.on("data", (part: string) => {
          told += part
          const found = /https:\/\/auth\.openai\.com\S+(?=\s)/.exec(told)?.[0]
          if (found !== undefined) resolve(new URL(found))
        })
        child.once("exit", () => reject(new Error(told)))
      })
      const redirectUri = new URL(address.searchParams.get("redirect_uri") ?? "")
      assert.strictEqual(redirectUri.href, "https://gateway.tunnel.example/api/oauth/codex/callback")
      const state = address.searchParams.get("state") ?? ""
      const back = await fetch(`${serving.url}${redirectUri.pathname}?error=access_denied&state=${state}`)
      assert.strictEqual(back.status, 502)
      assert.include(await back.text(), "access_denied")
      assert.deepStrictEqual((await exit)[0], 1, told)
      assert.include(told, "access_denied")
      const none = await run(["provider", "login", "codex"], { ...environment, PORT: new URL(serving.url).port })
      assert.strictEqual(none.code, 2)
      assert.include(none.stderr, "https://platform.openai.com/api-keys")
      await serving.stop("SIGTERM")
    },
    patienceMs
  )

  it(
    "says what a sign-in needs, and takes the files of Claude Code and Codex where only their user may read them",
    async () => {
      const DATA_DIR = dataDir()
      const server = await serve({ DATA_DIR })
      const bare = await run(["provider", "login", "claude"], { DATA_DIR })
      assert.notStrictEqual(bare.code, 0)
      assert.notInclude(bare.stderr, "clientId")

      mkdirSync(join(DATA_DIR, ".claude"))
      const file = join(DATA_DIR, ".claude", ".credentials.json")
      writeFileSync(file, claudeFile)
      chmodSync(file, 0o644)
      const open = await run(["provider", "login", "claude", "--import", file], { DATA_DIR })
      assert.strictEqual(open.code, 2, open.stderr)
      assert.include(open.stderr, "chmod 600")
      assert.deepStrictEqual(await stored(DATA_DIR), [])

      chmodSync(file, 0o600)
      const imported = await run(["provider", "login", "claude", "--import", file], { DATA_DIR })
      assert.strictEqual(imported.code, 0, imported.stderr)
      assert.notInclude(imported.stderr, "sk-ant")
      const again = await run(["provider", "login", "claude", "--import", file], { DATA_DIR })
      assert.strictEqual(again.code, 0, again.stderr)

      const environment = { PATH: process.env["PATH"] ?? "", HOME: DATA_DIR, DATA_DIR }
      const wrong = await piped(main, ["provider", "login", "claude", "--import-stdin"], environment, codexFile)
      assert.strictEqual(wrong.code, 2, wrong.stderr)
      assert.include(wrong.stderr, "Codex")
      const codex = await piped(main, ["provider", "login", "codex", "--import-stdin"], environment, codexFile)
      assert.strictEqual(codex.code, 0, codex.stderr)

      const made = (await stored(DATA_DIR)) as ReadonlyArray<{ readonly provider: string; readonly authType: string }>
      assert.deepStrictEqual(made.map(({ authType, provider }) => `${provider} ${authType}`).sort(), [
        "claude oauth",
        "codex oauth"
      ])
      await server.stop("SIGTERM")
    },
    patienceMs
  )
})

const ownServer = Effect.gen(function* () {
  const fake = yield* Fake.start
  const whole = Fake.json(Fake.chatCompletion({ text: "pong" }))
  const streamed = Fake.sse(Fake.chatStream(["pong"]))
  const missing = Fake.json({ error: { message: "Not found." } }, { status: 404 })
  fake.always((response, request) => {
    // It does not speak as Ollama does.
    if (request.url.includes("/api/")) return missing(response, request)
    return (/"stream":\s*true/.test(request.body) ? streamed : whole)(response, request)
  })
  fake.lists(Fake.json(Fake.models(["cellar-model"])))
  return `${fake.origin}/v1`
})

describe("a server of one's own", () => {
  it.scopedLive(
    "is asked which wire it speaks, with a gateway and without one, and keeps nothing of what was tried",
    () =>
      Effect.gen(function* () {
        const url = yield* ownServer
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const setUp = ["setup", "--non-interactive", "--provider", "custom"]
          const without = await run(setUp, { DATA_DIR })
          assert.strictEqual(without.code, 2)
          assert.include(without.stderr, "--provider-base-url")
          const first = await run([...setUp, "--provider-base-url", url, "--provider-name", "cellar"], { DATA_DIR })
          assert.strictEqual(first.code, 0, first.stderr)
          const taken = await run([...setUp, "--provider-base-url", url, "--provider-name", "cellar"], { DATA_DIR })
          assert.strictEqual(taken.code, 2, taken.stderr)
          assert.include(taken.stderr, "already")
          const silent = await run(
            [...setUp, "--provider-base-url", "http://127.0.0.1:9/v1", "--provider-name", "none"],
            { DATA_DIR }
          )
          assert.strictEqual(silent.code, 1, silent.stderr)
          assert.include(silent.stderr, "Nothing was stored")

          const server = await serve({ DATA_DIR })
          const second = await run(["provider", "add", "compatible", "--base-url", url], { DATA_DIR })
          assert.strictEqual(second.code, 0, second.stderr)
          const third = await run(["provider", "add", "custom", "--base-url", url], { DATA_DIR })
          assert.strictEqual(third.code, 0, third.stderr)
          const doubled = await run(["provider", "add", "custom", "--base-url", url, "--name", "cellar"], { DATA_DIR })
          assert.strictEqual(doubled.code, 2, doubled.stderr)
          assert.lengthOf(await stored(DATA_DIR), 3)
          const asked = await run(["chat", "-m", "cellar/cellar-model", "ping"], { DATA_DIR })
          assert.deepStrictEqual([asked.code, asked.stdout], [0, "pong\n"], asked.stderr)
          await server.stop("SIGTERM")
        })
      }),
    patienceMs
  )
})

describe("gateway start, stop and restart", () => {
  it(
    "stop ends the process that serves the data folder, and says so where there is none",
    async () => {
      const DATA_DIR = dataDir()
      const server = await serve({ DATA_DIR })
      const started = await run(["start"], { DATA_DIR })
      assert.strictEqual(started.code, 0, started.stderr)
      assert.include(started.stderr, "runs already")
      const stopped = await run(["stop"], { DATA_DIR })
      assert.strictEqual(stopped.code, 0, stopped.stderr)
      assert.include(stopped.stderr, `The gateway at ${server.url} is stopped`)
      const again = await run(["stop"], { DATA_DIR })
      assert.strictEqual(again.code, 0, again.stderr)
      assert.include(again.stderr, "No gateway runs")
      const restarted = await run(["restart"], { DATA_DIR })
      assert.strictEqual(restarted.code, 1, restarted.stderr)
    },
    patienceMs
  )
})

describe("names that are taken", () => {
  it(
    "are refused for everything that has a name, and the first one stays",
    async () => {
      const DATA_DIR = dataDir()
      const server = await serve({ DATA_DIR })
      const twice = async (...words: ReadonlyArray<string>) => {
        const first = await run(words, { DATA_DIR })
        assert.strictEqual(first.code, 0, `${words.join(" ")}: ${first.stderr}`)
        const second = await run(words, { DATA_DIR })
        assert.include([1, 2], second.code, `${words.join(" ")}: ${second.stderr}`)
        assert.match(second.stderr, /already|taken/)
      }
      await twice("key", "add", "laptop")
      await twice("webhook", "add", "https://hooks.example.com/one")
      await twice("combo", "create", "fast", "openai/gpt-4o")
      await twice("proxy", "add", "socks5://proxy.example:1080", "--name", "berlin")
      await twice("mcp", "add", "docs", "https://mcp.example.com/mcp")
      const meant = await run(["key", "add", "laptop", "--allow-same-name"], { DATA_DIR })
      assert.strictEqual(meant.code, 0, meant.stderr)
      await server.stop("SIGTERM")
    },
    patienceMs
  )
})
