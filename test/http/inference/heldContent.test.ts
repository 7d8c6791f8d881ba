/** What a conversation holds is never left out: a target without a place for it is no candidate, and the next one answers. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { saying } from "../../support/AnyWire.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(async () => {
    for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const)
      await gateway.connect(`x${wire}`, upstream, wire, { models: ["m"] })
  })
  return { gateway, upstream }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const pdf = {
  type: "file",
  file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${Buffer.from("%PDF-1.4").toString("base64")}` }
}

const said = (...content: ReadonlyArray<unknown>) => ({ messages: [{ role: "user", content }] })

interface Attempt {
  readonly reason: string | null
  readonly provider: string
}

const attemptsOf = async (gateway: SetUp["gateway"], response: Response): Promise<ReadonlyArray<Attempt>> => {
  const id = response.headers.get("x-gateway-request-id") ?? ""
  const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id}`)
  return (decision as { attempts: ReadonlyArray<Attempt> }).attempts
}

describe("a document", () => {
  scenario("is answered by the next target where the first has no place for it", async ({ gateway, upstream }) => {
    upstream.always(saying("Hello"))
    await gateway.combo("both", "xollama/m", "xmessages/m")
    const answer = await gateway.post("/v1/chat/completions", { model: "both", ...said(pdf) })
    assert.strictEqual(answer.status, 200, await answer.clone().text())
    assert.lengthOf(upstream.requests, 1)
    assert.include(upstream.requests[0]?.body ?? "", Buffer.from("%PDF-1.4").toString("base64"))
    const attempts = await attemptsOf(gateway, answer)
    assert.deepStrictEqual(
      attempts.map(({ provider, reason }) => [provider, reason]),
      [
        ["xollama", "request_not_translatable"],
        ["xmessages", "ok"]
      ]
    )
    // Nobody is punished.
    const next = await gateway.post("/v1/chat/completions", { model: "both", ...said({ type: "text", text: "Hi" }) })
    assert.strictEqual(next.status, 200)
    assert.include(upstream.requests.at(-1)?.url ?? "", "/api/chat")
  })

  scenario("is refused by name where nobody is left, and nothing is sent", async ({ gateway, upstream }) => {
    const answer = await gateway.post("/v1/chat/completions", { model: "xollama/m", ...said(pdf) })
    assert.strictEqual(answer.status, 400)
    const { error } = (await answer.json()) as { error: { message: string } }
    assert.match(error.message, /messages\.content\.file/)
    assert.match(error.message, /chat wire may take it/)
    assert.lengthOf(upstream.requests, 0)
  })
})

describe("an earlier answer", () => {
  const asked = { model: "xchat/m", input: "Hi" }

  scenario("that is named by its items is put in", async ({ gateway, upstream }) => {
    upstream.always(saying("Hello"))
    const first = (await (await gateway.post("/v1/responses", asked)).json()) as {
      output: ReadonlyArray<{ id: string }>
    }
    const id = first.output.at(-1)?.id ?? ""
    const input = [
      { role: "user", content: "Hi" },
      { type: "item_reference", id },
      { role: "user", content: "And?" }
    ]
    for (const model of ["xchat/m", "xmessages/m", "xgemini/m", "xollama/m"]) {
      const answer = await gateway.post("/v1/responses", { model, input })
      assert.strictEqual(answer.status, 200, model)
      assert.isNull(answer.headers.get("x-gateway-dropped"), model)
      assert.include(upstream.requests.at(-1)?.body ?? "", "Hello", model)
    }
  })

  scenario("that is not known goes to its own wire only", async ({ gateway, upstream }) => {
    upstream.always((response, request) =>
      request.url.includes("/responses")
        ? Fake.json({ error: { message: "down", type: "server_error" } }, { status: 500 })(response, request)
        : saying("Hello")(response, request)
    )
    await gateway.combo("both", "xresponses/m", "xchat/m")
    for (const body of [
      { input: "And?", previous_response_id: "resp_unknown" },
      {
        input: [
          { type: "item_reference", id: "msg_unknown" },
          { role: "user", content: "And?" }
        ]
      },
      { input: "And?", conversation: "conv_1" },
      { prompt: { id: "pmpt_1" }, input: "And?" }
    ]) {
      const answer = await gateway.post("/v1/responses", { model: "both", ...body })
      assert.notStrictEqual(answer.status, 200, JSON.stringify(body))
      assert.isTrue(upstream.requests.every(({ url }) => url.includes("/responses")))
    }
  })
})

describe("a local runner", () => {
  scenario("is asked at its own endpoint for what a conversation cannot say, and others are not", async (room) => {
    const { gateway, upstream } = room
    const answer = { model: "m", created_at: "2026-01-01T00:00:00Z", response: "b", done: true, done_reason: "stop" }
    upstream.always((response, request) =>
      request.url.endsWith("/api/generate") ? Fake.json(answer)(response, request) : saying("Hello")(response, request)
    )
    await gateway.combo("both", "xchat/m", "xollama/m")
    const asked = { prompt: "a", suffix: "c", raw: true, context: [1, 2], stream: false }
    const generated = await gateway.post("/api/generate", { model: "both", ...asked })
    assert.strictEqual(generated.status, 200, await generated.clone().text())
    assert.deepInclude(await generated.json(), { response: "b", done: true })
    assert.deepStrictEqual(
      upstream.requests.map(({ url }) => url),
      ["/api/generate"]
    )
    assert.deepInclude(JSON.parse(upstream.requests[0]?.body ?? ""), asked)
    assert.strictEqual((await gateway.post("/api/generate", { model: "xchat/m", ...asked })).status, 400)
    const plain = await gateway.post("/api/generate", { model: "xollama/m", prompt: "a", stream: false })
    assert.strictEqual(plain.status, 200)
    assert.strictEqual(upstream.requests.at(-1)?.url, "/api/chat")
  })

  scenario("that loaded a model has not answered", async ({ gateway, upstream }) => {
    const loaded = { model: "m", created_at: "2026-01-01T00:00:00Z", done: true, done_reason: "load" }
    upstream.always((response, request) =>
      Fake.json({ ...loaded, message: { role: "assistant", content: "" } })(response, request)
    )
    for (const path of ["/v1/chat/completions", "/api/chat"]) {
      const messages = [{ role: "user", content: "Hi" }]
      const answer = await gateway.post(path, { model: "xollama/m", messages, stream: false })
      assert.strictEqual(answer.status, 502, path)
    }
    const streamed = await gateway.post("/v1/chat/completions", {
      model: "xollama/m",
      messages: [{ role: "user", content: "Hi" }],
      stream: true
    })
    assert.notInclude(await streamed.text(), "[DONE]")
  })
})
