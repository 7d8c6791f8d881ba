/** Compressed request bodies, at every door that reads one. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { gzipSync } from "node:zlib"
import { type Coding, codingNames, codings, rawDeflate, zstdRuns } from "../../support/Compressed.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import { shared } from "../../support/shared.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const json = { "content-type": "application/json" }
const admin = { authorization: `Bearer ${TestGateway.adminKey}` }
const text = `Say it ${Array.from({ length: 40 }, (_, n) => `word${n * 7919}`).join(" ")}`
const messages = [{ role: "user", content: text }]

const setUp = (config: Parameters<typeof TestGateway.start>[0] = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      await gateway.manage("PATCH", "/api/settings", { a2aEnabled: true })
    })
    const ask = (path: string, headers: Readonly<Record<string, string>>, body: Buffer, method = "POST") =>
      RawRequest.ask(gateway.url, { method, path, headers, body })
    return { gateway, upstream, ask }
  })

const form = (): { readonly type: string; readonly body: Buffer } => ({
  type: "multipart/form-data; boundary=b",
  body: Buffer.from(
    `--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n${text}\r\n--b--\r\n`
  )
})

interface Door {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly method?: string
  readonly answers: RegExp
}

const door = (path: string, body: object, answers: RegExp, more: Readonly<Record<string, string>> = {}): Door => ({
  path,
  headers: { ...json, ...more },
  body: Buffer.from(JSON.stringify(body)),
  answers
})

const rpc = { jsonrpc: "2.0", id: 1 }
const doors: Readonly<Record<string, Door>> = {
  chat: door("/v1/chat/completions", { model: "up/m", messages }, /served/),
  messages: door("/v1/messages", { model: "up/m", max_tokens: 9, messages }, /served/),
  responses: door("/v1/responses", { model: "up/m", input: text }, /served/),
  gemini: door("/v1beta/models/up%2Fm:generateContent", { contents: [{ parts: [{ text }] }] }, /served/),
  ollama: door("/api/chat", { model: "up/m", stream: false, messages }, /served/),
  management: door("/api/keys", { name: "compressed" }, /"secret"/, admin),
  mcp: door("/mcp", { ...rpc, method: "ping" }, /"result"/, {
    ...admin,
    accept: "application/json, text/event-stream"
  }),
  a2a: door(
    "/a2a",
    {
      ...rpc,
      method: "message/send",
      params: { message: { kind: "message", messageId: "1", role: "user", parts: [{ kind: "text", text }] } }
    },
    /"jsonrpc"/,
    admin
  ),
  batches: door("/v1/batches", { input_file_id: "file-none", endpoint: "/v1/chat/completions" }, /completion_window/),
  files: { path: "/v1/files", headers: { "content-type": form().type }, body: form().body, answers: /"object":"file"/ }
}

const room = shared(setUp())

describe("a compressed body", () => {
  for (const [name, { answers, body, headers, method, path }] of Object.entries(doors)) {
    it.scopedLive(`is read like a plain one: ${name}`, () =>
      Effect.gen(function* () {
        const { ask } = room()
        yield* Effect.promise(async () => {
          const plain = await ask(path, headers, body, method)
          assert.match(plain.body, answers)
          for (const coding of codingNames) {
            const answer = await ask(path, { ...headers, "content-encoding": coding }, codings[coding](body), method)
            assert.match(answer.body, answers, coding)
            assert.strictEqual(answer.status, plain.status, coding)
          }
        })
      })
    )
  }

  it.scopedLive("may have several codings, in the reverse of their order, and names in capitals", () =>
    Effect.gen(function* () {
      const { ask, upstream } = yield* setUp()
      const { body, headers, path } = doors["chat"] as Door
      const twice: ReadonlyArray<readonly [string, Buffer]> = [
        ["gzip, br", codings.br(codings.gzip(body))],
        ["zstd,gzip", codings.gzip(codings.zstd(body))],
        ["deflate, zstd, identity", codings.zstd(codings.deflate(body))],
        ["br, br, gzip", codings.gzip(codings.br(codings.br(body)))],
        ["X-GZIP", codings.gzip(body)],
        ["identity", body],
        ["", body],
        ["deflate", rawDeflate(body)]
      ]
      yield* Effect.promise(async () => {
        for (const [encoding, bytes] of twice) {
          assert.strictEqual(
            (await ask(path, { ...headers, "content-encoding": encoding }, bytes)).status,
            200,
            encoding
          )
        }
      })
      for (const { body: sent, headers: own } of upstream.requests) {
        assert.strictEqual(JSON.parse(sent).messages[0].content, text)
        assert.isUndefined(own["content-encoding"])
      }
      assert.lengthOf(upstream.requests, twice.length)
    })
  )

  const formats: Readonly<Record<string, (body: unknown, status: number) => void>> = {
    chat: (body) => assert.nestedProperty(body, "error.message"),
    messages: (body) => assert.nestedPropertyVal(body, "type", "error"),
    gemini: (body, status) => assert.nestedPropertyVal(body, "error.code", status),
    management: (body) => assert.nestedProperty(body, "error.code"),
    mcp: (body) => assert.nestedPropertyVal(body, "jsonrpc", "2.0"),
    a2a: (body) => assert.nestedPropertyVal(body, "jsonrpc", "2.0"),
    files: (body) => assert.nestedProperty(body, "error.message"),
    batches: (body) => assert.nestedProperty(body, "error.message")
  }
  const bombs: Readonly<Record<Coding, Buffer>> = {
    gzip: codings.gzip(Buffer.alloc(5_000_000, " ")),
    deflate: codings.deflate(Buffer.alloc(5_000_000, " ")),
    br: codings.br(Buffer.alloc(5_000_000, " ")),
    zstd: zstdRuns(40)
  }
  const halves = (coding: Coding): Buffer => {
    const whole = codings[coding](Buffer.from(`{"a":"${text}"}`))
    return whole.subarray(0, whole.length - 12)
  }
  for (const [name, looksRight] of Object.entries(formats)) {
    it.scopedLive(`that is none, is cut, expands or is unknown is refused in the caller's format: ${name}`, () =>
      Effect.gen(function* () {
        const { ask, upstream } = room()
        const before = upstream.requests.length
        const { headers, path } = doors[name] as Door
        yield* Effect.promise(async () => {
          const refused = async (encoding: string, bytes: Buffer, status: number): Promise<void> => {
            const answer = await ask(path, { ...headers, "content-encoding": encoding }, bytes)
            assert.strictEqual(answer.status, status, `${encoding}: ${answer.body}`)
            if (status !== 415 || (name !== "mcp" && name !== "a2a")) looksRight(JSON.parse(answer.body), status)
          }
          for (const coding of codingNames) {
            await refused(coding, Buffer.from("this is none of them"), 400)
            await refused(coding, halves(coding), 400)
            await refused(coding, bombs[coding], 413)
          }
          await refused("gzip, gzip", gzipSync(gzipSync(Buffer.alloc(20_000_000))), 413)
          for (const unknown of ["compress", "gzip, rot13", "gzip, gzip, gzip, gzip"]) {
            await refused(unknown, codings.gzip(Buffer.from("{}")), 415)
          }
        })
        assert.lengthOf(upstream.requests, before)
      })
    )
  }

  it.scopedLive("has the limit of a plain one for what it becomes", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp({ maxBodyBytes: 100_000 })
      const { headers, path } = doors["chat"] as Door
      const noise = Buffer.from(
        Array.from({ length: 20_000 }, (_, n) => ((n * 2_654_435_761) >>> 3).toString(36)).join("")
      )
      yield* Effect.promise(async () => {
        for (const coding of codingNames) {
          const body = Buffer.from(
            JSON.stringify({ model: "up/m", messages: [{ role: "user", content: noise.toString() }] })
          )
          assert.isAbove(body.length, 100_000)
          const answer = await ask(path, { ...headers, "content-encoding": coding }, codings[coding](body))
          assert.strictEqual(answer.status, 413, coding)
        }
      })
    })
  )

  it.scopedLive("counts for the budget of memory as what it becomes", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp({ maxBodyBytes: 10_000_000, maxBufferedBytes: 300_000 })
      const { headers, path } = doors["chat"] as Door
      const words = Array.from({ length: 60_000 }, (_, n) => (n * 7_919).toString(36)).join(" ")
      const body = Buffer.from(JSON.stringify({ model: "up/m", messages: [{ role: "user", content: words }] }))
      assert.isAbove(body.length, 300_000)
      yield* Effect.promise(async () => {
        for (const coding of ["gzip", "deflate", "br"] as const) {
          const sent = codings[coding](body)
          assert.isBelow(sent.length, 300_000)
          const answer = await ask(path, { ...headers, "content-encoding": coding }, sent)
          assert.strictEqual(answer.status, 503, coding)
        }
      })
    })
  )
})
