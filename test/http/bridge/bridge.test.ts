/** Requests of agents as the decrypting listener hands them over: answered by this gateway where their model is mapped, else passed on whole. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { once } from "node:events"
import { createServer, type IncomingMessage, request as ask, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import * as Bridge from "../../../src/agents/bridge/Bridge.ts"
import type { TrafficRecord } from "../../../src/contract/domain/TrafficRecord.ts"
import { makeIntercept, makeNeedsHttp1 } from "../../../src/entry/bridge/Intercept.ts"
import * as InnerRequests from "../../../src/plane/InnerRequests.ts"
import { readAnswer } from "../../../src/observe/inspector/reading/Answer.ts"
import { formatOf } from "../../../src/observe/inspector/reading/Format.ts"
import { LazyInspector } from "../../../src/observe/inspector/LazyInspector.ts"
import { BodyBudget } from "../../../src/plane/resilience/BodyBudget.ts"
import * as BridgeRepo from "../../../src/subjects/agentBridge/repo.ts"
import { eventually, eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const read = async (stream: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const maxBodyBytes = 4_096

const setUp = Effect.gen(function* () {
  const { built, gateway } = yield* TestGateway.startBuilt()
  const upstream = yield* Fake.start
  upstream.always(async (response, request) => {
    const stream = (JSON.parse(request.body) as { stream?: boolean }).stream === true
    const answer = stream ? Fake.sse(Fake.messagesStream(["Bon", "jour"])) : Fake.json(Fake.messagesAnswer())
    await answer(response, request)
  })
  yield* Effect.promise(() => gateway.connect("up", upstream, "messages"))
  const layer = Bridge.layer.pipe(Layer.provide(Layer.mergeAll(BridgeRepo.layer, InnerRequests.layer)))
  const bridge = Context.get(yield* Layer.build(layer).pipe(Effect.provide(built)), Bridge.Bridge)
  const passed: Array<string> = []
  const bypassed = new Set<string>()
  const open = { opened: () => {}, closed: () => {} }
  const intercept = makeIntercept({
    bridge,
    isBypassed: (host) => bypassed.has(host),
    bodies: Context.get(built, BodyBudget),
    streams: open as never,
    maxBodyBytes
  })
  /** Stands for the vendor: what it gets is what the listener would have relayed. */
  const vendor = async (request: IncomingMessage): Promise<string> => {
    const body = await read(request)
    passed.push(body)
    return body
  }
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const made: Server = createServer((request, response) => {
        const passOn = (): void =>
          void vendor(request).then(
            (body) => response.writeHead(203).end(body),
            () => response.destroy()
          )
        const serverName = String(request.headers["x-sni"] ?? "api.anthropic.com")
        if (!intercept(request, response, { scheme: "https", serverName }, passOn)) passOn()
      })
      made.listen(0, "127.0.0.1")
      await once(made, "listening")
      return made
    }),
    (made) => Effect.promise(async () => void made.close().closeAllConnections())
  )
  const { port } = server.address() as AddressInfo
  const send = async (
    path: string,
    pieces: ReadonlyArray<string | Buffer>,
    headers: Record<string, string> = {}
  ): Promise<Answered> => {
    const host = headers["host"] ?? headers["x-sni"] ?? "api.anthropic.com"
    const asked = ask({
      port,
      method: "POST",
      path,
      headers: { "content-type": "application/json", "x-api-key": "sk-ant-of-the-vendor-0123456789", ...headers, host }
    })
    const answered = once(asked, "response") as Promise<[IncomingMessage]>
    for (const piece of pieces) await new Promise<void>((done) => asked.write(piece, () => done()))
    asked.end()
    const [response] = await answered
    return { status: response.statusCode ?? 0, headers: response.headers, body: await read(response) }
  }
  const services = yield* Context.get(built, LazyInspector).get
  const finished = (count = 1): Promise<TrafficRecord> =>
    eventuallyFound(`${count} records`, async () => {
      await Effect.runPromise(services.inspector.settled)
      const records = [...(await Effect.runPromise(services.inspector.exported({})))]
      return records.length === count && records.every(({ status }) => status !== "in-flight")
        ? records.at(-1)
        : undefined
    })
  return { bridge, bypassed, gateway, upstream, passed, send, finished, services }
})

