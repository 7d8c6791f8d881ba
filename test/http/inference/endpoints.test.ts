/** Text completions, embeddings, routes of one provider, keys in the path and the handshake question, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const vector = [0.25, -0.5, 1]
const packed = Buffer.from(new Float32Array(vector).buffer).toString("base64")

const types = {
  chat: "openai-compatible",
  messages: "anthropic-compatible",
  gemini: "gemini-compatible",
  ollama: "ollama-compatible"
} as const

/** Answers conversations in the wire of the path, and embeddings always as lists of floats. */
const answering: Fake.Answer = async (response, request) => {
  const stream = (JSON.parse(request.body) as { stream?: boolean }).stream === true
  const answer = (): Fake.Answer => {
    if (request.url.endsWith("/embeddings")) {
      return Fake.json({
        object: "list",
        model: "up-model",
        data: [{ object: "embedding", index: 0, embedding: vector }],
        usage: { prompt_tokens: 4, total_tokens: 4 }
      })
    }
    if (request.url.endsWith(":batchEmbedContents")) return Fake.json({ embeddings: [{ values: vector }] })
    if (request.url.endsWith("/api/embed")) return Fake.json({ model: "m", embeddings: [vector], prompt_eval_count: 4 })
    if (request.url.endsWith("/messages")) {
      return stream
        ? Fake.sse(Fake.messagesStream(["Bon", "jour"]))
        : Fake.json(Fake.messagesAnswer({ text: "Bonjour" }))
    }
    return stream ? Fake.sse(Fake.chatStream(["Bon", "jour"])) : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
  }
  await answer()(response, request)
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(answering)
  const connect = async (prefix: string, wire: keyof typeof types, models: ReadonlyArray<string> = ["m"]) => {
    const baseUrl = wire === "ollama" ? upstream.origin : `${upstream.origin}/v1`
    await gateway.manage("POST", "/api/provider-nodes", { name: prefix, prefix, type: types[wire], baseUrl })
    await gateway.manage("POST", "/api/providers", { provider: prefix, name: prefix, apiKey: "k", models })
  }
  yield* Effect.promise(() => connect("up", "chat", ["m", "org/m", "text-embedding-3-small"]))
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
  return { gateway, upstream, connect, openai }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const errorOf = async (response: Response): Promise<{ message: string; param: string | null; code: string }> =>
  ((await response.json()) as { error: { message: string; param: string | null; code: string } }).error

describe("text completions", () => {
  for (const wire of ["chat", "messages"] as const) {
    scenario(
      `the official SDK gets text and streams from a ${wire} upstream`,
      async ({ connect, openai, upstream }) => {
        await connect("other", wire)
        const whole = await openai.completions.create({ model: "other/m", prompt: "Hi", max_tokens: 5, echo: true })
        assert.strictEqual(whole.object, "text_completion")
        assert.strictEqual(whole.choices[0]?.text, "HiBonjour")
        assert.strictEqual(whole.choices[0]?.finish_reason, "stop")
        assert.strictEqual(whole.usage?.total_tokens, 10)
        const sent = JSON.parse(upstream.requests[0]?.body ?? "{}") as { max_tokens: number; messages: unknown }
        assert.strictEqual(sent.max_tokens, 5)

        const stream = await openai.completions.create({
          model: "other/m",
          prompt: ["Hi"],
          stream: true,
          stream_options: { include_usage: true }
        })
        let text = ""
        let finish: string | null = null
        let total = 0
        for await (const chunk of stream) {
          assert.strictEqual(chunk.object, "text_completion")
          text += chunk.choices[0]?.text ?? ""
          finish = chunk.choices[0]?.finish_reason ?? finish
          total = chunk.usage?.total_tokens ?? total
        }
        assert.deepStrictEqual([text, finish, total], ["Bonjour", "stop", 10])
      }
    )
  }

  scenario("are recorded like chat, and name what was dropped", async ({ gateway }) => {
    const response = await gateway.post("/completions", { model: "up/m", prompt: "Hi", best_of: 2 })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("x-gateway-dropped"), "best_of")
    assert.strictEqual(response.headers.get("x-gateway-provider"), "up")
    assert.isNotNull(response.headers.get("x-gateway-response-cost"))
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { requestedModel: "up/m", outcome: "completed" })
  })

  scenario("refuse in the caller's format what cannot be served", async ({ gateway, upstream }) => {
    const filling = await gateway.post("/v1/completions", { model: "up/m", prompt: "a", suffix: "b" })
    assert.strictEqual(filling.status, 400)
    assert.match((await errorOf(filling)).message as string, /suffix/)
    const several = await gateway.post("/v1/completions", { model: "up/m", prompt: ["a", "b"] })
    assert.strictEqual(several.status, 400)
    assert.strictEqual((await errorOf(several)).param, "prompt")
    assert.strictEqual((await gateway.post("/v1/completions", "{")).status, 400)
    assert.strictEqual(
      (await gateway.post("/v1/completions", { model: "up/none-such/", prompt: "a", n: 2 })).status,
      400
    )
    assert.strictEqual(upstream.requests.length, 0)
  })
})

