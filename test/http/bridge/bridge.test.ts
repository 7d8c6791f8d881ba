/** Requests of agents as the decrypting listener hands them over: answered by this gateway where their model is mapped, else passed on whole. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { once } from "node:events"
import { createServer, type IncomingMessage, request as ask, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import * as Bridge from "../../../src/bridge/Bridge.ts"
import type { TrafficRecord } from "../../../src/domain/TrafficRecord.ts"
import { makeIntercept } from "../../../src/http/bridge/Intercept.ts"
import * as InnerRequests from "../../../src/inference/InnerRequests.ts"
import { InspectorDoor } from "../../../src/inspector/InspectorDoor.ts"
import { BodyBudget } from "../../../src/resilience/BodyBudget.ts"
import * as BridgeRepo from "../../../src/store/repo/BridgeRepo.ts"
import { eventuallyFound } from "../../support/eventually.ts"
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
  const open = { opened: () => {}, closed: () => {} }
  const intercept = makeIntercept({
    bridge,
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
    pieces: ReadonlyArray<string>,
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
  const services = yield* Context.get(built, InspectorDoor).get
  const finished = (count = 1): Promise<TrafficRecord> =>
    eventuallyFound(`${count} records`, async () => {
      await Effect.runPromise(services.inspector.settled)
      const records = [...(await Effect.runPromise(services.inspector.exported({})))]
      return records.length === count && records.every(({ status }) => status !== "in-flight")
        ? records.at(-1)
        : undefined
    })
  return { bridge, gateway, upstream, passed, send, finished, services }
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
      assert.isFalse(bridge.isNeverDecrypted("my.example.org"))
      const listed = yield* bridge.setBypass(["*.example.org", "*.example.org"])
      assert.deepStrictEqual(
        listed.filter(({ source }) => source === "user"),
        [{ pattern: "*.example.org", source: "user" }]
      )
      assert.isTrue(bridge.isNeverDecrypted("my.example.org"))
      assert.isTrue(bridge.isNeverDecrypted("login.okta.com"))
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