const messages = [{ role: "user", content: "Hi" }]
const body = JSON.stringify({ model: "claude-opus-4-5-20251101", max_tokens: 9, messages })
const mapping = { sourceModel: "claude-opus-4-5*", targetModel: "up/m" }

describe("the agent bridge", () => {
  it.scopedLive("answers a mapped model in the agent's wire, and records the call", () =>
    Effect.gen(function* () {
      const { bridge, finished, gateway, passed, send, upstream } = yield* setUp
      yield* bridge.setMappings("claude-code", [mapping])
      yield* Effect.promise(async () => {
        const answer = await send("/v1/messages?beta=true", [body], { "anthropic-beta": "context-1m-2025-08-07" })
        assert.strictEqual(answer.status, 200, answer.body)
        assert.strictEqual(answer.headers["x-gateway-mapped-model"], "up/m")
        assert.strictEqual(JSON.parse(answer.body).content[0].text, "Hello")
        const [request] = upstream.requests
        assert.strictEqual(JSON.parse(request!.body).model, "m")
        assert.strictEqual(request!.headers["x-api-key"], "upstream-key-of-up")
        assert.strictEqual(request!.headers["anthropic-beta"], "context-1m-2025-08-07")
        assert.isEmpty(passed)
        const record = await finished()
        assert.deepInclude(record, {
          source: "agent-bridge",
          agent: "claude-code",
          scheme: "https",
          host: "api.anthropic.com",
          path: "/v1/messages?beta=true",
          status: 200,
          requestBody: body,
          responseBody: answer.body,
          sourceModel: "claude-opus-4-5-20251101",
          mappedModel: "up/m",
          gatewayRequestId: String(answer.headers["x-gateway-request-id"])
        })
        assert.notInclude(JSON.stringify(record), "of-the-vendor")
        assert.deepInclude(record.llm, { provider: "up", model: "claude-opus-4-5-20251101", mappedTo: "up/m" })
        const row = await gateway.usageRow(String(answer.headers["x-gateway-request-id"]))
        assert.deepInclude(row, { status: 200, model: "m", sourceWire: "messages" })
      })
    })
  )

  it.scopedLive("streams, and runs a round of a tool", () =>
    Effect.gen(function* () {
      const { bridge, finished, send, upstream } = yield* setUp
      yield* bridge.setMappings("claude-code", [mapping])
      yield* Effect.promise(async () => {
        const tools = [{ name: "ls", description: "Lists files", input_schema: { type: "object" } }]
        const toolCalls = [{ id: "toolu_1", name: "ls", arguments: "{}" }]
        upstream.enqueue(Fake.sse(Fake.messagesStream([], { toolCalls })))
        const asked = { ...JSON.parse(body), stream: true, tools }
        const first = await send("/v1/messages", [JSON.stringify(asked)])
        assert.include(first.body, '"tool_use"')
        const turns = [
          ...messages,
          { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "ls", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a.txt" }] }
        ]
        const second = await send("/v1/messages", [JSON.stringify({ ...asked, messages: turns })])
        assert.match(second.body, /Bon[\s\S]*jour[\s\S]*message_stop/)
        assert.include(upstream.requests[1]!.body, "a.txt")
        assert.deepInclude((await finished(2)).llm, { streamed: true, apiKind: "messages" })
      })
    })
  )

  it.scopedLive("serves OpenCode in each wire of its host", () =>
    Effect.gen(function* () {
      const { bridge, send } = yield* setUp
      yield* bridge.setMappings("open-code", [{ sourceModel: "*", targetModel: "up/m" }])
      const sni = { "x-sni": "opencode.ai" }
      yield* Effect.promise(async () => {
        const chat = await send("/zen/v1/chat/completions", [JSON.stringify({ model: "grok-code", messages })], sni)
        assert.strictEqual(JSON.parse(chat.body).choices[0].message.content, "Hello")
        const responses = await send("/zen/v1/responses", [JSON.stringify({ model: "gpt-5", input: "Hi" })], sni)
        assert.include(responses.body, '"output_text"')
        const whole = await send("/zen/v1/messages", [body], sni)
        assert.strictEqual(JSON.parse(whole.body).content[0].text, "Hello")
      })
    })
  )

  it.scopedLive("passes on what is not mapped, as it came", () =>
    Effect.gen(function* () {
      const { bridge, passed, send, upstream } = yield* setUp
      const pieces = [body.slice(0, 10), body.slice(10, 40), body.slice(40)]
      yield* Effect.promise(async () => {
        assert.deepInclude(await send("/v1/messages", pieces), { status: 203, body })
        await Effect.runPromise(bridge.setMappings("claude-code", [{ ...mapping, sourceModel: "other" }]))
        assert.deepInclude(await send("/v1/messages", pieces), { status: 203, body })
        assert.deepInclude(await send("/v1/messages", ["{no json"]), { status: 203, body: "{no json" })
        assert.deepInclude(await send("/v1/messages", []), { status: 203, body: "" })
        await Effect.runPromise(bridge.setMappings("claude-code", [mapping]))
        const large = [body.replace("Hi", "a".repeat(2 * maxBodyBytes)), " ".repeat(10_000)]
        assert.deepInclude(await send("/v1/messages", large), { status: 203, body: large.join("") })
        assert.deepInclude(await send("/v1/other", pieces), { status: 203, body })
        const fronted = { host: "other.example.org", "x-sni": "api.anthropic.com" }
        assert.deepInclude(await send("/v1/messages", pieces, fronted), { status: 203, body })
        assert.lengthOf(passed, 7)
        assert.isEmpty(upstream.requests)
      })
    })
  )

  it.scopedLive("puts a bypass before a mapping, also for a connection that stands", () =>
    Effect.gen(function* () {
      const { bridge, bypassed, passed, send, upstream } = yield* setUp
      yield* bridge.setMappings("claude-code", [mapping])
      yield* Effect.promise(async () => {
        assert.deepInclude(await send("/v1/messages", [body]), { status: 200 })
        bypassed.add("api.anthropic.com")
        assert.deepInclude(await send("/v1/messages", [body]), { status: 203, body })
        assert.lengthOf(upstream.requests, 1)
        assert.deepStrictEqual(passed, [body])
      })
    })
  )

  it.scopedLive("calls a set-up complete with the first request to the agent's host that it can read", () =>
    Effect.gen(function* () {
      const { bridge, bypassed, send } = yield* setUp
      const isComplete = (id: string) => Effect.map(bridge.state(id), ({ setupCompleted }) => setupCompleted)
      bypassed.add("opencode.ai")
      yield* Effect.promise(async () => {
        await send("/v1/other", [""], { "x-sni": "other.example.org" })
        await send("/zen/v1/messages", [""], { "x-sni": "opencode.ai" })
      })
      assert.isFalse(yield* isComplete("open-code"))
      assert.isFalse(yield* isComplete("claude-code"))
      yield* Effect.promise(async () => {
        await send("/v1/other", [""])
        await eventually(
          "a complete set-up",
          () => Effect.runPromise(isComplete("claude-code")),
          (found) => found
        )
      })
      assert.isFalse(yield* isComplete("codex"))
    })
  )

  it.scopedLive("answers Code Assist in its wrapper, whole and as a stream", () =>
    Effect.gen(function* () {
      const { bridge, finished, passed, send, upstream } = yield* setUp
      yield* bridge.setMappings("antigravity", [{ sourceModel: "gemini-3*", targetModel: "up/m" }])
      const sni = { "x-sni": "daily-cloudcode-pa.googleapis.com" }
      const asked = JSON.stringify({
        model: "gemini-3-flash",
        project: "p",
        requestId: "r",
        request: { contents: [{ role: "user", parts: [{ text: "Hi" }] }], sessionId: "s" }
      })
      yield* Effect.promise(async () => {
        const whole = await send("/v1internal:generateContent", [asked], sni)
        assert.strictEqual(whole.status, 200, whole.body)
        assert.strictEqual(whole.headers["x-gateway-mapped-model"], "up/m")
        assert.strictEqual(Number(whole.headers["content-length"]), Buffer.byteLength(whole.body))
        assert.strictEqual(JSON.parse(whole.body).response.candidates[0].content.parts[0].text, "Hello")
        const [request] = upstream.requests
        assert.notInclude(request!.body, "sessionId")
        assert.deepInclude(await finished(), {
          agent: "antigravity",
          requestBody: asked,
          responseBody: whole.body,
          sourceModel: "gemini-3-flash"
        })

        const stream = await send("/v1internal:streamGenerateContent?alt=sse", [asked], sni)
        const events = stream.body
          .split("\n")
          .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []))
        assert.isAbove(events.length, 1)
        const texts = events.map(({ response }) => response.candidates?.[0]?.content?.parts?.[0]?.text ?? "")
        assert.strictEqual(texts.join(""), "Bonjour")
        const record = await finished(2)
        assert.deepInclude(record.llm, { apiKind: "gemini", streamed: true, mappedTo: "up/m", tokensOut: 3 })
        const read = readAnswer(
          formatOf("/v1internal:streamGenerateContent", JSON.parse(asked))!,
          stream.body,
          "text/event-stream"
        )
        assert.deepStrictEqual(read?.parts, [{ type: "text", text: "Bonjour" }])

        // Errors stand alone.
        await Effect.runPromise(bridge.setMappings("antigravity", [{ sourceModel: "*", targetModel: "nobody/m" }]))
        const failed = await send("/v1internal:generateContent", [asked], sni)
        assert.deepInclude(JSON.parse(failed.body).error, { code: 404 })
        // What is no request of the wrapper goes on.
        assert.deepInclude(await send("/v1internal:generateContent", ['{"contents":[]}'], sni), { status: 203 })
        assert.deepInclude(await send("/v1internal:streamGenerateContent", [asked], sni), { status: 203 })
        assert.lengthOf(passed, 2)
      })
    })
  )

  it.scopedLive("needs HTTP/1.1 for hosts of agents whose models are mapped, and for no other", () =>
    Effect.gen(function* () {
      const { bridge } = yield* setUp
      const bypassed = new Set<string>()
      const needsHttp1 = makeNeedsHttp1({ bridge, isBypassed: (host) => bypassed.has(host) })
      const host = "api.anthropic.com"
      assert.isFalse(needsHttp1(host))
      yield* bridge.setMappings("claude-code", [mapping])
      assert.isTrue(needsHttp1(host))
      assert.isFalse(needsHttp1("api.openai.com"))
      assert.isFalse(needsHttp1("elsewhere.example"))
      bypassed.add(host)
      assert.isFalse(needsHttp1(host))
      bypassed.clear()
      yield* bridge.setMappings("claude-code", [])
      assert.isFalse(needsHttp1(host))
    })
  )

  it.scopedLive("reads compressed requests, and passes on what it cannot read as it came", () =>
    Effect.gen(function* () {
      const { bridge, finished, passed, send, upstream } = yield* setUp
      yield* bridge.setMappings("claude-code", [mapping])
      yield* Effect.promise(async () => {
        const packed = gzipSync(body)
        const answer = await send("/v1/messages", [packed], { "content-encoding": "gzip" })
        assert.strictEqual(answer.status, 200, answer.body)
        assert.isUndefined(upstream.requests[0]!.headers["content-encoding"])
        assert.deepInclude(await finished(), { requestBody: body })
        const bomb = gzipSync(body.replace("Hi", "a".repeat(2 * maxBodyBytes)))
        const broken = packed.subarray(0, 20)
        for (const bytes of [bomb, broken]) {
          assert.deepInclude(await send("/v1/messages", [bytes], { "content-encoding": "gzip" }), { status: 203 })
        }
        assert.deepInclude(await send("/v1/messages", [packed], { "content-encoding": "x-unknown" }), { status: 203 })
        assert.deepStrictEqual(passed, [bomb.toString(), broken.toString(), packed.toString()])
      })
    })
  )

  const agents = [
    { agent: "claude-code", host: "api.anthropic.com", path: "/v1/messages", asked: { messages, max_tokens: 9 } },
    { agent: "copilot", host: "api.githubcopilot.com", path: "/chat/completions", asked: { messages } },
    { agent: "copilot", host: "api.githubcopilot.com", path: "/responses", asked: { input: "Hi" } },
    {
      agent: "antigravity",
      host: "daily-cloudcode-pa.googleapis.com",
      path: "/v1internal:generateContent",
      asked: { request: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] } }
    }
  ] as const
  const pathOf = (path: string, stream: boolean): string =>
    stream ? path.replace(":generateContent", ":streamGenerateContent?alt=sse") : path

  for (const { agent, asked, host, path } of agents) {
    for (const wire of ["messages", "chat"] as const) {
      it.scopedLive(`shows ${agent} its own model on ${path} from a ${wire} upstream, whole and streamed`, () =>
        Effect.gen(function* () {
          const { bridge, finished, gateway, send } = yield* setUp
          const chat = yield* Fake.start
          chat.always((response, request) =>
            (JSON.parse(request.body) as { stream?: boolean }).stream === true
              ? Fake.sse(Fake.chatStream(["Bon", "jour"]))(response, request)
              : Fake.json(Fake.chatCompletion())(response, request)
          )
          yield* Effect.promise(() => gateway.connect("talk", chat, "chat"))
          const targetModel = wire === "chat" ? "talk/m" : "up/m"
          yield* bridge.setMappings(agent, [{ sourceModel: "own-*", targetModel }])
          yield* Effect.promise(async () => {
            for (const [at, stream] of [false, true].entries()) {
              const body = JSON.stringify({ model: "own-model", ...asked, ...(stream ? { stream } : {}) })
              const answer = await send(pathOf(path, stream), [body], { "x-sni": host })
              assert.strictEqual(answer.status, 200, answer.body)
              assert.strictEqual(answer.headers["x-gateway-mapped-model"], targetModel)
              assert.match(answer.body, /"model(?:Version)?":"own-model"/)
              assert.notInclude(answer.body, "fake-model")
              assert.notInclude(answer.body, targetModel)
              assert.notMatch(answer.body, /"model(?:Version)?":"(?!own-model")/)
              if (!stream) assert.strictEqual(Number(answer.headers["content-length"]), Buffer.byteLength(answer.body))
              assert.strictEqual((await finished(at + 1)).responseBody, answer.body)
            }
          })
        })
      )
    }
  }

  it.scopedLive("tells an agent of a failure in its own wire", () =>
    Effect.gen(function* () {
      const { bridge, finished, send } = yield* setUp
      yield* bridge.setMappings("claude-code", [{ ...mapping, targetModel: "nobody/m" }])
      yield* Effect.promise(async () => {
        const answer = await send("/v1/messages", [body])
        assert.strictEqual(answer.status, 404)
        assert.deepInclude(JSON.parse(answer.body), { type: "error" })
        assert.deepInclude(await finished(), { status: 404, source: "agent-bridge", agent: "claude-code" })
      })
    })
  )

  it.scopedLive("keeps its settings", () =>
    Effect.gen(function* () {
      const { bridge } = yield* setUp
      const two = [mapping, { sourceModel: "b*", targetModel: "c" }]
      assert.deepStrictEqual(yield* bridge.setMappings("codex", two), two)
      assert.deepStrictEqual(yield* bridge.mappings("codex"), two)
      assert.deepStrictEqual(yield* bridge.setMappings("codex", two.slice(1)), two.slice(1))
      assert.strictEqual((yield* Effect.flip(bridge.setMappings("nobody", two)))._tag, "UnknownAgent")
      assert.strictEqual(
        (yield* Effect.flip(bridge.setMappings("codex", [mapping, mapping])))._tag,
        "InvalidBridgeSetting"
      )
      const changed = yield* bridge.change("zed", { dnsEnabled: true, lastError: "no" })
      assert.deepStrictEqual(changed, {
        dnsEnabled: true,
        setupCompleted: false,
        lastStartedAtMs: null,
        lastError: "no"
      })
      assert.deepStrictEqual(yield* bridge.state("zed"), changed)
      assert.strictEqual((yield* Effect.flip(bridge.state("nobody")))._tag, "UnknownAgent")
    })
  )
})
