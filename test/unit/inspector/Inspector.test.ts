import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { gzipSync } from "node:zlib"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import * as Inspector from "../../../src/observe/inspector/Inspector.ts"
import { harPieces, jsonlPieces } from "../../../src/observe/inspector/exports/Har.ts"
import { usualSettings } from "../../../src/observe/inspector/Settings.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import * as InspectorSessionRepo from "../../../src/subjects/inspector/repo.ts"
import * as PriceBook from "../../../src/observe/usage/PriceBook.ts"
import { eventually } from "../../support/eventually.ts"
import { coreOf, shapedSecrets } from "../../support/KindsOfSecrets.ts"
import { modelTraffic } from "../../support/ModelTraffic.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { reposInMemory } from "../store/fixtures.ts"

const environmentOf = (pairs: Readonly<Record<string, string>>) =>
  Layer.succeed(AppConfig.AppConfig, { environment: new Map(Object.entries(pairs)) } as never)

const inspectorWith = (
  pairs: Readonly<Record<string, string>> = {},
  timers: Layer.Layer<Timers.Timers> = Timers.layer
) =>
  Inspector.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        environmentOf(pairs),
        timers,
        IdGen.layerCounting("r"),
        Layer.orDie(PriceBook.layerMemory),
        InspectorSessionRepo.layer.pipe(Layer.provide(reposInMemory))
      )
    )
  )

const start = {
  source: "http-proxy",
  method: "POST",
  scheme: "https",
  host: "api.openai.com",
  path: "/v1/chat/completions",
  headers: ["Content-Type", "application/json", "Authorization", "Bearer f7Gh2kLm9Qw4Zx8Vb1Nc", "X-A", "1", "x-a", "2"]
} as const

const chat = modelTraffic[0]!
const asked = Buffer.from(JSON.stringify(chat.request))
const answered = Buffer.from(JSON.stringify(chat.answer))
const json = { "content-type": "application/json" }

