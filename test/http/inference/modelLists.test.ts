/** Models of upstreams are listed in the background: at connection, after changes and restarts, and when an upstream is down. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { atATime } from "../../../src/plane/providers/ModelSync.ts"
import { eventually } from "../../support/eventually.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const chat = { messages: [{ role: "user", content: "Hi" }] }

const until = <A>(ask: () => Promise<A>, isWanted: (answer: A) => boolean): Promise<A> =>
  eventually("the answer to be as expected", ask, isWanted)

type Listed = { readonly id: string; readonly context_length?: number; readonly capabilities?: unknown }

const listed = async (gateway: TestGateway.TestGateway): Promise<ReadonlyArray<Listed>> =>
  ((await (await fetch(`${gateway.url}/v1/models`)).json()) as { readonly data: ReadonlyArray<Listed> }).data

const entry = async (gateway: TestGateway.TestGateway, id: string): Promise<Listed | undefined> =>
  (await listed(gateway)).find((model) => model.id === id)

const listOf = (...models: Parameters<typeof FakeUpstream.models>[0]) => FakeUpstream.json(FakeUpstream.models(models))

const bare = { models: [] }

describe("models of a fresh connection", () => {
  it.scopedLive(
    "of vLLM and LM Studio are in auto, bare ids, /v1/models and /api/combos/auto, with their windows",
    () =>
      Effect.gen(function* () {
        const upstream = yield* FakeUpstream.start
        upstream.lists(
          listOf({ id: "Qwen/Qwen3-8B", owned_by: "vllm", max_model_len: 40_960 }, { id: "text-embedding-m" })
        )
        upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
        const gateway = yield* TestGateway.start()
        yield* Effect.promise(async () => {
          await gateway.connect("vllm-box", upstream, "chat", bare)
          const answer = await until(
            () => gateway.post("/v1/chat/completions", { ...chat, model: "auto" }),
            ({ status }) => status === 200
          )
          assert.strictEqual(answer.headers.get("x-gateway-model"), "Qwen/Qwen3-8B")
          assert.strictEqual(
            (await gateway.post("/v1/chat/completions", { ...chat, model: "Qwen/Qwen3-8B" })).status,
            200
          )
          assert.strictEqual((await entry(gateway, "vllm-box/Qwen/Qwen3-8B"))?.context_length, 40_960)
          const auto = await gateway.manage("GET", "/api/combos/auto")
          assert.include(JSON.stringify(auto), "Qwen/Qwen3-8B")
        })
      })
  )

  it.scopedLive("of Ollama come from its tags, and their windows from what it shows of each", () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      upstream.lists((response, request) => {
        if (request.url === "/api/tags") {
          const models = [
            { name: "llama3.2:latest", model: "llama3.2:latest" },
            { name: "tiny:1b", model: "tiny:1b" }
          ]
          return FakeUpstream.json({ models })(response, request)
        }
        const { model } = JSON.parse(request.body) as { readonly model: string }
        return FakeUpstream.json({
          parameters: model === "tiny:1b" ? 'stop "<|end|>"\nnum_ctx    8192\n' : 'stop "<|end|>"',
          model_info: { "general.architecture": "llama", "llama.context_length": 131_072 },
          capabilities: ["completion", "tools"]
        })(response, request)
      })
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        await gateway.connect("box", upstream, "ollama", bare)
        const large = await until(
          () => entry(gateway, "box/llama3.2:latest"),
          (model) => model?.context_length !== undefined
        )
        assert.deepInclude(large, {
          context_length: 131_072,
          capabilities: { vision: false, tool_calling: true, reasoning: false }
        })
        assert.strictEqual((await entry(gateway, "box/tiny:1b"))?.context_length, 8_192)
      })
    })
  )

  it.scopedLive("are followed over pages, as Anthropic and Gemini give them", () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      upstream.lists((response, request) => {
        const { pathname, searchParams } = new URL(request.url, "http://upstream")
        const isGemini = pathname.startsWith("/v1beta")
        const at = Number(searchParams.get(isGemini ? "pageToken" : "after_id")?.slice(1) ?? 0)
        const next = `m${at + 1}`
        const page = isGemini
          ? {
              models: [{ name: `models/g${at}`, inputTokenLimit: 1_000_000 }],
              ...(at < 2 ? { nextPageToken: next } : {})
            }
          : { data: [{ type: "model", id: `a${at}` }], has_more: at < 2, last_id: next }
        return FakeUpstream.json(page)(response, request)
      })
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        await gateway.connect("claudes", upstream, "messages", bare)
        const node = { name: "g", prefix: "geminis", type: "gemini-compatible", baseUrl: `${upstream.origin}/v1beta` }
        await gateway.manage("POST", "/api/provider-nodes", node)
        await gateway.manage("POST", "/api/providers", { provider: "geminis", apiKey: "a-key-of-geminis" })
        const ids = await until(
          async () => (await listed(gateway)).map(({ id }) => id),
          (found) => found.includes("claudes/a2") && found.includes("geminis/g2")
        )
        assert.includeMembers(ids, ["claudes/a0", "claudes/a1", "geminis/g0", "geminis/g1"])
      })
    })
  )
})

describe("models that were learned", () => {
  it.scopedLive("stay over changes, restarts and while the upstream is away, which is told", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-lists-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
      const upstream = yield* FakeUpstream.start
      upstream.lists(listOf({ id: "kept", context_length: 7_000 }))
      const first = yield* Scope.make()
      const before = yield* Scope.extend(TestGateway.start({ dataDir }), first)
      const connection = yield* Effect.promise(async () => {
        const made = await before.connect("up", upstream, "chat", bare)
        await until(
          () => entry(before, "up/kept"),
          (model) => model?.context_length === 7_000
        )
        upstream.lists(FakeUpstream.json({ error: { message: "closed for repairs" } }, { status: 403 }))
        await before.manage("PUT", `/api/providers/${made.id}`, { name: "another name" })
        assert.isDefined(await entry(before, "up/kept"), "a change does not take it away")
        return made
      })
      yield* Scope.close(first, Exit.void)

      upstream.lists(FakeUpstream.hang())
      const after = yield* TestGateway.start({ dataDir })
      yield* Effect.promise(async () => {
        assert.strictEqual((await entry(after, "up/kept"))?.context_length, 7_000, "known before any upstream answered")
        upstream.lists(FakeUpstream.json({ error: { message: "closed for repairs" } }, { status: 403 }))
        const tested = await after.manage("POST", `/api/providers/${connection.id}/test`)
        assert.deepInclude(tested, { models: null, modelsError: "403: closed for repairs" })
        const { connections } = await after.manage("GET", "/api/providers")
        assert.deepInclude(connections[0].modelList, { count: 1, error: "403: closed for repairs" })
        assert.isDefined(await entry(after, "up/kept"))
      })
    })
  )

  it.scopedLive("of another address are forgotten when the address changes, and those of the new one asked", () =>
    Effect.gen(function* () {
      const [old, other] = [yield* FakeUpstream.start, yield* FakeUpstream.start]
      old.lists(listOf("of-the-old"))
      other.lists(listOf("of-the-new"))
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const { id } = await gateway.connect("up", old, "chat", bare)
        await until(
          () => entry(gateway, "up/of-the-old"),
          (model) => model !== undefined
        )
        await gateway.manage("PUT", `/api/providers/${id}`, {
          baseUrl: `${other.origin}/v1`,
          apiKey: "key-for-the-other"
        })
        await until(
          () => entry(gateway, "up/of-the-new"),
          (model) => model !== undefined
        )
        assert.isUndefined(await entry(gateway, "up/of-the-old"))
        assert.strictEqual(other.listRequests.at(-1)?.headers.authorization, "Bearer key-for-the-other")
      })
    })
  )

  it.scopedLive("are asked again after a passing trouble, and not after a refusal", () =>
    Effect.gen(function* () {
      const [late, closed] = [yield* FakeUpstream.start, yield* FakeUpstream.start]
      closed.lists(FakeUpstream.json({ error: { message: "no" } }, { status: 401 }))
      let asked = 0
      late.lists((response, request) => {
        asked += 1
        return (asked === 1 ? FakeUpstream.json({}, { status: 503 }) : listOf("late-one"))(response, request)
      })
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        await gateway.connect("closed", closed, "chat", bare)
        await gateway.connect("late", late, "chat", bare)
        await until(
          () => entry(gateway, "late/late-one"),
          (model) => model !== undefined
        )
        assert.strictEqual(closed.listRequests.length, 1)
      })
    })
  )

  it.scopedLive("are asked a few at a time at a start with many connections", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-lists-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
      const upstream = yield* FakeUpstream.start
      const first = yield* Scope.make()
      const before = yield* Scope.extend(TestGateway.start({ dataDir }), first)
      const names = Array.from({ length: atATime * 2 }, (_, index) => `n${index}`)
      yield* Effect.promise(async () => {
        for (const name of names) await before.connect(name, upstream, "chat", bare)
        await until(
          () => before.manage("GET", "/api/providers"),
          ({ connections }) =>
            connections.every(({ modelList }: { modelList: { error: unknown } | null }) => modelList?.error)
        )
      })
      yield* Scope.close(first, Exit.void)

      const gate = FakeUpstream.makeLatch()
      const asked: Array<number> = []
      let underWay = 0
      upstream.lists(async (response, request) => {
        underWay += 1
        asked.push(underWay)
        await gate.opened
        underWay -= 1
        await listOf("m1")(response, request)
      })
      const after = yield* TestGateway.start({ dataDir })
      yield* Effect.promise(async () => {
        await until(
          () => fetch(`${after.url}/api/health/ping`).then(() => asked.length),
          (count) => count >= atATime
        )
        // What an operator connects now does not wait for them.
        await after.connect("urgent", upstream, "chat", bare)
        await until(
          () => fetch(`${after.url}/api/health/ping`).then(() => asked.length),
          (count) => count > atATime
        )
        gate.open()
        await until(
          () => listed(after),
          (models) => names.every((name) => models.some(({ id }) => id === `${name}/m1`))
        )
        assert.isAtMost(Math.max(...asked), atATime + 1)
      })
    })
  )
})
