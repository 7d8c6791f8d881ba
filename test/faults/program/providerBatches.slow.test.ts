/** A batch that a provider runs, and the end of the process: killed at each step, it goes on, and the provider is given one batch. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"

const adminKey = "admin-key-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey, GATEWAY_DRAIN_SECONDS: "1" }
const withinMs = 60_000

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
type Answer = any

const call = async (
  { url }: { readonly url: string },
  method: string,
  path: string,
  body?: unknown
): Promise<Answer> => {
  const isForm = body instanceof FormData
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, ...(isForm ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  assert.isTrue(response.ok, `${path}: ${response.status} ${text}`)
  return path.endsWith("/content") ? text : JSON.parse(text)
}

/** A provider with one batch; its lines are echoed. https://platform.openai.com/docs/api-reference/batch */
const provider = () => {
  const batches: Array<Record<string, unknown>> = []
  let input = ""
  let isOver = false
  const latches = new Map<string, Fake.Latch>()
  const seen = new Map<string, number>()
  const results = (): string =>
    input
      .split("\n")
      .map((text) => JSON.parse(text))
      .map(({ custom_id: id, body }) => {
        const text = body.messages[0].content
        const answer = Fake.chatCompletion({ text, usage: { in: 10, out: 5 } })
        return JSON.stringify({
          custom_id: id,
          response: { status_code: 200, request_id: "r", body: answer },
          error: null
        })
      })
      .join("\n")
  const answer: Fake.Answer = async (response, request) => {
    const key = `${request.method} ${request.url.split("?")[0]}`
    seen.set(key, (seen.get(key) ?? 0) + 1)
    const say = (body: object) => Fake.json(body)(response, request)
    if (key === "POST /v1/files") input = /application\/jsonl\r\n\r\n([\s\S]*?)\n?\r\n--/.exec(request.body)?.[1] ?? ""
    if (key === "POST /v1/batches")
      batches.push({ ...JSON.parse(request.body), id: "batch_1", object: "batch", status: "validating" })
    await latches.get(key)?.opened
    if (key === "POST /v1/files") return say({ id: "file-in", object: "file" })
    if (key === "POST /v1/batches") return say(batches[0] ?? {})
    if (key === "GET /v1/batches") return say({ object: "list", data: batches })
    if (key === "GET /v1/batches/batch_1")
      return say({
        ...batches[0],
        status: isOver ? "completed" : "in_progress",
        ...(isOver ? { output_file_id: "file-out" } : {})
      })
    if (key === "GET /v1/files/file-out/content") return void response.writeHead(200).end(`${results()}\n`)
    return say({})
  }
  return {
    answer,
    batches,
    seen,
    hold: (key: string) => latches.set(key, Fake.makeLatch()),
    free: (key: string) => latches.get(key)?.open(),
    end: () => {
      isOver = true
    }
  }
}

describe("a batch that a provider runs", () => {
  it.scopedLive(
    "goes on after a kill at each step, and is made once",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        const there = provider()
        upstream.always(there.answer)
        let program = yield* Program.start(environment)
        const id: string = yield* Effect.promise(async () => {
          await call(program, "POST", "/api/provider-nodes", {
            name: "up",
            prefix: "up",
            type: "openai-compatible",
            baseUrl: `${upstream.origin}/v1`
          })
          await call(program, "POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
          await call(program, "PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
          await call(program, "PATCH", "/api/settings", { batches: { useProviderBatch: true } })
          const form = new FormData()
          form.set("purpose", "batch")
          const lines = Array.from({ length: 200 }, (_, n) =>
            JSON.stringify({
              custom_id: `id-${n}`,
              method: "POST",
              url: "/v1/chat/completions",
              body: { model: "up/m", messages: [{ role: "user", content: `text ${n}` }] }
            })
          )
          form.set("file", new Blob([lines.join("\n")]), "lines.jsonl")
          const file = await call(program, "POST", "/v1/files", form)
          there.hold("POST /v1/batches")
          return (
            await call(program, "POST", "/v1/batches", {
              input_file_id: file.id,
              endpoint: "/v1/chat/completions",
              completion_window: "24h"
            })
          ).id
        })
        const kill = async (): Promise<void> => {
          program.signal("SIGKILL")
          await program.ended
        }
        // It is made, and the gateway does not know it.
        yield* Effect.promise(() =>
          eventually(
            "a batch there",
            async () => there.batches.length,
            (n) => n === 1,
            { withinMs }
          )
        )
        yield* Effect.promise(kill)
        there.free("POST /v1/batches")
        program = yield* Program.start(environment, program.dataDir)
        // It waits.
        const polled = () => there.seen.get("GET /v1/batches/batch_1") ?? 0
        yield* Effect.promise(() =>
          eventually(
            "a poll",
            async () => polled(),
            (n) => n >= 1,
            { withinMs }
          )
        )
        yield* Effect.promise(kill)
        there.end()
        program = yield* Program.start(environment, program.dataDir)
        const done: Answer = yield* Effect.promise(() =>
          eventually(
            "the end",
            () => call(program, "GET", `/v1/batches/${id}`),
            ({ status }) => !["in_progress", "finalizing"].includes(status),
            { withinMs }
          )
        )
        assert.strictEqual(done.status, "completed", JSON.stringify(done))
        assert.deepStrictEqual(done.request_counts, { total: 200, completed: 200, failed: 0 })
        assert.lengthOf(there.batches, 1)
        assert.strictEqual(there.seen.get("POST /v1/files"), 1)
        assert.isUndefined(there.seen.get("POST /v1/chat/completions"))
        yield* Effect.promise(async () => {
          const lines = (await call(program, "GET", `/v1/files/${done.output_file_id}/content`))
            .trim()
            .split("\n")
            .map((text: string) => JSON.parse(text))
          assert.strictEqual(new Set(lines.map((each: Answer) => each.custom_id)).size, 200)
          const { logs } = await call(program, "GET", `/api/usage/logs?limit=1000&batchId=${id}`)
          assert.lengthOf(logs, 200)
          const costUsd = logs.reduce((sum: number, row: Answer) => sum + row.costUsd, 0)
          assert.closeTo(costUsd, 200 * 0.00003, 1e-9)
          await eventually(
            "an empty folder",
            () => readdirSync(join(program.dataDir, "batches")),
            (names) => names.length === 0
          )
        })
      }),
    withinMs * 3
  )
})
