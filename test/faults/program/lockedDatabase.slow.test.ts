/**
 * Another process holds the database (`BEGIN EXCLUSIVE`) until the test lets it go. What must go on is awaited while the lock is held,
 * so that a gateway which waits for the lock never gets so far.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import { isOverPostgres, ofSqlite } from "../../support/postgres/Programs.ts"
import { answering, envelopeOf } from "../../support/Receiver.ts"

const adminKey = "admin-key-of-the-program-tests"
const adminPassword = "correct horse battery staple"
const environment = {
  GATEWAY_ADMIN_KEY: adminKey,
  GATEWAY_ADMIN_PASSWORD: adminPassword,
  OUTBOUND_SSRF_GUARD_ENABLED: "false"
}
const project = fileURLToPath(new URL("../../..", import.meta.url))
const usage = { in: 20, out: 100 }
const oneUsd = 0.00102
const streams = 5

const holding = `
  const db = new (require("better-sqlite3"))(process.argv[1], { timeout: 10_000 })
  db.exec("BEGIN EXCLUSIVE")
  process.stdout.write("held")
  process.stdin.on("end", () => { db.exec("COMMIT"); db.close() }).resume()
`

/** Another process that has the database for itself; `free` ends it. */
const hold = (dataDir: string) =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["-e", holding, join(dataDir, "gateway.sqlite")], {
          cwd: project,
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (running) => Effect.sync(() => void running.kill("SIGKILL"))
    )
    yield* Effect.promise(() => once(child.stdout, "data"))
    return {
      free: Effect.promise(async () => {
        const exit = once(child, "exit")
        child.stdin.end()
        await exit
      })
    }
  })

