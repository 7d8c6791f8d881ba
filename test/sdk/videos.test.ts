/** OpenAI's own SDK, unmodified, makes films: `client.videos`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import OpenAI, { BadRequestError, NotFoundError, toFile } from "openai"
import { eventually } from "../support/eventually.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"

const film = randomBytes(1_500_000)
const thumbnail = Buffer.from("a picture")

/** A provider in OpenAI's form: a job is done when it is asked about for the second time. */
const makeProvider = (): Fake.Answer => {
  const polls = new Map<string, number>()
  let jobs = 0
  return (response, request) => {
    const [path = "", query = ""] = request.url.split("?")
    if (path.endsWith("/content")) {
      const bytes = query === "variant=thumbnail" ? thumbnail : film
      const type = query === "" ? "video/mp4" : "image/webp"
      return void response.writeHead(200, { "content-type": type, "content-length": bytes.length }).end(bytes)
    }
    if (request.method === "POST") {
      jobs += 1
      return Fake.json({ id: `video_${jobs}`, object: "video", status: "queued", progress: 0 })(response, request)
    }
    const times = (polls.get(path) ?? 0) + 1
    polls.set(path, times)
    const stands = times > 1 ? { status: "completed", seconds: "8" } : { status: "in_progress", progress: 40 }
    return Fake.json({ id: path.split("/").at(-1), object: "video", ...stands })(response, request)
  }
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(makeProvider())
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 })
  const client = clientOf("any")
  const completed = (id: string) =>
    eventually(
      "the film is made",
      () => client.videos.retrieve(id),
      ({ status }) => status === "completed"
    )
  return { gateway, upstream, client, clientOf, completed }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

/** What `call` is refused with. */
const refusal = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error
  )

describe("openai SDK: videos", () => {
  scene("begins, shows, lists, fetches and deletes films", async ({ client, completed, gateway, upstream }) => {
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { perSecond: 0.1 } } })
    const begun = await client.videos.create({
      model: "up/m",
      prompt: "A gate opens.",
      seconds: "8",
      size: "1280x720"
    })
    assert.deepInclude(begun, { object: "video", model: "up/m", prompt: "A gate opens.", seconds: "8" })
    assert.include(["queued", "in_progress"], begun.status)
    assert.deepStrictEqual(JSON.parse((await upstream.received(1)).body), {
      model: "m",
      prompt: "A gate opens.",
      seconds: "8",
      size: "1280x720"
    })
    const made = await completed(begun.id)
    assert.deepInclude(made, { progress: 100, size: "1280x720", seconds: "8", prompt: null, error: null })
    assert.isNumber(made.completed_at)
    const bytes = await client.videos.downloadContent(begun.id)
    assert.strictEqual(bytes.headers.get("content-type"), "video/mp4")
    assert.isTrue(Buffer.from(await bytes.arrayBuffer()).equals(film))
    const small = await client.videos.downloadContent(begun.id, { variant: "thumbnail" })
    assert.isTrue(Buffer.from(await small.arrayBuffer()).equals(thumbnail))
    const { data } = await client.videos.list()
    assert.deepStrictEqual(
      data.map(({ id }) => id),
      [begun.id]
    )
    assert.deepInclude(await gateway.usageRow(begun.id), { outcome: "completed", costUsd: 0.8, attempts: 1 })
    assert.deepInclude(await client.videos.delete(begun.id), { id: begun.id, deleted: true, object: "video.deleted" })
    assert.instanceOf(await refusal(client.videos.retrieve(begun.id)), NotFoundError)
    assert.strictEqual(upstream.requests.filter(({ method }) => method === "POST").length, 1)
  })

  scene("takes the picture that a film begins with, as a file and as an address", async ({ client, upstream }) => {
    const picture = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
    const image_url = "https://example.com/gate.png"
    const asked = { model: "up/m", prompt: "It opens." }
    await client.videos.create({ ...asked, input_reference: await toFile(picture, "a.png", { type: "image/png" }) })
    assert.deepStrictEqual(JSON.parse((await upstream.received(1)).body).input_reference, {
      image_url: `data:image/png;base64,${picture.toString("base64")}`
    })
    await client.videos.create({ ...asked, input_reference: { image_url } })
    const submits = () => upstream.requests.filter(({ method }) => method === "POST")
    await eventually(
      "both are submitted",
      () => submits().length,
      (count) => count === 2
    )
    assert.deepStrictEqual(JSON.parse(submits()[1]?.body ?? "").input_reference, { image_url })
  })

  scene("lists the jobs of a key alone, in pages", async ({ clientOf, gateway }) => {
    const secretOf = async (name: string): Promise<string> =>
      (await gateway.manage("POST", "/api/keys", { name })).secret
    const [mine, other] = [clientOf(await secretOf("mine")), clientOf(await secretOf("other"))]
    const ids: Array<string> = []
    for (const prompt of ["one", "two", "three"]) ids.push((await mine.videos.create({ model: "up/m", prompt })).id)
    const listed: Array<string> = []
    for await (const { id } of mine.videos.list({ limit: 2 })) listed.push(id)
    assert.deepStrictEqual(listed, [...ids].reverse())
    const oldest = await mine.videos.list({ limit: 2, order: "asc" })
    assert.deepStrictEqual(
      oldest.data.map(({ id }) => id),
      ids.slice(0, 2)
    )
    assert.isTrue(oldest.hasNextPage())
    assert.deepStrictEqual((await other.videos.list()).data, [])
    assert.instanceOf(await refusal(mine.videos.list({ limit: 0 })), BadRequestError)
  })

  scene("says what is wrong with a request", async ({ client, gateway, upstream }) => {
    const none = await refusal(client.videos.create({ model: "up/m", prompt: "" }))
    assert.instanceOf(none, BadRequestError)
    assert.strictEqual(none.param, "prompt")
    const large = await toFile(Buffer.alloc(8 * 1_048_576 + 1), "a.png")
    const tooLarge = await refusal(client.videos.create({ model: "up/m", prompt: "x", input_reference: large }))
    assert.instanceOf(tooLarge, BadRequestError)
    assert.strictEqual(tooLarge.param, "input_reference")
    assert.strictEqual((await gateway.post("/v1/videos", "{")).status, 400)
    assert.lengthOf(upstream.requests, 0)
    const json = await gateway.post("/v1/videos", { model: "up/m", prompt: "As JSON." })
    assert.strictEqual(json.status, 200)
    const { id } = (await json.json()) as { id: string }
    const wrong = await fetch(`${gateway.url}/v1/videos/${id}/content?variant=poster`)
    assert.include([400, 409], wrong.status)
    await wrong.arrayBuffer()
  })
})
