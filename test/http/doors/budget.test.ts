/** One budget for all bodies under way: who comes when it is used up is told to come back, and all of it comes back. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect, type Socket } from "node:net"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"

const mebibyte = 1_048_576
const small = { model: "up/m", messages: [{ role: "user", content: "Hi" }], input: "Hi", max_tokens: 8 }

const setUp = (maxBufferedBytes: number) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({ maxBodyBytes: 2 * mebibyte, maxBufferedBytes })
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
    yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
    return { gateway, upstream }
  })

type Gateway = TestGateway.TestGateway

const metric = async (gateway: Gateway, name: string): Promise<number> => {
  const page = await (await fetch(`${gateway.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(page)?.[1])
}

const heldBytes = (gateway: Gateway): Promise<number> => metric(gateway, "gateway_request_body_bytes")

const untilHeld = (gateway: Gateway, isExpected: (bytes: number) => boolean): Promise<number> =>
  eventually("the buffered bytes to be as expected", () => heldBytes(gateway), isExpected)

interface Upload {
  readonly socket: Socket
  /** The answer up to the end of its JSON. */
  readonly answer: Promise<string>
}

/** A body of which only a part is ever sent. */
const upload = (gateway: Gateway, path: string, announcedBytes: number, sentBytes: number, more = ""): Upload => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1")
  socket.on("error", () => {})
  const answer = new Promise<string>((resolve) => {
    let text = ""
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (text.endsWith("}")) resolve(text)
    })
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}Content-Length: ${announcedBytes}\r\n\r\n${" ".repeat(sentBytes)}`
  )
  return { socket, answer }
}

/** Where each wire's error has its words. */
const wires = [
  ["/v1/chat/completions", "error.code"],
  ["/v1/messages", "error.type"],
  ["/v1/responses", "error.code"],
  ["/v1beta/models/up%2Fm:generateContent", "error.status"],
  ["/api/chat", "error"]
] as const

const at = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], value)

describe("the budget of bodies", () => {
  it.scopedLive(
    "slow uploads use it up: others are refused with 503 in their own wire; it is free when they have left",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* setUp(3 * mebibyte)
        yield* Effect.promise(async () => {
          const uploads = Array.from({ length: 3 }, () => upload(gateway, "/v1/chat/completions", mebibyte, 600_000))
          assert.strictEqual(await untilHeld(gateway, (bytes) => bytes >= 3 * mebibyte), 3 * mebibyte)
          for (const [path, told] of wires) {
            const answer = await gateway.post(path, small)
            const body = await answer.json()
            assert.strictEqual(answer.status, 503, path)
            assert.strictEqual(answer.headers.get("retry-after"), "1", path)
            assert.isString(at(body, told), `${path} ${JSON.stringify(body)}`)
            assert.include(JSON.stringify(body), "GATEWAY_MAX_BUFFERED_MB", path)
          }
          const authorization = `Bearer ${TestGateway.adminKey}`
          const managed = await gateway.post("/api/keys", { name: "k" }, { authorization })
          assert.strictEqual(managed.status, 503)
          assert.strictEqual(managed.headers.get("retry-after"), "1")
          assert.include(String(at(await managed.json(), "error.message")), "GATEWAY_MAX_BUFFERED_MB")
          assert.strictEqual(await metric(gateway, "gateway_request_bodies_refused_total"), wires.length + 1)
          for (const { socket } of uploads) socket.destroy()
          await untilHeld(gateway, (bytes) => bytes === 0)
          const answer = await gateway.post("/v1/chat/completions", small)
          assert.strictEqual(answer.status, 200)
          await answer.text()
          await untilHeld(gateway, (bytes) => bytes === 0)
        })
      })
  )

  it.scopedLive("fifty slow uploads take no more than the budget, and those beyond it are told", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp(4 * mebibyte)
      yield* Effect.promise(async () => {
        const uploads = Array.from({ length: 50 }, () => upload(gateway, "/v1/messages", mebibyte, 300_000))
        const answers: Array<string> = []
        for (const { answer } of uploads) void answer.then((text) => answers.push(text))
        await eventually(
          "46 of 50 uploads to be refused",
          async () => {
            assert.isAtMost(await heldBytes(gateway), 4 * mebibyte)
            return answers.length
          },
          (refused) => refused >= 46
        )
        for (const answer of answers) {
          assert.match(answer, /^HTTP\/1\.1 503 /)
          assert.match(answer, /Retry-After: 1\r\n/)
        }
        assert.strictEqual(await heldBytes(gateway), 4 * mebibyte)
        for (const { socket } of uploads) socket.destroy()
        await untilHeld(gateway, (bytes) => bytes === 0)
      })
    })
  )

  it.scopedLive("announcements alone take nothing", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp(2 * mebibyte)
      yield* Effect.promise(async () => {
        const uploads = Array.from({ length: 20 }, () => upload(gateway, "/v1/responses", 2 * mebibyte, 10))
        await untilHeld(gateway, (bytes) => bytes === 200)
        assert.strictEqual((await gateway.post("/v1/chat/completions", small)).status, 200)
        for (const { socket } of uploads) socket.destroy()
        await untilHeld(gateway, (bytes) => bytes === 0)
      })
    })
  )

  it.scopedLive("a body counts until its answer is over, or its client has left", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp(3 * mebibyte)
      const asked = Fake.makeLatch()
      const answered = Fake.makeLatch()
      upstream.always(async (response, request) => {
        asked.open()
        await answered.opened
        await Fake.json(Fake.chatCompletion({ text: "served" }))(response, request)
      })
      yield* Effect.promise(async () => {
        const long = { ...small, messages: [{ role: "user", content: "x".repeat(mebibyte) }] }
        const leaving = new AbortController()
        const left = gateway.post("/v1/chat/completions", long, {}, leaving.signal).catch(() => null)
        const staying = gateway.post("/v1/chat/completions", long)
        await asked.opened
        await untilHeld(gateway, (bytes) => bytes >= 2 * mebibyte)
        leaving.abort()
        assert.isNull(await left)
        assert.isAtLeast(await untilHeld(gateway, (bytes) => bytes < 2 * mebibyte), mebibyte)
        answered.open()
        assert.strictEqual((await staying).status, 200)
        await untilHeld(gateway, (bytes) => bytes === 0)
      })
    })
  )

  it.scopedLive("a management body counts, and is given back when it was refused", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp(2 * mebibyte)
      yield* Effect.promise(async () => {
        const authorization = `Authorization: Bearer ${TestGateway.adminKey}\r\n`
        const { socket } = upload(gateway, "/api/combos", 400_000, 300_000, authorization)
        await untilHeld(gateway, (bytes) => bytes === 400_000)
        socket.destroy()
        await untilHeld(gateway, (bytes) => bytes === 0)
        await gateway.post("/api/keys", `{"name":"${"k".repeat(400_000)}"}`, {
          authorization: `Bearer ${TestGateway.adminKey}`
        })
        await untilHeld(gateway, (bytes) => bytes === 0)
      })
    })
  )

  it.scopedLive("frames of a socket count, whole or not: one that finds no room ends the socket with 503", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp(2 * mebibyte)
      upstream.always(Fake.sse(Fake.chatStream(["Hello"])))
      const client = yield* Ws.open(gateway)
      const other = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        client.send(Ws.create())
        await client.turn()
        await untilHeld(gateway, (bytes) => bytes === 0)
        client.socket.send(" ".repeat(mebibyte), { fin: false })
        await untilHeld(gateway, (bytes) => bytes >= mebibyte)
        other.socket.send(" ".repeat(1_200_000), { fin: false })
        const refusal = await other.next()
        assert.strictEqual(refusal.status, 503)
        assert.strictEqual(refusal.headers["retry-after"], "1")
        assert.include(refusal.error.message, "GATEWAY_MAX_BUFFERED_MB")
        assert.strictEqual((await other.closed).code, 1013)
        await untilHeld(gateway, (bytes) => bytes >= mebibyte && bytes < 1.1 * mebibyte)
        client.socket.send(JSON.stringify(Ws.create()), { fin: true })
        assert.strictEqual((await client.turn()).at(-1).type, "response.completed")
        await untilHeld(gateway, (bytes) => bytes === 0)
        client.socket.send(" ".repeat(mebibyte), { fin: false })
        await untilHeld(gateway, (bytes) => bytes >= mebibyte)
        client.socket.terminate()
        await untilHeld(gateway, (bytes) => bytes === 0)
      })
    })
  )
})
