/** Guardrails over answers that no call of the request has made: those of the cache, and of calls that several requests share. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually, eventuallyFound } from "../../../support/eventually.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"

const email = "john.doe@example.com"
const chat = "/v1/chat/completions"

/** The address begins in one read of the stream and ends in its last one, together with the end. */
const split = (): ReadonlyArray<string> => {
  const all = Fake.chatStream(["Write to john.d", "oe@example.com"])
  return [all.slice(0, 2).join(""), all.slice(2).join("")]
}

const answer: Fake.Answer = async (response, request) => {
  const { stream } = JSON.parse(request.body) as { stream?: boolean }
  const made = stream === true ? Fake.sse(split()) : Fake.json(Fake.chatCompletion({ text: `Write to ${email}` }))
  await made(response, request)
}

const setUp = (environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({ environment: new Map(Object.entries(environment)) })
    const upstream = yield* Fake.start
    upstream.always(answer)
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      await gateway.manage("PATCH", "/api/settings", { cache: { enabled: true } })
    })
    const ask = async (content: string, stream: boolean, more: object = {}) => {
      const body = { model: "up/m", stream, temperature: 0, messages: [{ role: "user", content }], ...more }
      const response = await gateway.post(chat, body)
      const { headers, status } = response
      const text = await response.text()
      const row = await gateway.usageRow(headers.get("x-gateway-request-id") ?? "")
      return { status, text, headers, row, guardrail: headers.get("x-gateway-guardrail") }
    }
    const kept = (count: number) =>
      eventuallyFound(`${count} kept answers`, async () => {
        const { semanticCache } = await gateway.manage("GET", "/api/cache/stats")
        return semanticCache.memorySize === count ? true : undefined
      })
    /** Without detectors nothing is found. */
    const detect = (isOn: boolean) =>
      gateway.manage("PUT", "/api/settings/guardrails", { disabledDetectors: isOn ? [] : ["email"] })
    return { gateway, upstream, ask, kept, detect }
  })

/** What a chat answer says, whole or streamed. */
const saidIn = (text: string): string =>
  text.startsWith("{")
    ? JSON.parse(text).choices[0].message.content
    : text
        .split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? "")
        .join("")

const admin = { authorization: `Bearer ${TestGateway.adminKey}` }
const inFlight = /^gateway_requests_in_flight (\d+)$/m

const redact = { PII_RESPONSE_SANITIZATION: "true", PII_RESPONSE_SANITIZATION_MODE: "redact" }

const block = { ...redact, PII_RESPONSE_SANITIZATION_MODE: "block" }

describe("answers of the cache", () => {
  it.scopedLive("have the same taken out as when they came, in either form, and say so", () =>
    Effect.gen(function* () {
      const { ask, detect, kept, upstream } = yield* setUp(redact)
      yield* Effect.promise(async () => {
        for (const [at, stream] of [true, false].entries()) {
          const word = `Whom? ${at}`
          const first = await ask(word, stream)
          await kept(at + 1)
          assert.strictEqual(saidIn(first.text), "Write to [EMAIL_REDACTED]")
          const again = await ask(word, stream)
          assert.strictEqual(again.headers.get("x-gateway-cache"), "HIT")
          assert.strictEqual(again.text, first.text)
          const other = await ask(word, !stream)
          assert.strictEqual(saidIn(other.text), "Write to [EMAIL_REDACTED]")
          for (const hit of [again, other]) assert.strictEqual(hit.guardrail, "pii=redact:1")
        }
        assert.lengthOf(upstream.requests, 2)
        // What is kept is what the model said.
        await detect(false)
        assert.strictEqual(saidIn((await ask("Whom? 0", true)).text), `Write to ${email}`)
        assert.strictEqual(saidIn((await ask("Whom? 1", false)).text), `Write to ${email}`)
        assert.lengthOf(upstream.requests, 2)
      })
    })
  )

  it.scopedLive("are refused with a row that says so where they are blocked", () =>
    Effect.gen(function* () {
      const { ask, detect, kept } = yield* setUp(block)
      yield* Effect.promise(async () => {
        for (const [at, stream] of [true, false].entries()) {
          await detect(false)
          assert.strictEqual((await ask(`Whom? ${at}`, stream)).status, 200)
          await kept(at + 1)
          await detect(true)
          for (const form of [true, false]) {
            const { headers, row, status, text } = await ask(`Whom? ${at}`, form)
            assert.strictEqual(status, 400, text)
            assert.include(text, "SECURITY_002")
            assert.notInclude(text, "doe@")
            assert.notStrictEqual(headers.get("x-gateway-cache-hit"), "true")
            assert.deepInclude(row, { outcome: "failed", status: 400, error: "SECURITY_002", costUsd: 0 })
          }
        }
      })
    })
  )

  it.scopedLive(
    "are checked against the schema of their request, and asked for once more where they do not match",
    () =>
      Effect.gen(function* () {
        const { ask, gateway, kept, upstream } = yield* setUp()
        const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] }
        const more = { response_format: { type: "json_schema", json_schema: { name: "person", schema } } }
        const rules = (repair: boolean) =>
          gateway.manage("PUT", "/api/settings/guardrails", { structuredOutput: { check: true, repair } })
        const says = (text: string) => Fake.json(Fake.chatCompletion({ text, usage: { in: 10, out: 5 } }))
        yield* Effect.promise(async () => {
          await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 10, output: 100 } } })
          await rules(false)
          upstream.enqueue(says('{"age":7}'), says("wrong"))
          for (const [at, [word, outcome]] of [
            ["One", "schema=ok"],
            ["Two", "schema=failed"]
          ].entries()) {
            assert.strictEqual((await ask(word ?? "", false, more)).guardrail, outcome)
            await kept(at + 1)
            const hit = await ask(word ?? "", false, more)
            assert.deepStrictEqual([hit.headers.get("x-gateway-cache"), hit.guardrail], ["HIT", outcome])
          }
          assert.lengthOf(upstream.requests, 2)

          await rules(true)
          upstream.enqueue(says('{"age":8}'))
          const repaired = await ask("Two", false, more)
          assert.deepStrictEqual([saidIn(repaired.text), repaired.guardrail], ['{"age":8}', "schema=repaired"])
          assert.strictEqual(repaired.headers.get("x-gateway-cache"), "MISS")
          assert.deepInclude(repaired.row, { cacheHit: false, costUsd: 0.0006 })
          await kept(3)
          const again = await ask("Two", false, more)
          assert.deepStrictEqual([saidIn(again.text), again.guardrail], ['{"age":8}', "schema=repaired"])
          assert.strictEqual(again.headers.get("x-gateway-cache"), "HIT")
          assert.deepInclude(again.row, { cacheHit: true, costUsd: 0 })
          assert.lengthOf(upstream.requests, 3)

          // A first answer that was paid for is not repaired by one that costs nothing: head and row would tell two costs.
          upstream.enqueue(says("wrong"), says('{"age":9}'))
          const paid = await ask("Three", false, more)
          assert.strictEqual(paid.guardrail, "schema=repaired")
          assert.strictEqual(Number(paid.headers.get("x-gateway-response-cost")), 0.0012)
          assert.deepInclude(paid.row, { costUsd: 0.0012 })
        })
      })
  )
})

