/** Changed pictures over HTTP: forms of several files, JSON, and streams. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import OpenAI, { toFile } from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const png = "iVBORw0KGgo="

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const openai = yield* Fake.start
  const other = yield* Fake.start
  yield* Effect.promise(() =>
    gateway.manage("POST", "/api/providers", {
      provider: "openai",
      name: "openai",
      apiKey: "k",
      baseUrl: `${openai.origin}/v1`,
      models: ["gpt-image-1", "dall-e-2"]
    })
  )
  yield* Effect.promise(() => gateway.connect("other", other, "chat"))
  const google = yield* Fake.start
  const stability = yield* Fake.start
  const connectTo = (provider: string, baseUrl: string, models: ReadonlyArray<string>) =>
    Effect.promise(() =>
      gateway.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k", baseUrl, models })
    )
  yield* connectTo("gemini", `${google.origin}/v1beta`, ["gemini-2.5-flash-image"])
  yield* connectTo("stability-ai", `${stability.origin}/v2beta`, ["inpaint", "sd3.5-large"])
  const sdk = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
  return { gateway, openai, other, google, stability, sdk }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const picture = (letter: string, bytes: number, name: string) =>
  toFile(Buffer.from(letter.repeat(bytes)), name, { type: "image/png" })

/** Names of the parts in their order, with their text or their file name and content. */
const partsOf = ({ body, headers }: Fake.RecordedRequest): ReadonlyArray<readonly [string, string]> => {
  const boundary = /boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1] ?? "none"
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = "", text = ""] = part.split("\r\n\r\n")
      const filename = /filename="([^"]*)"/.exec(head)?.[1]
      const content = text.slice(0, -2)
      return [
        /name="([^"]*)"/.exec(head)?.[1] ?? "",
        filename === undefined ? content : `${filename} ${content.length} ${content.slice(0, 1)}`
      ]
    })
}

const completed =
  `event: image_edit.completed\ndata: {"type":"image_edit.completed","b64_json":"${png}","size":"1024x1024","quality":"high",` +
  `"usage":{"input_tokens":50,"output_tokens":4160,"total_tokens":4210}}\n\n`
const partial = `event: image_edit.partial_image\ndata: {"type":"image_edit.partial_image","partial_image_index":0,"b64_json":"${png}"}\n\n`

