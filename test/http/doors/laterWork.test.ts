/**
 * Whose money it is that work costs after its request is over: batches that the gateway or a provider asks, jobs, responses in the background and
 * evaluations, begun in a session, with the operator's credential, with a key, and in a session as a key. Also behind a restart.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type Headers, password, signIn } from "../../support/AdminSession.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const messages = [{ role: "user", content: "Hi" }]
const lineOf = (id: string): string =>
  JSON.stringify({ custom_id: id, method: "POST", url: "/v1/chat/completions", body: { model: "up/m", messages } })

interface Row {
  readonly apiKeyId: string | null
  readonly principal: string
  readonly costUsd: number
  readonly batchId: string | null
  readonly requestedModel: string
}

/** A provider of chats, videos, responses in the background, and, where it is asked for them, batches. */
const providerOf = (upstream: Fake.FakeUpstream) => {
  const state = { isDone: false, isOwn: false, uploaded: "" }
  const background = (status: string) => ({
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    model: "r",
    background: true,
    status,
    output: [],
    usage: status === "completed" ? { input_tokens: 11, output_tokens: 5, total_tokens: 16 } : null
  })
  const batch = () => ({
    id: "batch_there",
    object: "batch",
    endpoint: "/v1/chat/completions",
    input_file_id: "file_there",
    status: "completed",
    output_file_id: "file_out",
    error_file_id: null,
    request_counts: { total: 2, completed: 2, failed: 0 }
  })
  const results = (): string =>
    state.uploaded
      .split("\n")
      .map((text) => {
        const { custom_id } = JSON.parse(text) as { custom_id: string }
        const body = Fake.chatCompletion({ text: "x", usage: { in: 10, out: 5 } })
        return JSON.stringify({ id: `r_${custom_id}`, custom_id, response: { status_code: 200, body }, error: null })
      })
      .join("\n")
  upstream.always((response, request) => {
    const say = (body: object) => Fake.json(body)(response, request)
    const call = `${request.method} ${request.url.split("?")[0]}`
    if (call.startsWith("POST /v1/videos")) return say({ id: "v1", object: "video", status: "queued", progress: 0 })
    if (call.endsWith("/content") && call.includes("/videos/")) {
      return void response.writeHead(200, { "content-type": "video/mp4", "content-length": 4 }).end("film")
    }
    if (call.includes("/videos/")) {
      return say({ id: "v1", object: "video", status: state.isDone ? "completed" : "in_progress", seconds: "4" })
    }
    if (call.includes("/v1/responses")) return say(background(state.isDone ? "completed" : "in_progress"))
    if (call === "POST /v1/files" && state.isOwn) {
      state.uploaded = /application\/jsonl\r\n\r\n([\s\S]*?)\s*\r\n--/.exec(request.body)?.[1] ?? ""
      return say({ id: "file_there", object: "file", purpose: "batch" })
    }
    if (call === "POST /v1/batches" || call === "GET /v1/batches/batch_there") return say(batch())
    if (call === "GET /v1/batches") return say({ object: "list", data: [], has_more: false })
    if (call === "GET /v1/files/file_out/content") return void response.end(results())
    return say(Fake.chatCompletion({ text: "x", usage: { in: 10, out: 5 } }))
  })
  return state
}

const configOf = (dataDir: string) => ({
  dataDir,
  adminPassword: Redacted.make(password),
  environment: new Map([["REQUIRE_API_KEY", "true"]])
})

const room = Effect.gen(function* () {
  const dataDir = yield* TestGateway.dataFolder
  const upstream = yield* Fake.start
  const state = providerOf(upstream)
  const life = <A>(run: (gateway: TestGateway.TestGateway) => Promise<A>) =>
    Effect.scoped(Effect.flatMap(TestGateway.start(configOf(dataDir)), (gateway) => Effect.promise(() => run(gateway))))
  yield* life(async (gateway) => {
    await gateway.connect("up", upstream, "chat")
    await gateway.connect("back", upstream, "responses")
    await gateway.manage("PATCH", "/api/pricing", {
      up: { m: { input: 1, output: 10, perSecond: 0.1 } },
      back: { r: { input: 1, output: 10 } }
    })
  })
  return { life, state }
})

const send = async (gateway: TestGateway.TestGateway, headers: Headers, path: string, body: object | FormData) => {
  const isForm = body instanceof FormData
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: isForm ? headers : { "content-type": "application/json", ...headers },
    body: isForm ? body : JSON.stringify(body)
  })
  assert.include([200, 202], answer.status, path)
  return (await answer.json()) as { readonly id: string }
}

const rowsOf = async (gateway: TestGateway.TestGateway): Promise<ReadonlyArray<Row>> =>
  (await gateway.manage("GET", "/api/usage/logs?limit=100")).logs