describe("answers of a call that several requests share", () => {
  /** A call that goes on only when all who ask the same are there. */
  const together = (environment: Readonly<Record<string, string>>, stream: boolean, made: Fake.Answer = answer) =>
    Effect.gen(function* () {
      const { ask, gateway, upstream } = yield* setUp(environment)
      return yield* Effect.promise(async () => {
        await gateway.manage("PATCH", "/api/settings", { cache: { enabled: false } })
        const count = 3
        let go = (): void => {}
        const gate = new Promise<void>((resolve) => (go = resolve))
        upstream.always(async (response, request) => {
          await gate
          await made(response, request)
        })
        const asked = Array.from({ length: count }, () => ask("Whom?", stream))
        await eventually(
          "all requests under way",
          async () => (await (await fetch(`${gateway.url}/metrics`, { headers: admin })).text()).match(inFlight)?.[1],
          (value) => value === String(count)
        )
        go()
        const answers = await Promise.all(asked)
        assert.lengthOf(upstream.requests, 1)
        return answers
      })
    })

  for (const stream of [true, false]) {
    const form = stream ? "streamed" : "whole"
    it.scopedLive(`${form}: have the same taken out for each`, () =>
      Effect.gen(function* () {
        for (const { row, text } of yield* together(redact, stream)) {
          assert.strictEqual(saidIn(text), "Write to [EMAIL_REDACTED]")
          assert.deepInclude(row, { outcome: "completed", status: 200 })
        }
      })
    )

    it.scopedLive(`${form}: are refused to each, with a row that says so`, () =>
      Effect.gen(function* () {
        for (const { row, status, text } of yield* together(block, stream)) {
          assert.notInclude(text, "doe@")
          assert.include(text, "SECURITY_002")
          assert.strictEqual(status, 400)
          assert.deepInclude(row, { outcome: "failed", status, error: "SECURITY_002" })
        }
      })
    )
  }

  it.scopedLive("are refused to each in the middle of a stream", () =>
    Effect.gen(function* () {
      const endless: Fake.Answer = async (response, request) => {
        const [head, ...words] = Fake.chatStream(["A sentence to begin with. ", `Write to ${email} now. `])
        await Fake.silence([head ?? "", ...words.slice(0, 2)])(response, request)
      }
      for (const { row, status, text } of yield* together(block, true, endless)) {
        assert.include(text, "A sentence to begin with. ")
        assert.include(text, "SECURITY_002")
        assert.notInclude(text, "doe@")
        assert.strictEqual(status, 200)
        assert.deepInclude(row, { outcome: "failed", status, error: "SECURITY_002" })
      }
    })
  )
})
