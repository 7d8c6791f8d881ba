/** Pictures of providers that take requests as jobs: submitted, asked about and fetched within one request of the client. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const bytes = Buffer.from("\u0089PNG\r\n\u001a\n----", "latin1")
const png = bytes.toString("base64")

const picture: Fake.Answer = (response) => void response.writeHead(200, { "content-type": "image/png" }).end(bytes)

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const provider = yield* Fake.start
  const other = yield* Fake.start
  const connect = (id: string, model: string) =>
    gateway.manage("POST", "/api/providers", {
      provider: id,
      name: id,
      apiKey: "k",
      baseUrl: provider.origin,
      models: [model]
    })
  const draw = (model: string, more: object = {}) =>
    gateway.post("/v1/images/generations", { model, prompt: "A gate", response_format: "b64_json", ...more })
  /** Answers by method and path; a list of answers is given out in its order, the last one again and again. */
  const answers = (table: Readonly<Record<string, ReadonlyArray<Fake.Answer>>>): void => {
    const calls = new Map<string, number>()
    provider.always((response, request) => {
      const key = `${request.method} ${request.url}`
      const nth = calls.get(key) ?? 0
      calls.set(key, nth + 1)
      const list = table[key] ?? [Fake.json({ error: `unexpected ${key}` }, { status: 500 })]
      return list[Math.min(nth, list.length - 1)]?.(response, request)
    })
  }
  const asked = () => provider.requests.map(({ method, url }) => `${method} ${url}`)
  const rowOf = (response: Response) => gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
  return { gateway, provider, other, connect, draw, answers, asked, rowOf }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))), { timeout: 60_000 })
}

const picturesOf = async (response: Response) => JSON.parse(await response.text()).data