const rowsWhere = (gateway: TestGateway.TestGateway, count: number, isWanted: (row: Row) => boolean) =>
  eventually(
    `${count} rows`,
    async () => (await rowsOf(gateway)).filter((row) => row.costUsd > 0 && isWanted(row)),
    (rows) => rows.length === count
  )

/** Callers by what their rows say, and the credential that they send. */
const callers: ReadonlyArray<
  readonly [
    name: string,
    principal: string,
    credential: (
      gateway: TestGateway.TestGateway,
      key: { readonly id: string; readonly secret: string }
    ) => Promise<Headers>
  ]
> = [
  ["a session", "session", (gateway) => signIn(gateway)],
  ["the operator", "operator", async () => ({ authorization: `Bearer ${TestGateway.adminKey}` })],
  ["a key", "key", async (_, { secret }) => ({ authorization: `Bearer ${secret}` })],
  ["a session as a key", "key", async (gateway, { id }) => ({ ...(await signIn(gateway)), "x-gateway-as-key": id })]
]

const batchOf = async (gateway: TestGateway.TestGateway, headers: Headers) => {
  const form = new FormData()
  form.set("purpose", "batch")
  form.set("file", new Blob([`${lineOf("a")}\n${lineOf("b")}\n`]), "lines.jsonl")
  const file = await send(gateway, headers, "/v1/files", form)
  return send(gateway, headers, "/v1/batches", {
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h"
  })
}

const keyOf = async (gateway: TestGateway.TestGateway) => {
  const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "other" })
  await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, monthlyLimitUsd: 1_000 })
  return { id: String(key.id), secret: String(secret) }
}

const spentUsd = async (gateway: TestGateway.TestGateway, id: string): Promise<number> =>
  (await gateway.manage("GET", `/api/usage/budget?apiKeyId=${id}`)).spentUsd

for (const [name, principal, credential] of callers) {
  const isKey = principal === "key"

  const booked = async (gateway: TestGateway.TestGateway, key: { readonly id: string }, rows: ReadonlyArray<Row>) => {
    for (const row of rows) assert.deepStrictEqual([row.apiKeyId, row.principal], [isKey ? key.id : null, principal])
    const sum = rows.reduce((usd, row) => usd + row.costUsd, 0)
    assert.isAbove(sum, 0)
    assert.closeTo(await spentUsd(gateway, key.id), isKey ? sum : 0, 1e-9)
  }

  describe(`work that ${name} has begun`, () => {
    for (const isOwn of [false, true]) {
      it.scopedLive(`a batch that ${isOwn ? "its provider" : "the gateway"} asks is on its ledger`, () =>
        Effect.gen(function* () {
          const { life, state } = yield* room
          state.isOwn = isOwn
          yield* life(async (gateway) => {
            if (isOwn) await gateway.manage("PATCH", "/api/settings", { batches: { useProviderBatch: true } })
            const key = await keyOf(gateway)
            const { id } = await batchOf(gateway, await credential(gateway, key))
            await booked(gateway, key, await rowsWhere(gateway, 2, ({ batchId }) => batchId === id))
            assert.strictEqual(state.uploaded !== "", isOwn)
          })
        })
      )
    }

    it.scopedLive("a job and a response in the background are on its ledger, also behind a restart", () =>
      Effect.gen(function* () {
        const { life, state } = yield* room
        const key = yield* life(async (gateway) => {
          const made = await keyOf(gateway)
          const headers = await credential(gateway, made)
          await send(gateway, headers, "/v1/videos/generations", { model: "up/m", prompt: "A gate.", async: true })
          await send(gateway, headers, "/v1/responses", { model: "back/r", input: "Think long", background: true })
          return made
        })
        state.isDone = true
        yield* life(async (gateway) => {
          await booked(gateway, key, await rowsWhere(gateway, 2, () => true))
        })
      })
    )

    // Management takes a key with its scope only, and a session as itself.
    if (isKey) return
    it.scopedLive("an evaluation without a key of its own is on its ledger", () =>
      Effect.gen(function* () {
        const { life } = yield* room
        yield* life(async (gateway) => {
          const key = await keyOf(gateway)
          const { suite } = await gateway.manage("POST", "/api/evals/suites", {
            name: "Mine",
            cases: [{ name: "x", input: { messages }, expected: { strategy: "exact", value: "x" } }]
          })
          const asked = { suiteId: suite.id, target: { type: "model", id: "up/m" } }
          const headers = { ...(await credential(gateway, key)), origin: gateway.url }
          await send(gateway, headers, "/api/evals", asked)
          await booked(gateway, key, await rowsWhere(gateway, 1, () => true))
        })
      })
    )
  })
}
