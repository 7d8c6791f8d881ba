/** What is billed by the piece is asked of one target at a time, also where requests are hedged. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const slowMs = 300

const slowly =
  (answer: Fake.Answer): Fake.Answer =>
  async (response, request) => {
    await new Promise((resolve) => setTimeout(resolve, slowMs))
    await answer(response, request)
  }

const film = Fake.json({ id: "v1", status: "completed", data: [{ url: "https://cdn.test/film.mp4" }] })
const picture = Fake.json({ created: 1, data: [{ b64_json: "aGk=" }] })

const form = (more: Readonly<Record<string, string>>): FormData => {
  const data = new FormData()
  data.set("model", "media")
  data.set(more["file"] ?? "image", new Blob([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])]), "a.png")
  for (const [name, value] of Object.entries(more)) if (name !== "file") data.set(name, value)
  return data
}

const requests: ReadonlyArray<readonly [path: string, body: object | (() => FormData), answer: Fake.Answer]> = [
  ["/v1/videos/generations", { model: "media", prompt: "A gate opens." }, film],
  ["/v1/music/generations", { model: "media", prompt: "A song." }, film],
  ["/v1/images/generations", { model: "media", prompt: "A gate." }, picture],
  ["/v1/images/edits", () => form({ prompt: "Open it." }), picture],
  ["/v1/images/variations", () => form({}), picture],
  ["/v1/audio/transcriptions", () => form({ file: "file" }), Fake.json({ text: "Hello." })]
]

describe("hedging", () => {
  it.scopedLive("submits nothing twice that is billed by the piece", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const [first, second] = [yield* Fake.start, yield* Fake.start]
      yield* Effect.promise(async () => {
        await gateway.connect("one", first, "chat")
        await gateway.connect("two", second, "chat")
        await gateway.combo("media", "one/m", "two/m")
        await gateway.manage("PATCH", "/api/resilience", { hedging: { enabled: true, delayMs: 50 } })
        for (const [path, body, answer] of requests) {
          first.always(slowly(answer))
          const response =
            typeof body === "function"
              ? await fetch(gateway.url + path, { method: "POST", body: body() })
              : await gateway.post(path, body)
          assert.strictEqual(response.status, 200, `${path}: ${await response.text()}`)
          assert.strictEqual(response.headers.get("x-gateway-provider"), "one", path)
          assert.lengthOf(second.requests, 0, path)
        }
        // The same setting does hedge what is not.
        first.always(Fake.silence())
        second.always(Fake.json(Fake.chatCompletion({ text: "hi" })))
        const chat = await gateway.post("/v1/chat/completions", {
          model: "media",
          messages: [{ role: "user", content: "Hi" }]
        })
        assert.strictEqual(chat.headers.get("x-gateway-provider"), "two")
      })
    })
  )
})
