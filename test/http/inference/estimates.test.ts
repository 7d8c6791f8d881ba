/** What a request is taken to weigh where no upstream has said it: by its words and pictures, not by the bytes of its JSON. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const chat = "/v1/chat/completions"
const prose =
  "The old baker rose before dawn, as he had done every morning for forty years, and lit the oven while the town was still asleep. "

/** A picture of 1024 × 1024 pixels and some 600 KB: for its size the header is all that counts. */
const png = (): string => {
  const bytes = Buffer.alloc(600_000, 7)
  Buffer.from("\u0089PNG\r\n\u001a\n\0\0\0\rIHDR", "latin1").copy(bytes)
  bytes.writeUInt32BE(1_024, 16)
  bytes.writeUInt32BE(1_024, 20)
  return `data:image/png;base64,${bytes.toString("base64")}`
}
const picture = { type: "image_url", image_url: { url: png() } }
const asking = (model: string, content: unknown) => ({ model, messages: [{ role: "user", content }] })

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  const rowOfOnly = () =>
    eventuallyFound("a usage row", async () => (await gateway.manage("GET", "/api/usage/logs?limit=10")).logs[0])
  return { gateway, upstream, rowOfOnly }
})

type Given = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (given: Given) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("the bill of an aborted request", () => {
  scene("counts a picture by its pixels", async ({ gateway, rowOfOnly, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    upstream.always(Fake.hang())
    const leaving = new AbortController()
    const left = gateway.post(chat, asking("up/m", [picture]), {}, leaving.signal).catch(() => null)
    await upstream.received(1)
    leaving.abort()
    await left
    const { outcome, tokens, usageSource } = await rowOfOnly()
    assert.deepStrictEqual([outcome, usageSource], ["aborted", "estimated"])
    // Four tiles of 512 pixels after scaling, and the frame of a message.
    assert.strictEqual(tokens.in, 85 + 4 * 170 + 3)
  })

  scene("counts words as the tokeniser does", async ({ gateway, rowOfOnly, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    upstream.always(Fake.hang())
    const text = prose.repeat(40)
    const leaving = new AbortController()
    const left = gateway.post(chat, asking("up/m", text), {}, leaving.signal).catch(() => null)
    await upstream.received(1)
    leaving.abort()
    await left
    const exact = countTokens(text) + 3
    // The tokeniser's own figure, or the guess where its thread was not there in time.
    assert.closeTo((await rowOfOnly()).tokens.in, exact, exact * 0.05)
  })
})

describe("routing", () => {
  scene("knows a picture by its pixels", async ({ gateway, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    const facts = { contextLength: 8_000, capabilities: { vision: true } }
    await gateway.manage("POST", "/api/provider-models", { provider: "up", modelId: "m", ...facts })
    upstream.always(Fake.json(Fake.chatCompletion({ text: "fine" })))
    const response = await gateway.post(chat, asking("auto", [picture]))
    assert.strictEqual(response.status, 200, await response.text())
    assert.isNull(response.headers.get("x-gateway-filter-relaxed"))
    const id = response.headers.get("x-gateway-request-id")
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id}`)
    assert.isNull(decision.candidates[0].excluded)
  })

  scene("holds a budget against the words that are asked", async ({ gateway, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 0 } } })
    upstream.always(Fake.json(Fake.chatCompletion({ text: "fine" })))
    const tokens = countTokens(prose.repeat(400))
    const budget = ((tokens * 1.1) / 1_000_000).toFixed(9)
    const response = await gateway.post(chat, asking("auto", prose.repeat(400)), { "x-gateway-budget": budget })
    assert.strictEqual(response.status, 200, await response.text())
    assert.isNull(response.headers.get("x-gateway-filter-relaxed"))
  })
})
