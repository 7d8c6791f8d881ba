/** Batches that a provider with batches of its own runs, by the shapes that OpenAI documents. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ServerResponse } from "node:http"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answering, line, type Room, setUp } from "./support.ts"

/** A provider with batches: what it was given, and what it says. https://platform.openai.com/docs/api-reference/batch */
class BatchProvider {
  readonly files = new Map<string, string>()
  readonly batches: Array<Record<string, unknown>> = []
  readonly removed: Array<string> = []
  readonly calls: Array<string> = []
  /** State that new batches have when they are asked for. */
  state = "completed"
  /** Answers that come before the provider's own, by method and path. */
  readonly before = new Map<string, Array<Fake.Answer>>()
  /** Lines of which it says nothing. */
  silent = 0

  readonly answer: Fake.Answer = async (response, request) => {
    const [path = ""] = request.url.split("?")
    const call = `${request.method} ${path.replace(/(?<=\/(?:files|batches)\/)[^/]+/, "…")}`
    this.calls.push(call)
    const first = this.before.get(call)?.shift()
    if (first !== undefined) return first(response, request)
    const say = (body: object, status = 200) => Fake.json(body, { status })(response, request)
    const id = path.split("/")[3] ?? ""
    if (call === "POST /v1/files") return say({ id: this.#upload(request.body), object: "file", purpose: "batch" })
    if (call === "POST /v1/batches") return say(this.#create(JSON.parse(request.body)))
    if (call === "GET /v1/batches") return say({ object: "list", data: this.batches, has_more: false })
    const batch = this.batches.find((one) => one["id"] === id)
    if (call === "GET /v1/batches/…") return batch === undefined ? say({}, 404) : say(this.#asked(batch))
    if (call === "POST /v1/batches/…/cancel" && batch !== undefined) {
      this.state = "cancelled"
      batch["status"] = "cancelling"
      return say(batch)
    }
    if (call === "GET /v1/files/…/content") return this.#content(response, id)
    if (call === "DELETE /v1/files/…") {
      this.removed.push(id)
      return say({ id, object: "file", deleted: true })
    }
    return answering(response, request)
  }

  #upload(form: string): string {
    const id = `file-there-${this.files.size + 1}`
    const content = /application\/jsonl\r\n\r\n([\s\S]*)\r\n--/.exec(form)?.[1]
    assert.isDefined(content, form)
    assert.match(form, /name="purpose"\r\n\r\nbatch\r\n/)
    this.files.set(id, content ?? "")
    return id
  }

  #create(asked: { readonly input_file_id: string }): Record<string, unknown> {
    const batch = { object: "batch", ...asked, id: `batch_there_${this.batches.length + 1}`, status: "validating" }
    this.batches.push(batch)
    return batch
  }

  #asked(batch: Record<string, unknown>): Record<string, unknown> {
    const id = String(batch["id"])
    const lines = (this.files.get(String(batch["input_file_id"])) ?? "")
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text))
    const told = lines.slice(0, lines.length - this.silent)
    const results = told.map((asked) => this.#result(asked))
    const [right, wrong] = [200, 400].map((status) =>
      results.filter(({ response }) => response?.status_code === status)
    )
    const put = (name: string, content: ReadonlyArray<object> | undefined): string | null => {
      if (content === undefined || content.length === 0 || this.state === "in_progress") return null
      // In any order: https://platform.openai.com/docs/guides/batch
      this.files.set(
        name,
        content
          .toReversed()
          .map((each) => `${JSON.stringify(each)}\n`)
          .join("")
      )
      return name
    }
    Object.assign(batch, {
      status: this.state,
      request_counts: { total: lines.length, completed: right?.length, failed: wrong?.length }
    })
    if (this.state === "failed") {
      batch["errors"] = {
        object: "list",
        data: [{ code: "token_limit_exceeded", message: "Enqueued token limit reached.", line: null }]
      }
    } else if (this.state !== "in_progress") {
      Object.assign(batch, { output_file_id: put(`out-${id}`, right), error_file_id: put(`err-${id}`, wrong) })
    }
    return batch
  }