describe("the inspector", () => {
  it.live("shows an exchange as in-flight first, then updates it in its place", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const id = inspector.begin(operatorsOwn, { ...start, body: asked, atMs: 1_000 })
      const other = inspector.begin(operatorsOwn, { ...start, path: "/other" })
      yield* inspector.settled
      const early = yield* inspector.get(id)
      assert.deepInclude(early, {
        status: "in-flight",
        requestBody: asked.toString(),
        responseBody: null,
        totalLatencyMs: null
      })
      assert.deepInclude(early.llm, {
        model: "gpt-4o-mini",
        tokensOut: null,
        messages: 4,
        provider: "openai",
        streamed: false
      })
      assert.deepStrictEqual(early.requestHeaders, {
        "content-type": "application/json",
        authorization: "Bearer ***b1Nc",
        "x-a": "1, 2"
      })
      inspector.finish(id, {
        status: 200,
        responseHeaders: { ...json, "content-encoding": "gzip", "x-gateway-mapped-model": "gpt-5" },
        responseBody: gzipSync(answered),
        ttftMs: 100,
        totalLatencyMs: 600,
        upstreamLatencyMs: 500,
        gatewayRequestId: "g1",
        decision: { order: [] }
      })
      yield* inspector.settled
      const record = yield* inspector.get(id)
      assert.deepInclude(record, {
        status: 200,
        requestBody: asked.toString(),
        responseBody: answered.toString(),
        responseSize: gzipSync(answered).length,
        requestSize: asked.length,
        totalLatencyMs: 600,
        upstreamLatencyMs: 500,
        mappedModel: "gpt-5",
        gatewayRequestId: "g1",
        timestamp: "1970-01-01T00:00:01.000Z",
        detectedKind: "llm"
      })
      assert.deepInclude(record.llm, {
        tokensIn: 100,
        tokensOut: 20,
        cacheRead: 64,
        tokensPerSecond: 40,
        ttftMs: 100,
        mappedTo: "gpt-5",
        tokensEstimated: false
      })
      assert.isAbove(record.llm?.costEstimateUsd ?? 0, 0)
      assert.match(record.contextKey ?? "", /^[\da-f]{12}$/)
      const { requests, total } = yield* inspector.list({}, { limit: 10 })
      assert.deepStrictEqual(
        requests.map((item) => item.id),
        [other, id]
      )
      assert.strictEqual(total, 2)
      assert.strictEqual(inspector.load().pendingBytes, 0)
    }).pipe(Effect.provide(inspectorWith()))
  )

  it.live("takes late facts, failures, unknown ids and nonsense without a complaint", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const id = inspector.begin(operatorsOwn, start)
      inspector.update(id, { requestBody: asked, agent: "codex" })
      inspector.finish(id, { status: "error", error: "ECONNRESET to https://a:hunter2-hunter2@b", responseBody: null })
      inspector.finish(id, { status: 200 })
      yield* inspector.settled
      inspector.update(id, { pid: 42, processName: "node", decision: { a: 1 } })
      inspector.update("nothing", { pid: 1 })
      inspector.finish("nothing", { status: 200 })
      inspector.begin(operatorsOwn, { ...start, headers: null as never })
      inspector.begin(operatorsOwn, null as never)
      yield* inspector.settled
      const record = yield* inspector.get(id)
      assert.deepInclude(record, {
        status: "error",
        agent: "codex",
        pid: 42,
        processName: "node",
        requestSize: asked.length
      })
      assert.strictEqual(record.error, "ECONNRESET to https://a:***ter2@b")
      assert.strictEqual(record.requestBody, asked.toString())
      const missing = yield* Effect.flip(inspector.get("nothing"))
      assert.strictEqual(missing._tag, "RecordNotFound")
    }).pipe(Effect.provide(inspectorWith()))
  )

  it.live("reads large bodies in the thread, cuts them, and shows no secret of them", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const secrets = Object.values(shapedSecrets)
      const content = secrets.map((secret) => `${"lorem ipsum ".repeat(500)} ${secret} `).join("")
      const body = Buffer.from(JSON.stringify({ ...chat.request, messages: [{ role: "user", content }] }))
      const id = inspector.begin(operatorsOwn, { ...start, body })
      inspector.finish(id, { status: 200, responseHeaders: json, responseBody: body })
      yield* inspector.settled
      const record = yield* inspector.get(id)
      assert.isTrue(record.requestTruncated)
      assert.match(record.requestBody ?? "", new RegExp(`\\[truncated: 65536 of ${body.length} bytes\\]$`))
      assert.deepInclude(record.llm, { model: "gpt-4o-mini", messages: 1 })
      const lines = JSON.stringify(record) + JSON.stringify(yield* inspector.list({}, { limit: 9 }))
      for (const secret of secrets) assert.notInclude(lines, coreOf(secret))
    }).pipe(Effect.provide(inspectorWith({ INSPECTOR_MAX_BODY_KB: "64" })))
  )

  it.live("shows and stores no secret of any kind, in whatever part of an exchange it came", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const frames: Array<string> = []
      inspector.subscribe({ write: (frame) => void frames.push(frame), bufferedBytes: () => 0 })
      const { id } = yield* inspector.sessions.start(null)
      const secrets = Object.values(shapedSecrets)
      for (const [at, secret] of secrets.entries()) {
        const line = secret.replaceAll("\n", "\\n")
        const exchange = inspector.begin(operatorsOwn, {
          ...start,
          path: `/v1/chat/completions?note=${encodeURIComponent(secret)}&api_key=${encodeURIComponent(secret)}`,
          headers: { "x-note": line, authorization: line, cookie: `a=${line}`, "content-type": "application/json" },
          body: Buffer.from(JSON.stringify({ ...chat.request, note: `see ${secret}`, password: secret }))
        })
        inspector.finish(exchange, {
          status: at % 2 === 0 ? 200 : "error",
          error: `failed with ${line}`,
          responseHeaders: {
            "set-cookie": [`a=${line}`, "b=1"],
            location: `/next?token=${encodeURIComponent(secret)}`,
            "content-type": "text/event-stream"
          },
          responseBody: Buffer.from(
            `data: ${JSON.stringify({ choices: [{ delta: { content: `it is ${secret} ` } }] })}\n\n`
          )
        })
      }
      yield* inspector.settled
      yield* Effect.promise(() =>
        eventually(
          "the frames of all",
          () => frames.length,
          (count) => count > secrets.length
        )
      )
      yield* inspector.sessions.stop(id)
      const kept = [...(yield* inspector.exported({}))]
      assert.lengthOf(kept, secrets.length)
      const session = yield* Stream.runCollect(inspector.sessions.records(id))
      const outputs: Readonly<Record<string, string>> = {
        ring: JSON.stringify(kept),
        list: JSON.stringify(yield* inspector.list({}, { limit: 1_000 })),
        feed: frames.join("\n"),
        har: [...harPieces(kept, "1")].join(""),
        jsonl: [...jsonlPieces(kept)].join(""),
        session: JSON.stringify([...session])
      }
      for (const [name, text] of Object.entries(outputs)) {
        const plain = text.replaceAll(/%([\dA-F]{2})/g, (_, code: string) =>
          String.fromCharCode(Number.parseInt(code, 16))
        )
        for (const [kind, secret] of Object.entries(shapedSecrets)) {
          assert.notInclude(text, coreOf(secret), `${kind} in ${name}`)
          assert.notInclude(plain, coreOf(secret), `${kind} in ${name}`)
        }
      }
    }).pipe(Effect.provide(inspectorWith()))
  )

  it.live("keeps secrets where it is told to, and still shows them only when asked", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const id = inspector.begin(operatorsOwn, {
        ...start,
        path: "/v1/x?key=f7Gh2kLm9Qw4Zx8V",
        body: Buffer.from('{"password":"hunter2"}')
      })
      yield* inspector.settled
      const shown = yield* inspector.get(id, true)
      assert.strictEqual(shown.requestHeaders["authorization"], "Bearer f7Gh2kLm9Qw4Zx8Vb1Nc")
      assert.strictEqual(shown.requestBody, '{"password":"hunter2"}')
      const masked = yield* inspector.get(id)
      assert.strictEqual(masked.requestHeaders["authorization"], "Bearer ***b1Nc")
      assert.strictEqual(masked.requestBody, '{"password":"***"}')
      const { requests } = yield* inspector.list({}, { limit: 1 })
      assert.strictEqual(requests[0]?.path, "/v1/x?key=***Zx8V")
      const har = [...harPieces(yield* inspector.exported({}), "1")].join("")
      assert.notInclude(har, "hunter2")
      assert.notInclude(har, "f7Gh2kLm9Qw4")
    }).pipe(Effect.provide(inspectorWith({ INSPECTOR_MASK_SECRETS: "false" })))
  )

  it.live("finds text, pages, annotates, exports and clears", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      for (let at = 0; at < 5; at += 1) {
        inspector.begin(operatorsOwn, { ...start, id: `e${at}`, body: Buffer.from(`{"n":"Number${at}"}`) })
      }
      yield* inspector.settled
      const found = yield* inspector.list({ q: "number3" }, { limit: 10 })
      assert.deepStrictEqual(
        found.requests.map(({ id }) => id),
        ["e3"]
      )
      const first = yield* inspector.list({}, { limit: 2 })
      assert.deepStrictEqual([first.requests.length, first.total], [2, 5])
      const second = yield* inspector.list({}, { limit: 9, cursor: first.nextCursor ?? "" })
      assert.deepStrictEqual(
        second.requests.map(({ id }) => id),
        ["e2", "e1", "e0"]
      )
      assert.strictEqual((yield* Effect.flip(inspector.list({}, { limit: 1, cursor: "?" })))._tag, "InvalidCursor")
      assert.strictEqual((yield* inspector.annotate("e1", "look here")).annotation, "look here")
      assert.deepStrictEqual(
        [...(yield* inspector.exported({ q: "look" }))].map(({ id }) => id),
        ["e1"]
      )
      assert.deepStrictEqual(
        [...(yield* inspector.exported({}))].map(({ id }) => id),
        ["e0", "e1", "e2", "e3", "e4"]
      )
      yield* inspector.clear
      assert.strictEqual((yield* inspector.list({}, { limit: 1 })).total, 0)
      // What had begun before goes on.
      inspector.finish("e1", { status: 200 })
      yield* inspector.settled
      assert.strictEqual((yield* inspector.get("e1")).status, 200)
      assert.strictEqual((yield* Effect.flip(inspector.annotate("e2", "x")))._tag, "RecordNotFound")
    }).pipe(Effect.provide(inspectorWith()))
  )

  it.live(
    "makes the same record of an exchange whether it was listed before its end or not, and keeps no secret of it",
    () =>
      Effect.gen(function* () {
        const inspector = yield* Inspector.Inspector
        const secret = shapedSecrets["anthropic"] ?? ""
        const call = { provider: "openai", model: "gpt-4o", account: "a1", wire: "chat", body: null } as const
        const record = (traffic: (typeof modelTraffic)[number], sent: typeof call | null) =>
          Effect.gen(function* () {
            const { answer, path, request } = traffic
            const id = inspector.begin(operatorsOwn, {
              ...start,
              source: "gateway",
              path: `${path}?key=${secret}`,
              headers: [...start.headers, "x-note", secret],
              body: Buffer.from(JSON.stringify({ ...request, metadata: { note: secret } })),
              atMs: 1_000,
              gatewayRequestId: "g1"
            })
            const end = {
              status: 200,
              responseHeaders: ["content-type", "application/json", "set-cookie", `session=${secret}`],
              responseBody: Buffer.from(JSON.stringify({ ...answer, note: secret })),
              error: `It failed with ${secret}`,
              ttftMs: 3,
              totalLatencyMs: 9,
              provider: "openai",
              mappedModel: "gpt-4o",
              decisionLater: () => ({ order: ["openai/gpt-4o"] })
            } as const
            inspector.finish(id, end, sent)
            yield* inspector.settled
            return yield* inspector.get(id)
          })
        for (const traffic of modelTraffic) {
          const [whole, other] = [yield* record(traffic, call), yield* record(traffic, null)]
          assert.deepStrictEqual({ ...whole, id: "" }, { ...other, id: "" }, traffic.apiKind)
          assert.notInclude(JSON.stringify(whole), coreOf(secret))
          assert.deepStrictEqual(whole.decision, { order: ["openai/gpt-4o"] })
          assert.strictEqual(whole.llm?.apiKind, traffic.apiKind)
        }
        const { bodiesLost, pendingBytes, recorded } = inspector.load()
        assert.deepStrictEqual([recorded, bodiesLost, pendingBytes], [2 * modelTraffic.length, 0, 0])
      }).pipe(Effect.provide(inspectorWith()))
  )

  it.live("lets bodies go that would wait for too long, and says so", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const body = Buffer.alloc(20 * 1_048_576, 120)
      const ids = Array.from({ length: 6 }, () => inspector.begin(operatorsOwn, { ...start, body }))
      assert.isAtMost(inspector.load().pendingBytes, 64 * 1_048_576)
      const rest = inspector.begin(operatorsOwn, { ...start, body: Buffer.alloc(4 * 1_048_576, 120) })
      // Small ones have a reserve of their own.
      const small = inspector.begin(operatorsOwn, { ...start, body: Buffer.alloc(40_000, 120) })
      yield* inspector.settled
      const records = yield* Effect.forEach(ids, (id) => inspector.get(id))
      assert.deepStrictEqual(
        records.map(({ bodyEvicted }) => bodyEvicted),
        [false, false, false, true, true, true]
      )
      for (const { requestSize } of records) assert.strictEqual(requestSize, body.length)
      assert.isFalse((yield* inspector.get(rest)).bodyEvicted)
      for (const id of ids) inspector.finish(id, { status: 200 })
      yield* inspector.settled
      assert.deepInclude(inspector.load(), { recorded: 6, bodiesLost: 3 })
      assert.strictEqual((yield* inspector.get(small)).requestBody?.length, 40_000)
      assert.strictEqual(inspector.load().pendingBytes, 0)
    }).pipe(Effect.provide(inspectorWith()))
  )

  it.effect("runs no timer while nothing is captured, and none when all is done", () =>
    Effect.gen(function* () {
      const timers = yield* Timers.Timers
      const inspector = yield* Inspector.Inspector
      assert.strictEqual(timers.live(), 0)
      const stop = inspector.subscribe({ write: () => {}, bufferedBytes: () => 0 })
      assert.strictEqual(timers.live(), 0)
      stop()
      const id = inspector.begin(operatorsOwn, start)
      inspector.finish(id, { status: 204 })
      assert.strictEqual(timers.live(), 1)
      yield* TestClock.adjust("1 second")
      yield* inspector.settled
      assert.strictEqual((yield* inspector.get(id)).status, 204)
      assert.strictEqual(timers.live(), 0)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          Layer.suspend(() => inspectorWith({}, sharedTimers)),
          sharedTimers
        )
      )
    )
  )

  it.live("records sessions, and takes archives as sessions", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const { sessions } = inspector
      inspector.begin(operatorsOwn, { ...start, id: "before" })
      const session = yield* sessions.start("mine")
      assert.deepInclude(session, { name: "mine", state: "recording", requestCount: 0 })
      assert.strictEqual((yield* Effect.flip(sessions.start(null)))._tag, "SessionRecording")
      inspector.begin(operatorsOwn, { ...start, id: "a", body: asked })
      inspector.finish("a", { status: 200, responseBody: answered, responseHeaders: json })
      inspector.begin(operatorsOwn, { ...start, id: "b" })
      yield* inspector.settled
      const listed = yield* inspector.list({ sessionId: session.id }, { limit: 10 })
      assert.deepStrictEqual(
        listed.requests.map(({ id }) => id),
        ["b", "a"]
      )
      const stopped = yield* sessions.stop(session.id)
      assert.deepInclude(stopped, { state: "saved", requestCount: 2, truncated: false })
      // It is frozen.
      inspector.finish("b", { status: 500 })
      inspector.begin(operatorsOwn, { ...start, id: "after" })
      yield* inspector.settled
      yield* inspector.annotate("a", "later")
      yield* sessions.flush
      const { next, records } = yield* sessions.page(session.id, 0)
      assert.deepStrictEqual(
        records.map(({ id, status }) => [id, status]),
        [
          ["a", 200],
          ["b", "in-flight"]
        ]
      )
      assert.strictEqual(records[0]?.responseBody, answered.toString())
      assert.strictEqual(records[0]?.annotation, null)
      assert.lengthOf((yield* sessions.page(session.id, next ?? 0)).records, 0)

      const archive = [...harPieces(records, "1")].join("")
      const imported = yield* inspector.importHar(Buffer.from(archive), "theirs")
      assert.deepInclude(imported, { name: "theirs", state: "saved", requestCount: 2 })
      const again = (yield* sessions.page(imported.id, 0)).records
      assert.deepInclude(again[0], {
        sessionId: imported.id,
        responseBody: answered.toString(),
        status: 200,
        detectedKind: "llm"
      })
      assert.deepInclude(again[0]?.llm, { tokensIn: 100, model: "gpt-4o-mini" })
      assert.strictEqual(again[1]?.status, "error")
      const wrong = yield* Effect.flip(inspector.importHar(Buffer.from('{"log":{"entries":[{"request":1}]}}'), null))
      assert.deepInclude(wrong, { _tag: "InvalidHar", message: "log.entries[0].request: expected an object" })
      const large = yield* Effect.flip(inspector.importHar({ byteLength: 200 * 1_048_576 } as Uint8Array, null))
      assert.deepInclude(large, { _tag: "InvalidHar", reason: "too_large" })
      assert.deepStrictEqual((yield* sessions.list).map(({ name }) => name).toSorted(), ["mine", "theirs"])
      assert.strictEqual((yield* sessions.rename(session.id, "yours")).name, "yours")
      yield* sessions.remove(imported.id)
      assert.strictEqual((yield* Effect.flip(sessions.get(imported.id)))._tag, "SessionNotFound")
      assert.strictEqual((yield* Effect.flip(sessions.stop(session.id)))._tag, "SessionNotRecording")
    }).pipe(Effect.provide(inspectorWith()))
  )

  it.live("masks the secrets of archives, also where it keeps its own", () =>
    Effect.gen(function* () {
      const inspector = yield* Inspector.Inspector
      const archive = {
        log: {
          entries: [
            {
              startedDateTime: "2026-11-24T10:00:00Z",
              request: {
                method: "POST",
                url: "https://x.test/?key=f7Gh2kLm9Qw4Zx8V",
                headers: [{ name: "Authorization", value: "Bearer f7Gh2kLm9Qw4Zx8V" }],
                postData: { text: '{"password":"f7Gh2kLm9Qw4Zx8V"}' }
              },
              response: { status: 200, headers: [], content: { text: "api_key=f7Gh2kLm9Qw4Zx8V" } }
            }
          ]
        }
      }
      const { id } = yield* inspector.importHar(Buffer.from(JSON.stringify(archive)), null)
      const { records } = yield* inspector.sessions.page(id, 0)
      assert.notInclude(JSON.stringify(records), "f7Gh2kLm9Qw4")
      assert.include(records[0]?.requestBody ?? "", "***Zx8V")
    }).pipe(Effect.provide(inspectorWith({ INSPECTOR_MASK_SECRETS: "0" })))
  )
})

const sharedTimers = TestTimers.layer

describe("settings of the inspector", () => {
  it.live("are those of the environment, with the usual ones for what is wrong", () =>
    Effect.gen(function* () {
      const { settings } = yield* Inspector.Inspector
      assert.deepStrictEqual(settings, {
        ...usualSettings,
        bufferEntries: 7,
        bufferBytes: 2 * 1_048_576,
        maskSecrets: false,
        ingestToken: null,
        maxBodyBytes: 1_048_576
      })
    }).pipe(
      Effect.provide(
        inspectorWith({
          INSPECTOR_BUFFER_SIZE: "7",
          INSPECTOR_BUFFER_MB: "2",
          INSPECTOR_MASK_SECRETS: "off",
          INSPECTOR_MAX_BODY_KB: "-1",
          INSPECTOR_INTERNAL_INGEST_TOKEN: "short"
        })
      )
    )
  )
})