describe("POST /v1/images/edits", () => {
  scenario("sends several pictures and a mask of the official SDK on, at the cost of their answer", async (room) => {
    const { gateway, openai, other, sdk } = room
    await gateway.manage("PATCH", "/api/pricing", { other: { m: { perImage: { "1024x1024/high": 0.17 } } } })
    await gateway.combo("painters", "openai/gpt-image-1", "other/m")
    openai.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    const answer = { created: 5, data: [{ b64_json: png }, { b64_json: png }] }
    other.always(Fake.json(answer))
    const { data, response } = await sdk.images
      .edit({
        model: "painters",
        image: [await picture("a", 400_000, "one.png"), await picture("b", 3, "two.png")],
        mask: await picture("c", 200_000, "mask.png"),
        prompt: "Open the gate.",
        n: 2,
        size: "1024x1024",
        quality: "high"
      })
      .withResponse()
    assert.deepStrictEqual(data.data, answer.data)
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.3400000000")
    const expected = (model: string): ReadonlyArray<readonly [string, string]> => [
      ["image[]", "one.png 400000 a"],
      ["image[]", "two.png 3 b"],
      ["mask", "mask.png 200000 c"],
      ["model", model],
      ["n", "2"],
      ["prompt", "Open the gate."],
      ["quality", "high"],
      ["size", "1024x1024"]
    ]
    const sorted = (request: Fake.RecordedRequest | undefined) =>
      partsOf(request!).toSorted(([one, first], [two, second]) => one.localeCompare(two) || second.localeCompare(first))
    const inOrder = (parts: ReadonlyArray<readonly [string, string]>) =>
      parts.toSorted(([one, first], [two, second]) => one.localeCompare(two) || second.localeCompare(first))
    assert.strictEqual(openai.requests[0]?.url, "/v1/images/edits")
    assert.deepStrictEqual(sorted(openai.requests[0]), inOrder(expected("gpt-image-1")))
    assert.deepStrictEqual(sorted(other.requests[0]), inOrder(expected("m")))
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", costUsd: 0.34, priced: true, provider: "other" })
  })

  scenario("sends pictures on disk to Gemini in base64 after another provider failed", async (room) => {
    const { gateway, google, openai, sdk } = room
    await gateway.combo("painters", "openai/gpt-image-1", "gemini/gemini-2.5-flash-image")
    openai.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    google.always(
      Fake.json({
        candidates: [{ content: { parts: [{ text: "Here." }, { inlineData: { mimeType: "image/png", data: png } }] } }],
        usageMetadata: { promptTokenCount: 300, candidatesTokenCount: 1290 }
      })
    )
    const { data, response } = await sdk.images
      .edit({
        model: "painters",
        image: [await picture("a", 400_000, "one.png"), await picture("b", 4, "two.png")],
        mask: await picture("c", 3, "mask.png"),
        prompt: 'Open the "gate".',
        n: 2,
        size: "1536x1024"
      })
      .withResponse()
    assert.deepStrictEqual(
      data.data?.map(({ b64_json }) => b64_json),
      [png, png]
    )
    assert.strictEqual(response.headers.get("x-gateway-dropped"), "mask")
    assert.strictEqual(google.requests.length, 2)
    for (const { body, headers, url } of google.requests) {
      assert.strictEqual(url, "/v1beta/models/gemini-2.5-flash-image:generateContent")
      assert.strictEqual(headers["content-type"], "application/json")
      const inline = (letter: string, bytes: number) => ({
        inlineData: { mimeType: "image/png", data: Buffer.from(letter.repeat(bytes)).toString("base64") }
      })
      assert.deepStrictEqual(JSON.parse(body), {
        contents: [{ role: "user", parts: [{ text: 'Open the "gate".' }, inline("a", 400_000), inline("b", 4)] }],
        generationConfig: { responseModalities: ["TEXT", "IMAGE"], imageConfig: { aspectRatio: "3:2" } }
      })
    }
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", provider: "gemini", usageSource: "upstream" })
    assert.deepInclude(row.tokens, { in: 600, out: 2580 })
  })

  scenario("sends a picture and its mask on disk to Stability after another provider failed", async (room) => {
    const { gateway, openai, sdk, stability } = room
    await gateway.combo("painters", "openai/gpt-image-1", "stability-ai/inpaint")
    await gateway.manage("PATCH", "/api/pricing", { "stability-ai": { inpaint: { perImage: 0.05 } } })
    openai.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    stability.always(Fake.json({ image: png, finish_reason: "SUCCESS", seed: 1 }))
    const { data, response } = await sdk.images
      .edit({
        model: "painters",
        image: await picture("a", 400_000, "one.png"),
        mask: await picture("c", 5, "mask.png"),
        prompt: "Open the gate.",
        size: "1024x1024",
        output_format: "webp"
      })
      .withResponse()
    assert.deepStrictEqual(
      data.data?.map(({ b64_json }) => b64_json),
      [png]
    )
    assert.strictEqual(response.headers.get("x-gateway-dropped"), "size")
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0500000000")
    assert.strictEqual(stability.requests[0]?.url, "/v2beta/stable-image/edit/inpaint")
    assert.deepStrictEqual(partsOf(stability.requests[0]!), [
      ["prompt", "Open the gate."],
      ["output_format", "webp"],
      ["image", "one.png 400000 a"],
      ["mask", "mask.png 5 c"]
    ])
  })

  scenario(
    "makes a new picture of one at Stability, and tells what its filter kept back",
    async ({ sdk, stability }) => {
      stability.always(Fake.json({ image: png, finish_reason: "CONTENT_FILTERED", seed: 1 }))
      const image = await picture("a", 10, "one.png")
      const failure = await sdk.images
        .edit({ model: "stability-ai/sd3.5-large", image, prompt: "Open" })
        .catch((thrown: unknown) => thrown)
      assert.instanceOf(failure, OpenAI.APIError)
      assert.deepInclude(failure, { status: 400, code: "content_policy_violation" })
      assert.strictEqual(stability.requests[0]?.url, "/v2beta/stable-image/generate/sd3")
      assert.deepStrictEqual(partsOf(stability.requests[0]!), [
        ["prompt", "Open"],
        ["strength", "0.7"],
        ["model", "sd3.5-large"],
        ["mode", "image-to-image"],
        ["image", "one.png 10 a"]
      ])
    }
  )

  scenario("sends no pictures by address to providers that take files only", async ({ gateway, google, stability }) => {
    for (const model of ["gemini/gemini-2.5-flash-image", "stability-ai/inpaint"]) {
      const images = [{ image_url: "https://example.com/a.png" }]
      const response = await gateway.post("/v1/images/edits", { model, prompt: "Open", images })
      assert.strictEqual(response.status, 400)
      await response.text()
    }
    assert.strictEqual(google.requests.length + stability.requests.length, 0)
  })

  scenario("streams partial pictures, up to the last one", async ({ gateway, openai, sdk }) => {
    await gateway.manage("PATCH", "/api/pricing", { openai: { "gpt-image-1": { input: 5, output: 40 } } })
    openai.always(Fake.sse([partial, completed]))
    const { data: stream, response } = await sdk.images
      .edit({
        model: "openai/gpt-image-1",
        image: await picture("a", 10, "one.png"),
        prompt: "Open",
        stream: true,
        partial_images: 1
      })
      .withResponse()
    const types: Array<string> = []
    for await (const { type } of stream) types.push(type)
    assert.deepStrictEqual(types, ["image_edit.partial_image", "image_edit.completed"])
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", streamed: true, costUsd: 0.16665, usageSource: "upstream" })
  })

  scenario("does not end a stream that was cut as if it were whole", async ({ gateway, openai, sdk }) => {
    openai.always(Fake.sse([partial]))
    const { data: stream, response } = await sdk.images
      .edit({ model: "openai/gpt-image-1", image: await picture("a", 10, "a.png"), prompt: "Open", stream: true })
      .withResponse()
    const types: Array<string> = []
    const failure = await (async () => {
      for await (const { type } of stream) types.push(type)
      return null
    })().catch((thrown: unknown) => thrown)
    assert.deepStrictEqual(types, ["image_edit.partial_image"])
    assert.isNotNull(failure)
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "failed" })
  })

  scenario("tells a whole answer as a stream where one was asked for", async ({ openai, sdk }) => {
    openai.always(Fake.json({ created: 5, data: [{ b64_json: png }] }))
    const stream = await sdk.images.edit({
      model: "openai/gpt-image-1",
      image: await picture("a", 10, "a.png"),
      prompt: "Open",
      stream: true
    })
    const events = []
    for await (const event of stream) events.push([event.type, event.b64_json])
    assert.deepStrictEqual(events, [["image_edit.completed", png]])
  })

  scenario("takes JSON that names pictures by address", async ({ gateway, openai }) => {
    openai.always(Fake.json({ created: 5, data: [{ b64_json: png }] }))
    const asked = {
      images: [{ image_url: "https://example.com/a.png" }],
      prompt: "Open",
      n: 1,
      extra: { kept: true }
    }
    const response = await gateway.post("/v1/images/edits", { model: "openai/gpt-image-1", ...asked })
    assert.strictEqual(response.status, 200)
    assert.deepStrictEqual(JSON.parse(openai.requests[0]?.body ?? ""), { model: "gpt-image-1", ...asked })
  })

  scenario("refuses what cannot be changed, and asks no provider", async ({ gateway, openai }) => {
    const model = "openai/gpt-image-1"
    for (const body of [
      { model, prompt: "Open" },
      { model, prompt: "Open", images: [] },
      { model, prompt: "Open", images: ["a.png"] },
      { model, images: [{ image_url: "https://example.com/a.png" }] },
      { model, prompt: "Open", images: Array.from({ length: 17 }, () => ({ file_id: "file-1" })) },
      { model, prompt: "Open", image: { upload: 0, filename: "a", content_type: "image/png", bytes: 5 } },
      { model, prompt: "Open", images: [{ file_id: "file-1" }], mask: "m" }
    ]) {
      const response = await gateway.post("/v1/images/edits", body)
      assert.strictEqual(response.status, 400, JSON.stringify(body))
      await response.text()
    }
    for (const [name, value] of [
      ["n", "99"],
      ["n", "two"],
      ["stream", "maybe"],
      ["prompt", "again"],
      ["response_format", "gif"]
    ] as const) {
      const form = new FormData()
      form.append("model", model)
      form.append("prompt", "Open")
      form.append("image", new Blob(["a"]), "a.png")
      form.append(name, value)
      const response = await fetch(`${gateway.url}/v1/images/edits`, { method: "POST", body: form })
      assert.strictEqual(response.status, 400, `${name}=${value}`)
      await response.text()
    }
    assert.strictEqual(openai.requests.length, 0)
  })

  scenario("varies a picture at a path of its own", async ({ openai, sdk }) => {
    openai.always(Fake.json({ created: 5, data: [{ url: "https://example.com/b.png" }] }))
    const answer = await sdk.images.createVariation({
      model: "openai/dall-e-2",
      image: await picture("a", 5, "a.png"),
      n: 1
    })
    assert.deepStrictEqual(answer.data, [{ url: "https://example.com/b.png" }])
    assert.strictEqual(openai.requests[0]?.url, "/v1/images/variations")
    assert.deepStrictEqual(Object.fromEntries(partsOf(openai.requests[0]!)), {
      model: "dall-e-2",
      n: "1",
      image: "a.png 5 a"
    })
  })
})
