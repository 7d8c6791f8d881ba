/** Faults of the gateway's own, put in by force: they cost the request they befall, and nothing else. */
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ServerResponse } from "node:http"
import { codecs } from "../../../src/wire/Codec.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "Hi" }] })
const chat = "/v1/chat/completions"

afterEach(() => {
  vi.restoreAllMocks()
})

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "fine" })))
  return { gateway, upstream }
})

type Given = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (given: Given) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("a fault of the gateway itself", () => {
  scene("between opening and ending takes no place of a quota share with it", async ({ gateway, upstream }) => {
    const quotas = [{ window: "monthly", unit: "requests", limit: 3 }]
    const { id } = await gateway.connect("up", upstream, "chat", { quotas })
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "mine" })
    await gateway.manage("POST", "/api/quota/groups", {
      name: "team",
      members: [{ connectionId: id, weight: 1 }],
      allocations: [{ apiKeyId: key.id, weight: 1 }]
    })
    const fault = vi.spyOn(codecs.chat, "relayRequest").mockImplementation(() => {
      throw new Error("a fault")
    })
    const post = () => gateway.post(chat, ask("qtSd/team/up/m"), { "x-api-key": secret })
    for (let time = 0; time < 4; time += 1) assert.strictEqual((await post()).status, 500)
    fault.mockRestore()
    const statuses: Array<number> = []
    for (let time = 0; time < 4; time += 1) statuses.push((await post()).status)
    assert.deepStrictEqual(statuses, [200, 200, 200, 429])
  })

  scene("in telling an answer is a 500 for its client", async ({ gateway, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    const writeHead = ServerResponse.prototype.writeHead
    vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(function (
      this: ServerResponse,
      ...given: Array<unknown>
    ) {
      if (given.flat().includes("X-Gateway-Response-Cost")) throw new Error("a fault")
      return Reflect.apply(writeHead, this, given)
    })
    const response = await gateway.post(chat, ask("up/m"))
    assert.strictEqual(response.status, 500)
    assert.match(await response.text(), /"message":"The gateway failed to handle this request/)
    vi.restoreAllMocks()
    assert.strictEqual((await gateway.post(chat, ask("up/m"))).status, 200)
  })

  scene("in the middle of telling it cuts the client's connection", async ({ gateway, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    const end = ServerResponse.prototype.end
    vi.spyOn(ServerResponse.prototype, "end").mockImplementation(function (
      this: ServerResponse,
      ...given: Array<unknown>
    ) {
      if (this.req.headers["x-fault"] !== undefined) throw new Error("a fault")
      return Reflect.apply(end, this, given)
    })
    const ended = await gateway.post(chat, ask("up/m"), { "x-fault": "yes" }).then(
      (response) => response.text().catch(() => "cut"),
      () => "cut"
    )
    assert.strictEqual(ended, "cut")
    vi.restoreAllMocks()
    assert.strictEqual((await gateway.post(chat, ask("up/m"))).status, 200)
  })
})
