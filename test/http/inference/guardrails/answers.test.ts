/** Personal data in answers, through a whole gateway: the official clients of five wires, upstreams of five wires, whole and streamed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { connect } from "node:net"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import { eventually } from "../../../support/eventually.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { answer, ask, begin, headOf, whole, wires } from "../recovery/Streams.ts"

const email = "john.doe@example.com"
/** Split in the middle of what is to be found. */
const texts = ["Write to john.d", "oe@exam", "ple.com or to nobody", " else. Bye", "!"]
const expected = "Write to [EMAIL_REDACTED] or to nobody else. Bye!"
const thinking = `He is ${email}, I think`
const usage = { usage: { in: 20, out: 9 } }

const started = (mode: string) =>
  TestGateway.start({
    environment: new Map([
      ["PII_RESPONSE_SANITIZATION", "true"],
      ["PII_RESPONSE_SANITIZATION_MODE", mode]
    ])
  })

const paths: Readonly<Record<WireName, (stream: boolean) => string>> = {
  chat: () => "/v1/chat/completions",
  messages: () => "/v1/messages",
  responses: () => "/v1/responses",
  gemini: (stream) => `/v1beta/models/up/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  ollama: () => "/api/chat"
}

const bodyOf = (wire: WireName, model: string, stream: boolean) => {
  const turns = [{ role: "user", content: "Who?" }]
  switch (wire) {
    case "gemini":
      return { contents: [{ role: "user", parts: [{ text: "Who?" }] }] }
    case "responses":
      return { model, stream, input: "Who?" }
    case "messages":
      return { model, stream, max_tokens: 100, messages: turns }
    default:
      return { model, stream, messages: turns }
  }
}

/** Path and body of a question to a model, whole or streamed. */
const asking = (gateway: TestGateway.TestGateway, wire: WireName, model: string, stream: boolean) =>
  gateway.post(paths[wire](stream).replace("up/m", model), bodyOf(wire, model, stream))

const wholeAnswer = (wire: WireName, text: string) =>
  codecs[wire].encodeResponse(
    {
      id: "up_1",
      model: "m",
      createdMs: 1_700_000_000_000,
      parts: [{ type: "text", text }],
      stop: { reason: "stop", raw: "stop", sequence: null },
      usage: { in: 20, out: 9, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      logprobs: null
    },
    { nowMs: 1_700_000_000_000, fallbackId: "up_1", model: "m", wantsUsage: true }
  )

describe("personal data in answers, replaced", () => {
  it.scopedLive("the official clients of all wires read the filtered streams of all wires", () =>
    Effect.gen(function* () {
      const gateway = yield* started("redact")
      for (const from of wires) {
        const upstream = yield* Fake.start
        yield* Effect.promise(() => gateway.connect(`up-${from}`, upstream, from))
        for (const client of wires) {
          upstream.enqueue(answer(from, texts, { ...usage, thinking }))
          const heard = yield* Effect.promise(() => ask(client, gateway.url, `up-${from}/m`))
          const name = `${client} from ${from}`
          assert.deepInclude(heard, { text: expected, isClean: true, error: null, in: 20, out: 9 }, name)
          assert.strictEqual(heard.thinking, heard.thinking === "" ? "" : "He is [EMAIL_REDACTED], I think", name)
        }
      }
    })
  )

  it.scopedLive("whole answers of all wires have the count in their head, and their length", () =>
    Effect.gen(function* () {
      const gateway = yield* started("redact")
      for (const wire of wires) {
        const upstream = yield* Fake.start
        upstream.always(Fake.json(wholeAnswer(wire, `Write to ${email}, or ${email}.`)))
        yield* Effect.promise(async () => {
          await gateway.connect(`up-${wire}`, upstream, wire)
          const response = await asking(gateway, wire, `up-${wire}/m`, false)
          const text = await response.text()
          assert.strictEqual(response.status, 200, text)
          assert.include(text, "Write to [EMAIL_REDACTED], or [EMAIL_REDACTED].", wire)
          assert.notInclude(text, "example.com", wire)
          assert.strictEqual(response.headers.get("content-length"), String(Buffer.byteLength(text)), wire)
          assert.strictEqual(response.headers.get("x-gateway-guardrail"), "pii=redact:2", wire)
          const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
          assert.deepInclude(row, { outcome: "completed", status: 200 }, wire)
        })
      }
    })
  )

  it.scopedLive("an answer without any is the same bytes as with the guardrail off, whole and streamed", () =>
    Effect.gen(function* () {
      const [on, off] = [yield* started("redact"), yield* TestGateway.start()]
      const said = ["Write to john", ".doe at example", ".com, card 4111 1111 1111 111", "2 — “caf", "é” 🚀\n", "end"]
      for (const wire of wires) {
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          for (const gateway of [on, off]) await gateway.connect(`up-${wire}`, upstream, wire)
          for (const stream of [true, false]) {
            const made = stream
              ? answer(wire, said, { ...usage, thinking: "Who may he be" })
              : Fake.json(wholeAnswer(wire, said.join("")))
            const got: Array<string> = []
            for (const gateway of [on, off]) {
              upstream.enqueue(made)
              const response = await asking(gateway, wire, `up-${wire}/m`, stream)
              assert.isNull(response.headers.get("x-gateway-guardrail"), wire)
              got.push(await response.text())
            }
            assert.isAbove(got[0]?.length ?? 0, 50)
            assert.strictEqual(got[0], got[1], `${wire}, ${stream ? "streamed" : "whole"}`)
          }
        })
      }
    })
  )

  it.scopedLive("a later turn by previous_response_id goes on from what the model said", () =>
    Effect.gen(function* () {
      const gateway = yield* started("redact")
      const upstream = yield* Fake.start
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        upstream.enqueue(answer("chat", texts, usage), Fake.json(wholeAnswer("chat", "fine")))
        const first = await (await asking(gateway, "responses", "up/m", true)).text()
        assert.notInclude(first, "example.com")
        const id = /"id":"(resp[^"]*|[^"]+)"/.exec(first)?.[1]
        const body = { model: "up/m", input: "And?", previous_response_id: id }
        const second = await gateway.post("/v1/responses", body)
        assert.strictEqual(second.status, 200, await second.clone().text())
        assert.include(upstream.requests[1]?.body ?? "", email)
      })
    })
  )

  it.scopedLive("a client that leaves while words are held back ends the call", () =>
    Effect.gen(function* () {
      const gateway = yield* started("redact")
      const upstream = yield* Fake.start
      const never = Fake.makeLatch()
      upstream.enqueue(Fake.sse([...begin("chat", ["Hello there, write to john.doe@"]), never], headOf("chat")))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const leaving = new AbortController()
        const response = await gateway.post("/v1/chat/completions", bodyOf("chat", "up/m", true), {}, leaving.signal)
        const requestId = response.headers.get("x-gateway-request-id") ?? ""
        const call = await upstream.received(1)
        leaving.abort()
        await call.closed
        assert.deepInclude(await gateway.usageRow(requestId), { outcome: "aborted" })
      })
    })
  )

  it.scopedLive("a client that does not read stops the upstream, and gets everything once it reads", () =>
    Effect.gen(function* () {
      const gateway = yield* started("redact")
      const upstream = yield* Fake.start
      const piece = `${"lorem ipsum dolor sit amet ".repeat(400)}`
      const pieces = whole("chat", [...Array.from({ length: 3_000 }, () => piece), `to ${email}.`], usage)
      let written = 0
      upstream.enqueue(async (response, request) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        for (const each of pieces) {
          written += 1
          if (!response.write(each)) await Promise.race([once(response, "drain"), request.closed])
        }
        response.end()
      })
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const { hostname, port } = new URL(gateway.url)
        const socket = connect(Number(port), hostname)
        const body = JSON.stringify(bodyOf("chat", "up/m", true))
        socket.write(
          `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        )
        await once(socket, "readable")
        let before = -1
        let same = 0
        const isHeld = (now: number): boolean => {
          same = now === before ? same + 1 : 0
          before = now
          return now > 0 && same > 20
        }
        await eventually("the upstream to be held", () => written, isHeld)
        assert.isBelow(written, pieces.length)
        let got = 0
        let tail = ""
        for await (const chunk of socket) {
          got += (chunk as Buffer).length
          tail = (tail + (chunk as Buffer).toString("latin1")).slice(-2_000)
        }
        assert.isAbove(got, 3_000 * piece.length)
        assert.include(tail, "[EMAIL_REDACTED]")
        assert.include(tail, "[DONE]")
      })
    })
  )
})