describe("embeddings", () => {
  scenario("the official SDK gets the format it asked for", async ({ openai, upstream }) => {
    // Its default is base64 on the wire, and the upstream answers floats.
    const unasked = await openai.embeddings.create({ model: "up/m", input: "a" })
    assert.deepStrictEqual([...(unasked.data[0]?.embedding ?? [])], vector)
    assert.strictEqual(upstream.requests[0]?.url, "/v1/embeddings")
    assert.deepInclude(JSON.parse(upstream.requests[0]?.body ?? "{}"), { model: "m", encoding_format: "base64" })
    const floats = await openai.embeddings.create({ model: "up/m", input: ["a"], encoding_format: "float" })
    assert.deepStrictEqual(floats.data[0]?.embedding, vector)
    assert.strictEqual(floats.usage.prompt_tokens, 4)
    const raw = await openai.embeddings
      .create({ model: "up/m", input: [[1, 2]], encoding_format: "base64" })
      .asResponse()
    assert.include(await raw.text(), packed)
  })

  for (const [wire, url] of [
    ["gemini", "/v1/models/m:batchEmbedContents"],
    ["ollama", "/api/embed"]
  ] as const) {
    scenario(`ask a ${wire} upstream at its own endpoint`, async ({ connect, openai, upstream }) => {
      await connect("other", wire)
      const answer = await openai.embeddings.create({ model: "other/m", input: ["a"] })
      assert.deepStrictEqual([...(answer.data[0]?.embedding ?? [])], vector)
      assert.strictEqual(upstream.requests[0]?.url, url)
    })
  }

  scenario("go on to the next target, and are recorded", async ({ connect, gateway, upstream }) => {
    await connect("anthropics", "messages")
    await gateway.combo("both", "anthropics/m", "up/m")
    upstream.enqueue(Fake.json({ error: { message: "not this model" } }, { status: 404 }))
    await gateway.combo("twice", "up/m", "up/org/m")
    const first = await gateway.post("/v1/embeddings", { model: "both", input: "a" })
    assert.strictEqual(first.status, 404, "the only target that makes embeddings does not have the model")
    const second = await gateway.post("/v1/embeddings", { model: "both", input: "a" })
    assert.strictEqual(second.status, 200)
    for (const [header, value] of [
      ["x-gateway-provider", "up"],
      ["x-gateway-model", "m"],
      ["x-gateway-tokens-in", "4"],
      ["x-gateway-fallback-attempts", "1"]
    ] as const) {
      assert.strictEqual(second.headers.get(header), value, header)
    }
    assert.match(second.headers.get("x-gateway-response-cost") ?? "", /^\d+\.\d{10}$/)
    const requestId = second.headers.get("x-gateway-request-id") ?? ""
    const row = await gateway.usageRow(requestId)
    assert.deepInclude(row, { provider: "up", model: "m", outcome: "completed", usageSource: "upstream", attempts: 2 })
    assert.deepInclude(row.tokens, { in: 4, out: 0 })
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${requestId}`)
    assert.strictEqual(decision.attempts[0].reason, "not_offered")
    upstream.enqueue(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    assert.strictEqual((await gateway.post("/v1/embeddings", { model: "twice", input: "a" })).status, 200)
  })

  scenario("refuse what no upstream could answer", async ({ connect, gateway }) => {
    await connect("anthropics", "messages")
    const none = await gateway.post("/v1/embeddings", { model: "anthropics/m", input: "a" })
    assert.strictEqual(none.status, 400)
    assert.include((await errorOf(none)).message, "no endpoint for this kind of request")
    assert.strictEqual((await gateway.post("/v1/embeddings", { model: "up/m" })).status, 400)
    assert.strictEqual((await gateway.post("/v1/embeddings", { model: "nowhere/m", input: "a" })).status, 404)
  })

  scenario("their models are listed", async ({ gateway }) => {
    const { data } = (await (await fetch(`${gateway.url}/v1/embeddings`)).json()) as {
      data: ReadonlyArray<{ id: string }>
    }
    assert.deepStrictEqual(
      data.map(({ id }) => id),
      ["up/text-embedding-3-small"]
    )
  })
})

describe("routes of one provider", () => {
  scenario("add the prefix, and serve no other provider's model", async ({ connect, gateway, upstream }) => {
    await connect("second", "chat")
    const path = "/v1/providers/up/chat/completions"
    const messages = [{ role: "user", content: "Hi" }]
    for (const model of ["m", "up/m", "org/m"]) {
      const response = await gateway.post(path, { model, messages })
      assert.strictEqual(response.status, 200, model)
      assert.strictEqual(response.headers.get("x-gateway-provider"), "up")
    }
    assert.strictEqual((JSON.parse(upstream.requests[2]?.body ?? "{}") as { model: string }).model, "org/m")
    for (const model of ["second/m", "openai/gpt-5", "auto"]) {
      const response = await gateway.post(path, { model, messages })
      assert.strictEqual(response.status, 400, model)
      assert.strictEqual((await errorOf(response)).param, "model")
    }
    assert.strictEqual(
      (await gateway.post("/v1/providers/nobody/chat/completions", { model: "m", messages })).status,
      404
    )
    assert.strictEqual((await gateway.post(path, "{")).status, 400)
    assert.strictEqual((await gateway.post(path, { messages })).status, 400)
    assert.strictEqual((await gateway.post("/v1/providers/up/embeddings", { model: "m", input: "a" })).status, 200)
    assert.strictEqual(
      (await gateway.post("//V1/providers/%75p/Chat/completions/", { model: "m", messages })).status,
      200
    )
    assert.strictEqual((await fetch(`${gateway.url}/v1/providers/nobody/models`)).status, 404)
    const { data } = (await (await fetch(`${gateway.url}/v1/providers/second/models`)).json()) as {
      data: ReadonlyArray<{ id: string }>
    }
    assert.deepStrictEqual(
      data.map(({ id }) => id),
      ["second/m"]
    )
  })
})

describe("keys in the path", () => {
  scenario("open the same routes by the same gate", async ({ gateway, upstream }) => {
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "editor", allowedModels: ["up/m"] })
    const base = `/api/v1/editor/${secret}`
    const messages = [{ role: "user", content: "Hi" }]
    for (const [path, body] of [
      ["/chat/completions", { model: "up/m", messages }],
      ["/v1/chat/completions", { model: "up/m", messages }],
      ["/responses", { model: "up/m", input: "Hi" }],
      ["/api/chat", { model: "up/m", messages, stream: false }],
      ["/embeddings", { model: "up/m", input: "Hi" }]
    ] as const) {
      // What clients put into the header beside it does not matter.
      const response = await gateway.post(base + path, body, { authorization: "Bearer dummy" })
      assert.strictEqual(response.status, 200, path)
      const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
      assert.strictEqual(row.apiKeyId, key.id)
      assert.notInclude(JSON.stringify(row), secret)
    }
    assert.strictEqual((await gateway.post(`${base}/chat/completions`, { model: "up/org/m", messages })).status, 403)
    for (const path of ["", "/", "/models", "/v1/models", "/api/tags"]) {
      for (const method of ["GET", "HEAD"]) {
        assert.strictEqual((await fetch(gateway.url + base + path, { method })).status, 200, `${method} ${path}`)
      }
    }
    const { data } = (await (await fetch(`${gateway.url}${base}/models`)).json()) as {
      data: ReadonlyArray<{ id: string }>
    }
    assert.deepStrictEqual(
      data.map(({ id }) => id),
      ["up/m"]
    )
    const strange = await gateway.post(`//API/v1/%65ditor/${secret}/chat//completions`, { model: "up/m", messages })
    assert.strictEqual(strange.status, 200)
    const row = await gateway.usageRow(strange.headers.get("x-gateway-request-id") ?? "")
    assert.strictEqual(row.apiKeyId, key.id)
    for (const sent of upstream.requests) assert.notInclude(JSON.stringify(sent), secret)
    const revoked = `${secret.slice(0, -1)}${secret.endsWith("a") ? "b" : "a"}`
    for (const wrong of [`/api/v1/editor/${revoked}x/nothing`, `/api/v1/editor/${secret}/nothing`]) {
      const response = await fetch(gateway.url + wrong)
      assert.strictEqual(response.status, 404)
      assert.notInclude(await response.text(), secret.slice(0, -1))
    }
  })

  scenario("that are not ours are refused where keys are required", async ({ gateway }) => {
    await gateway.manage("DELETE", `/api/keys/${(await gateway.manage("POST", "/api/keys", { name: "gone" })).key.id}`)
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "gone too" })
    await gateway.manage("DELETE", `/api/keys/${key.id}`)
    const response = await gateway.post(`/api/v1/editor/${secret}/chat/completions`, { model: "up/m", messages: [] })
    assert.strictEqual(response.status, 401)
    assert.notInclude(await response.text(), secret)
    const listed = await fetch(`${gateway.url}/api/v1/editor/${secret}/models`)
    assert.strictEqual(listed.status, 401)
  })
})