  #result(asked: {
    readonly custom_id: string
    readonly body: { readonly messages: ReadonlyArray<{ content: string }> }
  }) {
    const said = asked.body.messages.at(-1)?.content ?? ""
    const isRefused = said.startsWith("status 400")
    const body = isRefused
      ? { error: { message: `no: ${said}`, type: "invalid_request_error", code: "x" } }
      : Fake.chatCompletion({ text: said, usage: { in: 10, out: 5 } })
    const response = { status_code: isRefused ? 400 : 200, request_id: `there-${asked.custom_id}`, body }
    return { id: `batch_req_${asked.custom_id}`, custom_id: asked.custom_id, response, error: null }
  }

  #content(response: ServerResponse, id: string): void {
    const content = this.files.get(id)
    if (content === undefined || this.removed.includes(id)) return void Fake.json({}, { status: 404 })(response, never)
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(content)
  }

  count(call: string): number {
    return this.calls.filter((one) => one === call).length
  }
}

const never = {} as Fake.RecordedRequest

const scenario = (
  name: string,
  run: (room: Room, provider: BatchProvider) => Promise<void>,
  config: Parameters<typeof setUp>[0] = {}
): void => {
  it.scopedLive(name, () =>
    Effect.flatMap(setUp(config), (room) =>
      Effect.promise(async () => {
        const provider = new BatchProvider()
        room.upstream.always(provider.answer)
        await room.gateway.manage("PATCH", "/api/settings", { batches: { useProviderBatch: true } })
        await run(room, provider)
      })
    )
  )
}