describe("personal data in answers, blocked", () => {
  it.scopedLive("is 400 where nothing was sent: whole, and at the beginning of a stream", () =>
    Effect.gen(function* () {
      const gateway = yield* started("block")
      for (const wire of wires) {
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await gateway.connect(`up-${wire}`, upstream, wire)
          for (const stream of [true, false]) {
            upstream.enqueue(stream ? answer(wire, texts, usage) : Fake.json(wholeAnswer(wire, `to ${email}`)))
            const response = await asking(gateway, wire, `up-${wire}/m`, stream)
            const text = await response.text()
            assert.strictEqual(response.status, 400, `${wire}: ${text}`)
            assert.notInclude(text, "example.com", wire)
            if (wire !== "gemini") assert.include(text, "SECURITY_002", wire)
            const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
            const expectedRow = { outcome: "failed", status: 400, error: "SECURITY_002", provider: `up-${wire}` }
            assert.deepInclude(row, expectedRow, wire)
            assert.isAbove(row.tokens.in, 0, `${wire}: what the upstream did is on the bill`)
          }
        })
      }
    })
  )

  it.scopedLive("is an error event later, which the official clients take for an error", () =>
    Effect.gen(function* () {
      const gateway = yield* started("block")
      for (const wire of wires) {
        const upstream = yield* Fake.start
        upstream.enqueue(answer(wire, ["A first sentence. ", "A second. ", ...texts], usage))
        yield* Effect.promise(async () => {
          await gateway.connect(`up-${wire}`, upstream, wire)
          const heard = await ask(wire, gateway.url, `up-${wire}/m`)
          assert.isTrue(heard.text.startsWith("A first sentence. "), `${wire}: ${heard.text}`)
          assert.notInclude(heard.text, "john", wire)
          assert.isFalse(heard.isClean, wire)
          assert.isNotNull(heard.error, wire)
          const row = await gateway.usageRow(heard.requestId)
          assert.deepInclude(row, { outcome: "failed", error: "SECURITY_002" }, wire)
        })
      }
    })
  )

  it.scopedLive("passes an answer without any as it came", () =>
    Effect.gen(function* () {
      const gateway = yield* started("block")
      const upstream = yield* Fake.start
      upstream.enqueue(answer("chat", ["Hello ", "there"], usage))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const heard = await ask("chat", gateway.url, "up/m")
        assert.deepInclude(heard, { text: "Hello there", isClean: true, error: null })
      })
    })
  )
})

describe("personal data in answers, only counted", () => {
  it.scopedLive("warn changes nothing and says so in the head of a whole answer", () =>
    Effect.gen(function* () {
      const gateway = yield* started("warn")
      const upstream = yield* Fake.start
      const body = wholeAnswer("chat", `to ${email}`)
      upstream.enqueue(Fake.json(body), answer("chat", texts, usage))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const response = await asking(gateway, "chat", "up/m", false)
        assert.strictEqual(await response.text(), JSON.stringify(body))
        assert.strictEqual(response.headers.get("x-gateway-guardrail"), "pii=warn:1")
        const heard = await ask("chat", gateway.url, "up/m")
        assert.strictEqual(heard.text, texts.join(""))
      })
    })
  )
})