describe("pictures of jobs", () => {
  scenario("Black Forest Labs: submit, poll, and the sample that it names", async (room) => {
    const { answers, asked, connect, draw, gateway, provider, rowOf } = room
    await connect("black-forest-labs", "flux-pro-1.1")
    await gateway.manage("PATCH", "/api/pricing", { "black-forest-labs": { "flux-pro-1.1": { perImage: 0.04 } } })
    const sample = `${provider.origin}/sample.png`
    answers({
      "POST /v1/flux-pro-1.1": [Fake.json({ id: "j1", polling_url: `${provider.origin}/v1/get_result?id=j1` })],
      "GET /v1/get_result?id=j1": [
        Fake.json({ id: "j1", status: "Pending", progress: 0.5 }),
        Fake.json({ id: "j1", status: "Ready", result: { sample } })
      ],
      "GET /sample.png": [picture]
    })
    const response = await draw("black-forest-labs/flux-pro-1.1", { size: "1024x768", seed: 7 })
    assert.deepStrictEqual(await picturesOf(response), [{ b64_json: png }])
    assert.deepStrictEqual(asked(), [
      "POST /v1/flux-pro-1.1",
      "GET /v1/get_result?id=j1",
      "GET /v1/get_result?id=j1",
      "GET /sample.png"
    ])
    assert.deepStrictEqual(JSON.parse(provider.requests[0]?.body ?? ""), {
      prompt: "A gate",
      width: 1024,
      height: 768,
      seed: 7
    })
    for (const { headers } of provider.requests) assert.strictEqual(headers["x-key"], "k")
    assert.deepInclude(await rowOf(response), { outcome: "completed", costUsd: 0.04, attempts: 1 })
  })

  scenario("Black Forest Labs: moderation is the client's error", async ({ answers, connect, draw, provider }) => {
    await connect("black-forest-labs", "flux-pro-1.1")
    answers({
      "POST /v1/flux-pro-1.1": [Fake.json({ id: "j1", polling_url: `${provider.origin}/poll` })],
      "GET /poll": [Fake.json({ id: "j1", status: "Content Moderated" })]
    })
    const response = await draw("black-forest-labs/flux-pro-1.1")
    assert.strictEqual(response.status, 400)
    assert.strictEqual(JSON.parse(await response.text()).error.code, "content_policy_violation")
  })

  scenario("the credential does not go to another host that an answer names", async (room) => {
    const { answers, connect, draw, other } = room
    await connect("black-forest-labs", "flux-pro-1.1")
    answers({ "POST /v1/flux-pro-1.1": [Fake.json({ id: "j1", polling_url: `${other.origin}/poll` })] })
    const response = await draw("black-forest-labs/flux-pro-1.1")
    assert.strictEqual(response.status, 502)
    assert.strictEqual(other.requests.length, 0)
  })

  scenario("Replicate: a prediction", async ({ answers, connect, draw, provider }) => {
    await connect("replicate", "black-forest-labs/flux-schnell")
    const get = `${provider.origin}/v1/predictions/p1`
    answers({
      "POST /v1/predictions": [
        Fake.json({ id: "p1", status: "starting", urls: { get, cancel: `${get}/cancel` } }, { status: 201 })
      ],
      "GET /v1/predictions/p1": [
        Fake.json({ id: "p1", status: "succeeded", output: [`${provider.origin}/out.webp`], error: null })
      ],
      "GET /out.webp": [picture]
    })
    const response = await draw("replicate/black-forest-labs/flux-schnell", { size: "1024x1024" })
    assert.deepStrictEqual(await picturesOf(response), [{ b64_json: png }])
    assert.deepStrictEqual(JSON.parse(provider.requests[0]?.body ?? ""), {
      version: "black-forest-labs/flux-schnell",
      input: { prompt: "A gate", aspect_ratio: "1:1" }
    })
  })

  scenario("fal: queue, status, response", async ({ answers, asked, connect, draw, provider }) => {
    await connect("fal-ai", "fal-ai/flux/dev")
    const at = `${provider.origin}/fal-ai/flux/requests/r1`
    const urls = { status_url: `${at}/status`, response_url: at, cancel_url: `${at}/cancel` }
    answers({
      "POST /fal-ai/flux/dev": [Fake.json({ request_id: "r1", status: "IN_QUEUE", ...urls })],
      "GET /fal-ai/flux/requests/r1/status": [
        Fake.json({ request_id: "r1", status: "IN_PROGRESS" }),
        Fake.json({ request_id: "r1", status: "COMPLETED", response_url: at })
      ],
      "GET /fal-ai/flux/requests/r1": [Fake.json({ images: [{ url: `${provider.origin}/a.png` }], seed: 1 })],
      "GET /a.png": [picture]
    })
    const response = await draw("fal-ai/fal-ai/flux/dev", { n: 2 })
    assert.deepStrictEqual(await picturesOf(response), [{ b64_json: png }])
    assert.strictEqual(asked().at(0), "POST /fal-ai/flux/dev")
    assert.strictEqual(provider.requests[0]?.headers.authorization, "Key k")
    assert.deepStrictEqual(JSON.parse(provider.requests[0]?.body ?? ""), { prompt: "A gate", num_images: 2 })
  })

  scenario("ComfyUI: a graph, its history and its files", async ({ answers, connect, draw, provider }) => {
    await connect("comfyui", "sdxl.safetensors")
    const image = { filename: "gateway_1_.png", subfolder: "", type: "output" }
    const done = { outputs: { saved: { images: [image] } }, status: { status_str: "success", completed: true } }
    answers({
      "POST /prompt": [Fake.json({ prompt_id: "c1", number: 1, node_errors: {} })],
      "GET /history/c1": [Fake.json({}), Fake.json({ c1: done })],
      "GET /view?filename=gateway_1_.png&subfolder=&type=output": [picture]
    })
    const response = await draw("comfyui/sdxl.safetensors", { size: "512x512", n: 2, workflow: { evil: 1 } })
    assert.deepStrictEqual(await picturesOf(response), [{ b64_json: png }])
    assert.strictEqual(response.headers.get("x-gateway-dropped"), "workflow")
    const { prompt } = JSON.parse(provider.requests[0]?.body ?? "")
    assert.deepStrictEqual(prompt.checkpoint.inputs, { ckpt_name: "sdxl.safetensors" })
    assert.deepStrictEqual(prompt.latent.inputs, { width: 512, height: 512, batch_size: 2 })
    assert.isAbove(prompt.sampler.inputs.seed, 0)
  })

  scenario("Leonardo: a generation", async ({ answers, connect, draw, provider }) => {
    await connect("leonardo", "b24e16ff-06e3-43eb-8d33-4416c2d75876")
    const images = [{ url: `${provider.origin}/a.png`, nsfw: false }]
    answers({
      "POST /api/rest/v1/generations": [Fake.json({ sdGenerationJob: { generationId: "g1" } })],
      "GET /api/rest/v1/generations/g1": [
        Fake.json({ generations_by_pk: { status: "PENDING", generated_images: [] } }),
        Fake.json({ generations_by_pk: { status: "COMPLETE", generated_images: images } })
      ],
      "GET /a.png": [picture]
    })
    assert.deepStrictEqual(await picturesOf(await draw("leonardo/b24e16ff-06e3-43eb-8d33-4416c2d75876")), [
      { b64_json: png }
    ])
  })

  scenario(
    "a job that fails is followed by a provider of another form",
    async ({ answers, connect, draw, gateway, other, provider }) => {
      await connect("black-forest-labs", "flux-pro-1.1")
      await gateway.manage("POST", "/api/providers", {
        provider: "openai",
        name: "openai",
        apiKey: "k",
        baseUrl: `${other.origin}/v1`,
        models: ["dall-e-3"]
      })
      const targets = [{ model: "black-forest-labs/flux-pro-1.1" }, { model: "openai/dall-e-3" }]
      await gateway.manage("POST", "/api/combos", { name: "painters", strategy: "priority", targets })
      answers({
        "POST /v1/flux-pro-1.1": [Fake.json({ id: "j1", polling_url: `${provider.origin}/poll` })],
        "GET /poll": [Fake.json({ id: "j1", status: "Error" })]
      })
      other.always(Fake.json({ created: 1, data: [{ b64_json: png }] }))
      const response = await draw("painters")
      assert.strictEqual(response.headers.get("x-gateway-provider"), "openai")
      assert.deepStrictEqual(await picturesOf(response), [{ b64_json: png }])
    }
  )
})
