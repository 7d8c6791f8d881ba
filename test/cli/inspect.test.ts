/** `gateway inspect` as the built program, against a gateway that runs: every subcommand for people and with `--json`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as FakeUpstream from "../support/FakeUpstream.ts"
import { eventuallyFound } from "../support/eventually.ts"
import { type Said, typed } from "../unit/cli/inProcess.ts"
import { program } from "./support.ts"
import { inTerminal } from "./terminal.ts"
import { launch } from "./built.ts"

const { dataDir, run, serve, start } = program()

const admin = { GATEWAY_ADMIN_KEY: "admin-of-the-test" }
const tools = "/api/tools/traffic-inspector"
const ingestToken = "ingest-token-of-the-test"
const secret = "sk-proj-4f8Gh2kLm9Qw4Zx8Vb1NcPq7Rt5"

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
type Answer = any

const setUp = Effect.gen(function* () {
  const upstream = yield* FakeUpstream.start
  upstream.always((response, request) => {
    const isStream = request.body.includes('"stream":true')
    const answer = isStream
      ? FakeUpstream.sse(FakeUpstream.chatStream(["Bon", "jour"]))
      : FakeUpstream.json(FakeUpstream.chatCompletion({ text: "Bonjour" }))
    return answer(response, request)
  })
  const serving = yield* Effect.acquireRelease(
    Effect.promise(() =>
      serve({
        DATA_DIR: dataDir(),
        ...admin,
        INSPECTOR_INTERNAL_INGEST_TOKEN: ingestToken,
        OUTBOUND_SSRF_GUARD_ENABLED: "false"
      })
    ),
    ({ stop }) => Effect.promise(() => stop("SIGTERM"))
  )
  const { url } = serving
  const environment = { DATA_DIR: dataDir(), GATEWAY_URL: url, ...admin }
  const manage = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${admin.GATEWAY_ADMIN_KEY}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    assert.isTrue(answer.ok, `${method} ${path}: ${text}`)
    return text === "" ? null : JSON.parse(text)
  }
  const inspect = (...words: ReadonlyArray<string>) => run(["inspect", ...words], environment)
  /** The same in the process of the test, where a start of the program would show no more. */
  const typedInspect = (words: ReadonlyArray<string>): Promise<Said> =>
    Effect.runPromise(typed(["inspect", ...words, "--url", url, "--gateway-key", admin.GATEWAY_ADMIN_KEY]))
  /** What a command says to people. */
  const people = async (...words: ReadonlyArray<string>): Promise<string> => {
    const { code, stderr, stdout } = await typedInspect(words)
    assert.strictEqual(code, 0, `${words.join(" ")}: ${stderr}`)
    assert.notInclude(stdout + stderr, secret, words.join(" "))
    return stdout + stderr
  }
  const json = async (...words: ReadonlyArray<string>): Promise<Answer> => {
    const { code, stderr, stdout } = await typedInspect([...words, "--json"])
    assert.strictEqual(code, 0, `${words.join(" ")}: ${stderr}`)
    assert.notInclude(stdout, secret, words.join(" "))
    return JSON.parse(stdout)
  }
  yield* Effect.promise(async () => {
    const node = { name: "up", prefix: "up", type: "openai-compatible", baseUrl: `${upstream.origin}/v1` }
    const made = await manage("POST", "/api/provider-nodes", node)
    await manage("POST", "/api/providers", { provider: made.node.prefix, name: "up", apiKey: "k", defaultModel: "m" })
    await manage("POST", `${tools}/capture-modes/gateway`, { enabled: true })
  })
  let asked = 0
  /** Asks a model; gives the id of the record. */
  const ask = async (content: string, stream = false): Promise<string> => {
    const body = { model: "up/m", stream, messages: [{ role: "user", content }] }
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${admin.GATEWAY_ADMIN_KEY}`,
        "content-type": "application/json",
        "x-note": secret
      },
      body: JSON.stringify(body)
    })
    const text = await answer.text()
    assert.strictEqual(answer.status, 200, text)
    asked += 1
    const requestId = answer.headers.get("x-gateway-request-id")
    return eventuallyFound(`record ${asked}`, async () => {
      const { requests } = await manage("GET", `${tools}/requests`)
      return requests.find((row: Answer) => row.gatewayRequestId === requestId && row.status === 200)?.id
    })
  }
  /** Hands in a request that another program captured. */
  const handIn = async (record: Readonly<Record<string, unknown>>): Promise<void> => {
    const content = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Again" }] })
    const answer = await fetch(`${url}${tools}/internal/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${ingestToken}`, "content-type": "application/json" },
      body: JSON.stringify({
        timestamp: "2026-11-24T10:00:00.000Z",
        method: "POST",
        host: "api.openai.com",
        path: "/v1/chat/completions",
        source: "http-proxy",
        requestHeaders: { "content-type": "application/json" },
        requestBody: content,
        requestSize: content.length,
        responseHeaders: { "content-type": "application/json" },
        responseBody: JSON.stringify({ error: { message: "Overloaded" } }),
        responseSize: 30,
        ...record
      })
    })
    assert.strictEqual(answer.status, 200, await answer.text())
  }
  return { ask, handIn, environment, inspect, json, manage, people, upstream }
})

describe("gateway inspect", () => {
  it.scopedLive(
    "shows, compares and asks again what was captured",
    () =>
      Effect.gen(function* () {
        const { ask, inspect, json, people, upstream } = yield* setUp
        yield* Effect.promise(async () => {
          const first = await ask(`Is ${secret} a key?`)
          const second = await ask("Hello", true)

          assert.match(await people("list"), /STATUS[\s\S]*up\/m as m at/)
          const listed = await json("list", "--limit", "1")
          assert.deepInclude(listed.requests[0], { id: second, status: 200 })
          assert.strictEqual(listed.total, 2)
          assert.include(await people("list", "--limit", "1"), `--cursor ${listed.nextCursor}`)
          assert.strictEqual((await json("list", "--cursor", listed.nextCursor)).requests[0].id, first)
          assert.strictEqual((await json("list", "--search", "hello")).total, 1)
          assert.include(await people("list", "--status", "5xx"), "Nothing is captured")
          assert.strictEqual((await inspect("list", "--status", "9xx")).code, 2)

          assert.match(await people("show", first), /Sent, \d+ bytes:[\s\S]*Came back[\s\S]*Bonjour/)
          assert.deepInclude(await json("show", first), { id: first, source: "gateway" })
          const missing = await inspect("show", "none")
          assert.strictEqual(missing.code, 2)
          assert.include(missing.stderr, "no such request")

          assert.match(await people("conversation", second), /user:\n {2}Hello\nassistant:\n {2}Bonjour/)
          assert.strictEqual((await json("conversation", second)).response[0].role, "assistant")
          assert.match(await people("anatomy", first), /messages\[0\][\s\S]*tokens?, estimated/)
          assert.strictEqual((await json("anatomy", first)).sections[0].kind, "message")
          assert.include(await people("diff", first, second), "messages[0].content")
          assert.isFalse((await json("diff", first, second)).equal)
          assert.match(await people("diff", first, first), /the same/)
          assert.include(await people("cache"), "No prompt cache was broken")
          assert.deepStrictEqual((await json("cache")).breaks, [])
          assert.include(await people("cache", first), "Verdict")
          assert.isString((await json("cache", first)).cache.verdict)

          assert.include(await people("note", first, "the first one"), "is written")
          assert.include(await people("show", first), "the first one")
          assert.isNull((await json("note", first, "")).annotation)

          const calls = upstream.requests.length
          const again = await inspect("replay", second)
          assert.strictEqual(again.code, 0, again.stderr)
          assert.strictEqual(again.stdout, "Bonjour\n")
          assert.match(again.stderr, /Answered by up\/m, request [\w-]+\./)
          assert.strictEqual((await inspect("replay", first)).stdout, "Bonjour\n")
          const told = await json("replay", first, "--header", "openai-beta=x")
          assert.deepInclude(told, { replayOf: first, provider: "up", model: "m", events: [] })
          assert.strictEqual(told.answer.choices[0].message.content, "Bonjour")
          assert.strictEqual(upstream.requests.at(-1)?.headers["openai-beta"], "x")
          const events = await json("replay", second)
          assert.isNull(events.answer)
          assert.isAbove(events.events.length, 2)
          assert.strictEqual(upstream.requests.length, calls + 4)
          const refused = await inspect("replay", first, "--model", "nobody/m")
          assert.strictEqual(refused.code, 2)
          assert.include(refused.stderr, "nobody/m")
          assert.strictEqual((await inspect("replay", "none")).code, 2)
          assert.strictEqual((await inspect("replay", first, "--header", "x")).code, 2)
          assert.strictEqual((await inspect("replay", first, "--body", "no-such-file.json")).code, 2)

          assert.match(await people("clear"), /forgotten/)
          assert.deepStrictEqual(await json("clear"), { cleared: true })
          assert.strictEqual((await json("list")).total, 0)
        })
      }),
    180_000
  )

  it.scopedLive(
    "counts the retries of a prompt as one line, which opens",
    () =>
      Effect.gen(function* () {
        const { handIn, json, people } = yield* setUp
        yield* Effect.promise(async () => {
          await json("sessions", "start")
          for (const at of [0, 1, 2]) {
            await handIn({ id: `storm-${at}`, timestamp: `2026-11-24T10:00:0${at}.000Z`, status: 529 })
          }
          const { session } = await json("sessions", "stop")
          const listed = await people("list")
          assert.match(listed, /529\s+3\s.*storm-2/)
          assert.notInclude(listed, "storm-1")
          assert.include(listed, "gateway inspect list --retry-of storm-2")
          assert.match(await people("list", "--retry-of", "storm-2"), /storm-0[\s\S]*storm-1[\s\S]*storm-2/)
          assert.include(await people("list", "--retries"), "storm-1")
          assert.strictEqual((await json("list")).total, 1)
          assert.match(await people("list", "--by-context"), /CONTEXT\s+REQUESTS[\s\S]*-\s+3\s+3/)
          assert.deepInclude((await json("list", "--by-context")).contexts[0], { requests: 3, lastId: "storm-2" })
          assert.deepInclude(await json("show", "storm-2"), { attempt: 3, retryOf: "storm-0" })
          assert.match(
            await people("conversation", "storm-1"),
            /\(attempt 3, [^:]+:[^:]+:[^:]+: 529, Overloaded, storm-2\)/
          )
          const shown = await people("sessions", "show", session.id)
          assert.include(shown, "storm-2")
          assert.notInclude(shown, "storm-1")
          assert.include(await people("sessions", "show", session.id, "--retries"), "storm-1")
        })
      }),
    120_000
  )

  it.scopedLive(
    "sends a request to its own server again, and compares the answers",
    () =>
      Effect.gen(function* () {
        const { handIn, inspect, json, people, upstream } = yield* setUp
        yield* Effect.promise(async () => {
          const host = new URL(upstream.origin).host
          const requestHeaders = { "content-type": "application/json", authorization: `Bearer ${secret}` }
          await handIn({
            id: "d",
            status: 500,
            scheme: "http",
            host,
            requestHeaders,
            path: "/other/v1/chat/completions"
          })
          const shown = await people("replay", "d", "--direct", "--header", `authorization=Bearer ${secret}`)
          assert.match(shown, /replace\s+status\s+500\s+200/)
          assert.match(shown, new RegExp(`${host} answered 200; it is recorded as [\\w-]+`))
          assert.deepInclude(upstream.requests.at(-1), { url: "/other/v1/chat/completions" })
          assert.strictEqual(upstream.requests.at(-1)?.headers["authorization"], `Bearer ${secret}`)
          const told = await json("replay", "d", "--direct", "--model", "x", "--path", "/x")
          assert.isString(told.connectionId)
          assert.deepInclude(told.record, { replayOf: "d", path: "/x", status: 200 })
          assert.strictEqual(upstream.requests.at(-1)?.headers["authorization"], "Bearer k")
          const wrong = await inspect("replay", "d", "--direct", "--connection", "none")
          assert.strictEqual(wrong.code, 2)
          assert.include(wrong.stderr, "its credential is sent nowhere else")
          assert.strictEqual((await inspect("replay", "d", "--path", "/x")).code, 2)
          await handIn({ id: "e", status: 500, host: "api.example.com", requestHeaders })
          const missing = await inspect("replay", "e", "--direct")
          assert.strictEqual(missing.code, 2)
          assert.include(missing.stderr, "give authorization")
        })
      }),
    120_000
  )

  it.scopedLive(
    "is a list to move in at a terminal, and a table elsewhere",
    () =>
      Effect.gen(function* () {
        const { environment, handIn, inspect, json } = yield* setUp
        yield* Effect.promise(async () => {
          await handIn({ id: "one", host: "first.example", status: 200 })
          await handIn({ id: "two", host: "second.example", status: 404 })
          const piped = await inspect()
          assert.strictEqual(piped.code, 0, piped.stderr)
          assert.match(piped.stdout, /STATUS[\s\S]*one[\s\S]*two/)
          assert.notInclude(piped.stdout, "\u001b")
          const { code, screen } = await inTerminal([...launch, "inspect"], environment, [
            [/2 of 2[\s\S]*q quit/, "/first"],
            [/1 of 2 .*\/first/, "\r"],
            [/first\.example(?![\s\S]*second\.example)/, "\r"],
            [/Request +POST https:\/\/first\.example[\s\S]*esc back/, "q"],
            [/1 of 2/, " "],
            [/1 marked/, "q"]
          ])
          assert.strictEqual(code, 0, screen)
          // The screen is as it was before.
          assert.notInclude(screen, "q quit")
          assert.strictEqual((await json()).total, 2)
        })
      }),
    120_000
  )

  it.scopedLive(
    "records sessions, exports and imports",
    () =>
      Effect.gen(function* () {
        const { ask, inspect, json, people } = yield* setUp
        const folder = dataDir()
        yield* Effect.promise(async () => {
          assert.include(await people("sessions", "list"), "No session was recorded")
          const started = await inspect("sessions", "start", "--name", "one")
          assert.strictEqual(started.code, 0, started.stderr)
          const id = started.stdout.trim()
          assert.strictEqual((await inspect("sessions", "start")).code, 1)
          const record = await ask(`Is ${secret} a key?`)
          assert.include(await people("sessions", "stop"), "saved, with 1 request")
          const none = await inspect("sessions", "stop")
          assert.strictEqual(none.code, 2)
          assert.include(none.stderr, "No session records")
          assert.include(await people("sessions", "rename", id, "two"), "renamed")
          const renamed = await json("sessions", "rename", id, "three")
          assert.deepInclude(renamed.session, { id, name: "three", state: "saved", requestCount: 1 })
          assert.match(await people("sessions", "list"), /three\s+saved/)
          assert.strictEqual((await json("sessions", "list")).sessions[0].id, id)
          assert.match(await people("sessions", "show", id), /up\/m/)
          assert.strictEqual((await json("sessions", "show", id)).requests[0].id, record)
          assert.strictEqual((await json("list", "--session", id)).total, 1)

          const har = JSON.parse((await inspect("sessions", "export", id)).stdout)
          assert.strictEqual(har.log.entries[0]._gatewayId, record)
          const file = join(folder, "session.har")
          assert.include(await people("sessions", "export", id, "--out", file), file)
          assert.notInclude(readFileSync(file, "utf8"), secret)
          assert.notStrictEqual((await inspect("sessions", "export", id, "--out", file)).code, 0)
          assert.strictEqual((await inspect("sessions", "export", id, "--har", "--jsonl")).code, 2)
          const line = (await inspect("sessions", "export", id, "--jsonl")).stdout
          assert.strictEqual(JSON.parse(line).id, record)
          assert.strictEqual(JSON.parse((await inspect("export", "--jsonl")).stdout).id, record)
          assert.lengthOf(JSON.parse((await inspect("export", "--status", "5xx")).stdout).log.entries, 0)

          const imported = await inspect("sessions", "import", file)
          assert.strictEqual(imported.code, 0, imported.stderr)
          assert.include(imported.stderr, "1 request was made")
          assert.strictEqual((await json("sessions", "import", file)).session.requestCount, 1)
          assert.strictEqual((await inspect("sessions", "import", join(folder, "none.har"))).code, 2)
          assert.include(await people("sessions", "remove", imported.stdout.trim()), "removed")
          assert.deepStrictEqual(await json("sessions", "remove", id), { removed: id })
          assert.strictEqual((await inspect("sessions", "show", id)).code, 2)
          const begun = await json("sessions", "start")
          assert.strictEqual(begun.session.state, "recording")
          assert.strictEqual((await json("sessions", "stop")).session.id, begun.session.id)
        })
      }),
    180_000
  )

  it.scopedLive(
    "follows what comes, for people and as lines of JSON",
    () =>
      Effect.gen(function* () {
        const { ask, environment } = yield* setUp
        const before = yield* Effect.promise(() => ask("Hello"))
        for (const words of [[], ["--json"]]) {
          const child = start(["inspect", "tail", ...words], environment)
          yield* Effect.promise(async () => {
            const lines: Array<string> = []
            const reader = createInterface({ input: child.stdout ?? assert.fail("no output") })
            reader.on("line", (text) => lines.push(text))
            const holding = (id: string) =>
              eventuallyFound(`the line of ${id}`, () => lines.find((text) => text.includes(id)), { withinMs: 30_000 })
            await holding(before)
            const id = await ask("And now?")
            const line = await holding(id)
            if (words.length > 0) assert.deepInclude(JSON.parse(line), { id, status: 200 })
            else assert.match(line, /200 .*up\/m/)
            assert.lengthOf(
              lines.filter((text) => text.includes(id)),
              1
            )
            const exit = once(child, "exit")
            child.kill("SIGINT")
            await exit
          })
        }
      }),
    120_000
  )
})