describe("a batch whose provider has batches", () => {
  scenario("is handed over, and comes back in the same form at half the price", async (room, provider) => {
    const { id: apiKeyId, openai } = await room.key("one")
    await room.gateway.manage("POST", "/api/usage/budget", { apiKeyId, dailyLimitUsd: 1 })
    const lines = [line("a", "a"), line("no", "status 400"), "{broken", line("b", "b"), line("a", "again")]
    const made = await room.begin(openai, lines, { metadata: { job: "x" } })
    const done = await room.ended(openai, made.id)
    assert.deepInclude(done, { status: "completed", metadata: { job: "x" } })
    assert.deepStrictEqual(done.request_counts, { total: 5, completed: 2, failed: 3 })
    const output = await room.linesOf(openai, done.output_file_id)
    assert.deepStrictEqual(output.map(({ custom_id: id }) => id).sort(), ["a", "b"])
    let costUsd = 0
    for (const { custom_id: id, error, response } of output) {
      assert.isNull(error)
      assert.strictEqual(response.body.choices[0].message.content, id)
      const row = await room.gateway.usageRow(response.request_id)
      assert.deepInclude(row, {
        batchId: made.id,
        apiKeyId,
        provider: "up",
        model: "m",
        requestedModel: "up/m",
        status: 200
      })
      assert.strictEqual(row.costUsd, 0.00003)
      costUsd += row.costUsd
    }
    const errors = await room.linesOf(openai, done.error_file_id)
    assert.deepStrictEqual(errors.map((each) => each.error?.code ?? each.response.status_code).sort(), [
      400,
      "duplicate_custom_id",
      "invalid_json_line"
    ])
    const { spentUsd, reservedUsd = 0 } = await room.gateway.manage("GET", `/api/usage/budget?apiKeyId=${apiKeyId}`)
    assert.deepStrictEqual([spentUsd, reservedUsd], [costUsd, 0])

    assert.strictEqual(provider.count("POST /v1/batches"), 1)
    assert.strictEqual(provider.count("POST /v1/chat/completions"), 0)
    assert.deepInclude(provider.batches[0], {
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      metadata: { gateway_batch_id: made.id }
    })
    const sent = (provider.files.get("file-there-1") ?? "")
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text))
    assert.deepStrictEqual(
      sent.map((each) => [each.custom_id, each.method, each.url, each.body.model]),
      [
        ["line-1", "POST", "/v1/chat/completions", "m"],
        ["line-2", "POST", "/v1/chat/completions", "m"],
        ["line-4", "POST", "/v1/chat/completions", "m"]
      ]
    )
    // Nothing of it stays, neither there nor here.
    assert.sameMembers(provider.removed, ["file-there-1", "out-batch_there_1", "err-batch_there_1"])
    await eventually(
      "an empty folder",
      () => room.folder("batches"),
      (names) => names.length === 0
    )
  })

  scenario(
    "is asked line by line where the setting is off, or the provider has none after all",
    async (room, provider) => {
      const { openai } = await room.key("one")
      await room.gateway.manage("PATCH", "/api/settings", { batches: { useProviderBatch: false } })
      const own = await room.ended(openai, (await room.begin(openai, [line("a", "a")])).id)
      assert.strictEqual(own.request_counts?.completed, 1)
      assert.deepStrictEqual(provider.calls, ["POST /v1/chat/completions"])
      await room.gateway.manage("PATCH", "/api/settings", { batches: { useProviderBatch: true } })
      const none = Fake.json({ error: { message: "no such route" } }, { status: 404 })
      provider.before.set("POST /v1/files", [none])
      const refused = await room.ended(openai, (await room.begin(openai, [line("a", "a")])).id)
      assert.strictEqual(refused.request_counts?.completed, 1)
      provider.before.set("POST /v1/batches", [none])
      const late = await room.ended(openai, (await room.begin(openai, [line("a", "a")])).id)
      assert.strictEqual(late.request_counts?.completed, 1)
      assert.strictEqual(provider.count("POST /v1/chat/completions"), 3)
      assert.deepStrictEqual(provider.removed, ["file-there-1"])
      assert.lengthOf(provider.batches, 0)
    }
  )

  scenario(
    "is asked line by line where its lines go elsewhere, or the gateway would change them",
    async (room, provider) => {
      const { openai } = await room.key("one")
      const other = line("b", "b", { body: { model: "no/such", messages: [{ role: "user", content: "b" }] } })
      const mixed = await room.ended(openai, (await room.begin(openai, [line("a", "a"), other])).id)
      assert.deepStrictEqual(mixed.request_counts, { total: 2, completed: 1, failed: 1 })
      await room.gateway.manage("PUT", "/api/settings/compression", { enabled: true })
      const changed = await room.ended(openai, (await room.begin(openai, [line("a", "a")])).id)
      assert.strictEqual(changed.request_counts?.completed, 1)
      assert.strictEqual(provider.count("POST /v1/files"), 0)
    }
  )

  scenario(
    "is asked line by line where its key has rates, which nothing holds a provider to",
    async (room, provider) => {
      for (const rates of [
        { rateLimits: [{ limit: 1, window: 3_600 }] },
        { maxRequestsPerDay: 1 },
        { maxSessions: 1 }
      ]) {
        const { openai } = await room.key("rated", rates)
        const { id } = await room.begin(openai, [line("a", "a"), line("b", "b")])
        const counts = async () => (await openai.batches.retrieve(id)).request_counts?.completed ?? 0
        await eventually("the line that its turn has come", counts, (completed) => completed > 0)
        assert.strictEqual(provider.count("POST /v1/files"), 0, JSON.stringify(rates))
        await openai.batches.cancel(id).catch(() => {})
      }
    }
  )

  scenario(
    "is not handed over past a guardrail",
    async (room, provider) => {
      const { openai } = await room.key("one")
      const done = await room.ended(openai, (await room.begin(openai, [line("a", "write to jo@example.com")])).id)
      assert.strictEqual(done.request_counts?.completed, 1)
      assert.strictEqual(provider.count("POST /v1/files"), 0)
      assert.notInclude(room.upstream.requests.map(({ body }) => body).join(), "jo@example.com")
    },
    { environment: new Map([["PII_REDACTION_ENABLED", "true"]]) }
  )

  scenario("asks whether it was made where no answer came, and makes it once", async (room, provider) => {
    const { openai } = await room.key("one")
    // It is made, and the answer is lost.
    provider.before.set("POST /v1/batches", [
      async (response, request) => {
        provider.calls.pop()
        await provider.answer(
          { writeHead: () => ({ end: () => {} }), setHeader: () => {}, end: () => {} } as never,
          request
        )
        Fake.closeBeforeHeaders()(response, request)
      }
    ])
    const done = await room.ended(openai, (await room.begin(openai, [line("a", "a")])).id)
    assert.deepStrictEqual(done.request_counts, { total: 1, completed: 1, failed: 0 })
    assert.lengthOf(provider.batches, 1)
    assert.isAtLeast(provider.count("GET /v1/batches"), 1)
  })

  scenario("fails with the provider's words, expires as it does, and misses no line", async (room, provider) => {
    const { openai } = await room.key("one")
    provider.state = "failed"
    const failed = await room.ended(openai, (await room.begin(openai, [line("a", "a")])).id)
    assert.strictEqual(failed.status, "failed")
    assert.deepInclude(failed.errors?.data?.[0], {
      code: "provider_batch_failed",
      message: "up: Enqueued token limit reached."
    })
    provider.silent = 1
    for (const [state, code] of [
      ["expired", "batch_expired"],
      ["completed", "provider_no_result"],
      ["cancelled", "provider_batch_cancelled"]
    ] as const) {
      provider.state = state
      const done = await room.ended(openai, (await room.begin(openai, [line("a", "a"), line("b", "b")])).id)
      assert.strictEqual(done.status, state === "expired" ? "expired" : "completed")
      assert.deepStrictEqual(done.request_counts, { total: 2, completed: 1, failed: 1 })
      const [missing] = await room.linesOf(openai, done.error_file_id)
      assert.deepStrictEqual([missing.custom_id, missing.error.code], ["b", code])
    }
  })

  scenario("is cancelled there too, and what was answered stays", async (room, provider) => {
    const { openai } = await room.key("one")
    provider.state = "in_progress"
    provider.silent = 1
    const made = await room.begin(openai, [line("a", "a"), line("b", "b")])
    const under = await eventually(
      "the provider's counts",
      () => openai.batches.retrieve(made.id),
      (batch) => batch.request_counts?.completed === 1
    )
    assert.strictEqual(under.status, "in_progress")
    await openai.batches.cancel(made.id)
    const done = await room.ended(openai, made.id)
    assert.strictEqual(done.status, "cancelled")
    assert.deepStrictEqual(done.request_counts, { total: 2, completed: 1, failed: 0 })
    assert.strictEqual(provider.count("POST /v1/batches/…/cancel"), 1)
    const lines = await room.linesOf(openai, done.output_file_id)
    assert.deepStrictEqual(
      lines.map((each) => each.custom_id),
      ["a"]
    )
  })

  scenario("does not get the lines that are over the budget, and the others go on", async (room, provider) => {
    const { id: apiKeyId, openai } = await room.key("one")
    await room.gateway.manage("POST", "/api/usage/budget", { apiKeyId, dailyLimitUsd: 0.001 })
    const body = { model: "up/m", max_tokens: 1, messages: [{ role: "user", content: "a" }] }
    const lines = [line("cheap", "a", { body }), line("dear", "a", { body: { ...body, max_tokens: 500 } })]
    const done = await room.ended(openai, (await room.begin(openai, lines)).id)
    assert.deepStrictEqual(done.request_counts, { total: 2, completed: 1, failed: 1 })
    const [refused] = await room.linesOf(openai, done.error_file_id)
    assert.deepStrictEqual([refused.custom_id, refused.response.status_code], ["dear", 429])
    assert.deepInclude(await room.gateway.usageRow(refused.response.request_id), { status: 429, costUsd: 0 })
    assert.notInclude(provider.files.get("file-there-1") ?? "", "line-2")
  })
})