describe("generative-language streams without alt=sse", () => {
  const contents = [{ role: "user", parts: [{ text: "Hi" }] }]

  for (const wire of ["gemini", "chat"] as const) {
    scenario(`are one JSON array, from a ${wire} upstream`, async ({ connect, gateway, upstream }) => {
      await connect("other", wire)
      if (wire === "gemini") {
        const said = (text: string, more: object = {}): string =>
          `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }], surprise: 1 })}\r\n\r\n`
        upstream.always(Fake.sse([said("Bon"), said("jour", { finishReason: "STOP" })]))
      }
      const response = await gateway.post("/v1beta/models/other/m:streamGenerateContent", { contents })
      assert.strictEqual(response.status, 200)
      assert.include(response.headers.get("content-type"), "application/json")
      const chunks = (await response.json()) as ReadonlyArray<{
        readonly candidates: ReadonlyArray<{ readonly content?: { readonly parts?: ReadonlyArray<{ text: string }> } }>
      }>
      const texts = chunks.flatMap(({ candidates }) => candidates[0]?.content?.parts ?? []).map(({ text }) => text)
      assert.strictEqual(texts.join(""), "Bonjour")
      // Bytes of the same wire pass as they are.
      assert.strictEqual(JSON.stringify(chunks).includes("surprise"), wire === "gemini")
      assert.strictEqual(upstream.requests[0]?.headers.accept, "text/event-stream")
      if (wire === "gemini") assert.include(upstream.requests[0]?.url, "alt=sse")
      const events = await gateway.post("/v1beta/models/other/m:streamGenerateContent?alt=sse", { contents })
      assert.include(events.headers.get("content-type"), "text/event-stream")
      assert.match(await events.text(), /^data: /)
    })
  }
})