interface Call {
  readonly body?: unknown
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

const caller = (url: string) => {
  const send = async (method: string, path: string, { body, headers, key = adminKey }: Call = {}) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const json = async (method: string, path: string, body?: unknown) => {
    const response = await send(method, path, { body })
    const text = await response.text()
    assert.isTrue(response.ok, `${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  return { send, json }
}

const asking = (content: string, more: object = {}) => ({
  model: "up/m",
  max_tokens: 100,
  messages: [{ role: "user", content }],
  ...more
})

/** Reads a stream to a text that it holds. */
const readTo = async (reader: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<void> => {
  const decoder = new TextDecoder()
  let all = ""
  while (!all.includes(text)) {
    const { done, value } = await reader.read()
    assert.isFalse(done, `the stream ended before '${text}': ${all}`)
    all += decoder.decode(value, { stream: true })
  }
}

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  const receiver = yield* Fake.start
  const more = Fake.makeLatch()
  const [head = "", first = "", second = "", ...rest] = Fake.chatStream(["first", "second"], { usage })
  upstream.always((response, request) =>
    request.body.includes('"stream":true')
      ? Fake.sse([head, first, more, second, ...rest])(response, request)
      : Fake.json(Fake.chatCompletion({ usage }))(response, request)
  )
  receiver.always(answering(200))
  const program = yield* Program.start(environment)
  const { json, send } = caller(program.url)
  const made = yield* Effect.promise(async () => {
    const baseUrl = `${upstream.origin}/v1`
    await json("POST", "/api/provider-nodes", { name: "up", prefix: "up", type: "openai-compatible", baseUrl })
    await json("POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
    await json("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
    await json("PATCH", "/api/settings", { cache: { enabled: true } })
    await json("POST", "/api/webhooks", { url: receiver.origin, events: ["request.completed"] })
    const { key, secret } = await json("POST", "/api/keys", { name: "limited" })
    await json("POST", "/api/usage/budget", { apiKeyId: key.id, monthlyLimitUsd: 3.5 * 0.00106 })
    return { keyId: String(key.id), secret: String(secret) }
  })
  const readers = yield* Effect.promise(() =>
    Promise.all(
      Array.from({ length: streams }, async (_, index) => {
        const body = asking(`stream ${index}`, { stream: true })
        const { body: stream } = await send("POST", "/v1/chat/completions", { body })
        assert.isNotNull(stream)
        const reader = (stream ?? new ReadableStream<Uint8Array>()).getReader()
        await readTo(reader, "first")
        return reader
      })
    )
  )
  return { upstream, receiver, program, json, send, readers, more, ...made }
})

type Given = Effect.Effect.Success<typeof setUp>

/** Asks, and gives what the caller sees. */
const ask = async ({ send }: Given, body: unknown, key?: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await send("POST", "/v1/chat/completions", { body, headers, ...(key === undefined ? {} : { key }) })
  return {
    status: response.status,
    id: response.headers.get("x-gateway-request-id") ?? "",
    cache: response.headers.get("x-gateway-cache"),
    text: await response.text()
  }
}

/** What is asked of the gateway while the lock is held; all of it is answered. */
const whileLocked = async (given: Given): Promise<ReadonlyArray<string>> => {
  const { json, more, readers, secret, send, upstream } = given
  const ids: Array<string> = []
  const answered = async (...args: [unknown, string?, Readonly<Record<string, string>>?]) => {
    const answer = await ask(given, ...args)
    assert.strictEqual(answer.status, 200, answer.text)
    ids.push(answer.id)
    return answer
  }
  assert.strictEqual((await send("GET", "/api/health/ping")).status, 200)
  // Streams that run.
  more.open()
  await Promise.all(readers.map((reader) => readTo(reader, "[DONE]")))
  assert.strictEqual((await json("GET", "/api/keys")).keys.length, 1)
  // A budget for three: the fourth is refused although no row can be written.
  for (const n of [1, 2, 3]) await answered(asking(`budget ${n}`), secret)
  assert.strictEqual((await ask(given, asking("budget 4"), secret)).status, 429)
  // The cache, from memory.
  const cached = asking("cached", { temperature: 0 })
  assert.strictEqual((await answered(cached)).cache, "MISS")
  const before = upstream.requests.length
  assert.strictEqual((await answered(cached)).cache, "HIT")
  // The same key again is the same request.
  const again = { "idempotency-key": "once" }
  const one = await answered(asking("once"), adminKey, again)
  assert.strictEqual((await ask(given, asking("once"), adminKey, again)).text, one.text)
  assert.strictEqual(upstream.requests.length, before + 1)
  // Readers of usage see what is in the table.
  await json("GET", "/api/usage/logs?limit=10")
  return ids
}

describe.skipIf(isOverPostgres)(`another process holds the database${ofSqlite}`, () => {
  it.scopedLive(
    "streams and requests go on, writes wait, and nothing is lost",
    () =>
      Effect.gen(function* () {
        const given = yield* setUp
        const { json, keyId, program, receiver, send, upstream } = given
        const signedIn = yield* Effect.promise(() =>
          send("POST", "/api/auth/login", { body: { password: adminPassword } })
        )
        assert.strictEqual(signedIn.status, 200)
        const [cookie = ""] = (signedIn.headers.getSetCookie()[0] ?? "").split(";")
        const lock = yield* hold(program.dataDir)
        const ids = yield* Effect.promise(() => whileLocked(given))
        let answeredEarly = 0
        let isFree = false
        const writing = (method: string, path: string, body: unknown) =>
          send(method, path, { body }).then(async (response) => {
            if (!isFree) answeredEarly += 1
            return { status: response.status, text: await response.text() }
          })
        const writes = [
          writing("POST", "/api/keys", { name: "made while locked" }),
          writing("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } }),
          writing("POST", "/api/combos", { name: "locked", strategy: "priority", targets: [{ model: "up/m" }] }),
          writing("POST", "/api/auth/login", { password: adminPassword })
        ]
        // Behind them as well.
        assert.strictEqual((yield* Effect.promise(() => ask(given, asking("behind writes")))).status, 200)
        const session = yield* Effect.promise(() =>
          fetch(`${program.url}/api/settings`, { headers: { cookie } }).then(({ status }) => status)
        )
        assert.strictEqual(session, 200)
        assert.strictEqual(answeredEarly, 0)
        isFree = true
        yield* lock.free
        const written = yield* Effect.promise(() => Promise.all(writes))
        for (const { status, text } of written) assert.include([200, 201], status, text)
        yield* Effect.promise(async () => {
          const expected = upstream.requests.length + 1
          const rows = await eventually(
            "every usage row",
            async () => (await json("GET", "/api/usage/logs?limit=200")).logs as ReadonlyArray<{ readonly id: string }>,
            (logs) => ids.every((id) => JSON.stringify(logs).includes(id)) && logs.length >= expected
          )
          assert.strictEqual(new Set(rows.map(({ id }) => id)).size, rows.length)
          const budget = await json("GET", `/api/usage/budget?apiKeyId=${keyId}`)
          assert.strictEqual(budget.reservedUsd, 0)
          assert.closeTo(budget.spentUsd, 3 * oneUsd, 1e-10)
          await eventually(
            "every event",
            () => receiver.requests.map((request) => envelopeOf(request).id),
            (seen) => ids.every((id) => seen.includes(id))
          )
        })
        const end = yield* program.stop
        assert.strictEqual(end.code, 0, end.stderr)
      }),
    180_000
  )

  it.scopedLive(
    "a stop does not wait for it longer than for its rows, which are there after the next start",
    () =>
      Effect.gen(function* () {
        const given = yield* setUp
        const { program } = given
        const lock = yield* hold(program.dataDir)
        const ids = yield* Effect.promise(() => whileLocked(given))
        const end = yield* program.stop
        assert.strictEqual(end.code, 0, end.stderr)
        yield* lock.free
        const next = yield* Program.start(environment, program.dataDir)
        const { logs } = yield* Effect.promise(() => caller(next.url).json("GET", "/api/usage/logs?limit=200"))
        for (const id of ids) assert.include(JSON.stringify(logs), id)
      }),
    180_000
  )
})
