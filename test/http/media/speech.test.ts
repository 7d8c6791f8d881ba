/** Speech over HTTP: sound that is relayed as it comes, from providers of different forms. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import OpenAI from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const sound = (bytes: Buffer, type = "audio/mpeg"): Fake.Answer => {
  return (response) => void response.writeHead(200, { "content-type": type }).end(bytes)
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const openai = yield* Fake.start
  const elevenlabs = yield* Fake.start
  const deepgram = yield* Fake.start
  const connect = (provider: string, baseUrl: string, models: ReadonlyArray<string>) =>
    Effect.promise(() =>
      gateway.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k", baseUrl, models })
    )
  yield* connect("openai", `${openai.origin}/v1`, ["tts-1"])
  yield* connect("elevenlabs", elevenlabs.origin, ["eleven_flash_v2_5"])
  yield* connect("deepgram", `${deepgram.origin}/v1`, ["aura-2-thalia-en"])
  const sdk = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
  const say = (model: string, more: object = {}) =>
    gateway.post("/v1/audio/speech", { model, input: "Hé, you", voice: "alloy", ...more })
  return { gateway, openai, elevenlabs, deepgram, sdk, say }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

describe("POST /v1/audio/speech", () => {
  scenario("gives the official SDK the upstream's bytes, with their cost by characters", async (room) => {
    const { gateway, openai, sdk } = room
    const bytes = randomBytes(300_000)
    openai.always(sound(bytes))
    await gateway.manage("PATCH", "/api/pricing", { openai: { "tts-1": { perCharacter: 0.000015 } } })
    const response = await sdk.audio.speech.create({
      model: "openai/tts-1",
      input: "Hé, you",
      voice: "alloy",
      speed: 2
    })
    assert.strictEqual(response.headers.get("content-type"), "audio/mpeg")
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0001050000")
    assert.strictEqual(response.headers.get("x-gateway-provider"), "openai")
    assert.isTrue(Buffer.from(await response.arrayBuffer()).equals(bytes))
    assert.strictEqual(openai.requests[0]?.url, "/v1/audio/speech")
    assert.deepStrictEqual(JSON.parse(openai.requests[0]?.body ?? ""), {
      model: "tts-1",
      input: "Hé, you",
      voice: "alloy",
      speed: 2
    })
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", costUsd: 0.000105, usageSource: "upstream", streamed: false })
  })

  scenario("is unpriced, not free, where only tokens have a price", async ({ gateway, openai, say }) => {
    openai.always(sound(Buffer.from("sound")))
    for (const [price, priced] of [
      [{ input: 0.6, output: 12 }, false],
      [{ input: 0, output: 0 }, true]
    ] as const) {
      await gateway.manage("PATCH", "/api/pricing", { openai: { "tts-1": price } })
      const response = await say("openai/tts-1")
      await response.arrayBuffer()
      const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, { costUsd: 0, priced })
    }
  })

  scenario("comes as it is made, before its end is there", async ({ openai, say }) => {
    const rest = Fake.makeLatch()
    openai.always(async (response) => {
      response.writeHead(200, { "content-type": "audio/mpeg" })
      response.write("begin")
      await rest.opened
      response.end("end")
    })
    const response = await say("openai/tts-1")
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    assert.strictEqual(Buffer.from(value!).toString(), "begin")
    rest.open()
    const last = await reader.read()
    assert.strictEqual(Buffer.from(last.value!).toString(), "end")
    assert.isTrue((await reader.read()).done)
  })

  scenario("asks ElevenLabs for a voice in its path, and Deepgram for a model in its query", async (room) => {
    const { deepgram, elevenlabs, say } = room
    elevenlabs.always(sound(Buffer.from("eleven")))
    deepgram.always(sound(Buffer.from("deep"), "audio/ogg"))
    const first = await say("elevenlabs/eleven_flash_v2_5", { voice: "a/../b", response_format: "opus", speed: 1.1 })
    assert.strictEqual(await first.text(), "eleven")
    const [eleven] = elevenlabs.requests
    assert.strictEqual(eleven?.url, "/v1/text-to-speech/a%2F..%2Fb?output_format=opus_48000_128")
    assert.strictEqual(eleven?.headers["xi-api-key"], "k")
    assert.deepStrictEqual(JSON.parse(eleven?.body ?? ""), {
      text: "Hé, you",
      model_id: "eleven_flash_v2_5",
      voice_settings: { speed: 1.1 }
    })
    const second = await say("deepgram/aura-2-thalia-en", { response_format: "wav" })
    assert.strictEqual(await second.text(), "deep")
    assert.strictEqual(second.headers.get("x-gateway-dropped"), "voice")
    const [deep] = deepgram.requests
    assert.strictEqual(deep?.url, "/v1/speak?model=aura-2-thalia-en&encoding=linear16&container=wav")
    assert.strictEqual(deep?.headers.authorization, "Token k")
    assert.deepStrictEqual(JSON.parse(deep?.body ?? ""), { text: "Hé, you" })
  })

  for (const [what, failing] of [
    ["an error status", Fake.json({ error: { message: "busy" } }, { status: 503 })],
    ["an error in place of sound", Fake.json({ error: { message: "no sound" } })],
    ["nothing", sound(Buffer.alloc(0))]
  ] as const) {
    scenario(`goes on at a provider of another form after ${what}`, async ({ elevenlabs, gateway, openai, say }) => {
      const targets = [{ model: "openai/tts-1" }, { model: "elevenlabs/eleven_flash_v2_5" }]
      await gateway.manage("POST", "/api/combos", { name: "voices", strategy: "priority", targets })
      openai.always(failing)
      elevenlabs.always(sound(Buffer.from("eleven")))
      const response = await say("voices")
      assert.strictEqual(response.status, 200)
      assert.strictEqual(await response.text(), "eleven")
      assert.strictEqual(response.headers.get("x-gateway-fallback-attempts"), "1")
    })
  }

  for (const [told, cut] of [
    [true, false],
    [false, true]
  ] as const) {
    scenario(
      `that is too large is ${cut ? "cut where its length was not told" : "refused by its length"}`,
      async ({ gateway, openai, say }) => {
        await gateway.manage("PATCH", "/api/settings", { media: { maxAnswerMb: 1 } })
        const bytes = Buffer.alloc(3 * 1_048_576, 1)
        openai.always((response) => {
          response.writeHead(200, { "content-type": "audio/mpeg", ...(told ? { "content-length": bytes.length } : {}) })
          response.end(bytes)
        })
        const response = await say("openai/tts-1")
        if (cut) {
          assert.strictEqual(response.status, 200)
          const ended = await response.arrayBuffer().then(
            () => "whole",
            () => "cut"
          )
          assert.strictEqual(ended, "cut")
        } else {
          assert.strictEqual(response.status, 502)
          assert.match(await response.text(), /larger than 1 MiB/)
        }
        const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
        assert.strictEqual(row.outcome, "failed")
      }
    )
  }

  scenario("is refused before it is asked where a budget does not cover its characters", async (room) => {
    const { gateway, openai } = room
    openai.always(sound(Buffer.from("sound")))
    await gateway.manage("PATCH", "/api/pricing", { openai: { "tts-1": { perCharacter: 0.000015 } } })
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "speaker" })
    await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 0.0002 })
    const statuses: Array<number> = []
    for (let count = 0; count < 3; count += 1) {
      const body = { model: "openai/tts-1", input: "Hé, you", voice: "alloy" }
      const response = await gateway.post("/v1/audio/speech", body, { authorization: `Bearer ${secret}` })
      statuses.push(response.status)
      await response.arrayBuffer()
    }
    assert.deepStrictEqual(statuses, [200, 429, 429])
    assert.strictEqual(openai.requests.length, 1)
    const { spentUsd } = await gateway.manage("GET", `/api/usage/budget?apiKeyId=${key.id}`)
    assert.strictEqual(spentUsd, 0.000105)
  })

  scenario("is cut where the upstream cuts it, and is no success", async ({ gateway, openai, say }) => {
    openai.always((response) => {
      response.writeHead(200, { "content-type": "audio/mpeg" })
      response.write("half")
      response.on("drain", () => {})
      setImmediate(() => response.socket?.destroy())
    })
    const response = await say("openai/tts-1")
    const whole = await response.arrayBuffer().then(
      () => true,
      () => false
    )
    assert.isFalse(whole)
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "failed" })
  })

  scenario("does not let an upstream send a page", async ({ openai, say }) => {
    openai.always(sound(Buffer.from("<script>"), "text/html"))
    const response = await say("openai/tts-1")
    assert.strictEqual(response.headers.get("content-type"), "application/octet-stream")
    assert.strictEqual(response.headers.get("x-content-type-options"), "nosniff")
  })

  scenario("refuses what cannot be spoken", async ({ openai, say }) => {
    for (const wrong of [{ input: "" }, { input: 5 }, { voice: 5 }, { speed: "fast" }, { response_format: 1 }]) {
      assert.strictEqual((await say("openai/tts-1", wrong)).status, 400, JSON.stringify(wrong))
    }
    assert.strictEqual((await say("openai/tts-1", { input: "a".repeat(100_001) })).status, 400)
    assert.strictEqual(openai.requests.length, 0)
  })
})