describe("every endpoint", () => {
  scenario("refuses a wrong method with the right ones", async ({ gateway }) => {
    for (const [method, path, allow] of [
      ["PUT", "/v1/embeddings", "POST, GET"],
      ["GET", "/v1/completions", "POST"],
      ["GET", "/v1/providers/up/chat/completions", "POST"],
      ["POST", "/v1/providers/up/models", "GET"],
      ["GET", "/api/v1/editor/x/chat/completions", "POST"],
      ["DELETE", "/api/v1/editor/x", "GET"],
      ["POST", "/v1/ws", "GET"]
    ] as const) {
      const response = await fetch(gateway.url + path, { method })
      assert.strictEqual(response.status, 405, path)
      assert.strictEqual(response.headers.get("allow"), allow)
    }
  })

  scenario("the handshake question is judged like an upgrade", async ({ gateway }) => {
    const asked = await fetch(`${gateway.url}/v1/ws?handshake=1`)
    assert.strictEqual(asked.status, 200)
    assert.deepInclude((await asked.json()) as object, { ok: true, enabled: true, authType: "none" })
    assert.strictEqual((await fetch(`${gateway.url}/v1/ws`)).status, 426)
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "gone" })
    await gateway.manage("DELETE", `/api/keys/${key.id}`)
    const refused = await fetch(`${gateway.url}/v1/ws?handshake=1`, { headers: { authorization: `Bearer ${secret}` } })
    assert.strictEqual(refused.status, 401)
  })
})
