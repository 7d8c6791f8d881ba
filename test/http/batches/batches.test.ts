/** Batches over real sockets, with OpenAI's client. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { BadRequestError, ConflictError, NotFoundError, PermissionDeniedError } from "openai"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answering, line, type Room, saidIn, setUp } from "./support.ts"

const scenario = (name: string, run: (room: Room) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp(), (room) => Effect.promise(() => run(room))))
}

const failing = (ask: () => Promise<unknown>): Promise<unknown> =>
  ask().then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown
  )

const idsOf = (lines: ReadonlyArray<{ readonly custom_id: string }>): ReadonlyArray<string> =>
  lines.map(({ custom_id: id }) => id).sort()

describe("/v1/batches", () => {
  scenario("OpenAI's client makes a batch and reads its output", async (room) => {
    const { id: keyId, openai } = await room.key("one")
    const texts = ["a", "b", "c"]
    const made = await room.begin(
      openai,
      texts.map((text) => line(`id-${text}`, text)),
      { metadata: { job: "x" }, output_expires_after: { anchor: "created_at", seconds: 3600 } }
    )
    assert.match(made.id, /^batch_[\da-f]{32}$/)
    assert.deepInclude(made, {
      object: "batch",
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      status: "validating",
      metadata: { job: "x" }
    })
    assert.strictEqual(made.expires_at, made.created_at + 86_400)
    assert.deepStrictEqual(made.request_counts, { total: 0, completed: 0, failed: 0 })
    const done = await room.ended(openai, made.id)
    assert.deepInclude(done, { status: "completed", error_file_id: null as unknown as string })
    assert.deepStrictEqual(done.request_counts, { total: 3, completed: 3, failed: 0 })
    for (const time of [done.in_progress_at, done.finalizing_at, done.completed_at]) assert.isNumber(time)

    const lines = await room.linesOf(openai, done.output_file_id)
    assert.deepStrictEqual(idsOf(lines), ["id-a", "id-b", "id-c"])
    for (const { custom_id: id, error, id: lineId, response } of lines) {
      assert.match(lineId, /^batch_req_/)
      assert.isNull(error)
      assert.strictEqual(response.status_code, 200)
      assert.strictEqual(`id-${response.body.choices[0].message.content}`, id)
      const row = await room.gateway.usageRow(response.request_id)
      assert.deepInclude(row, { batchId: made.id, apiKeyId: keyId, costUsd: 0.00006 })
    }
    const output = await openai.files.retrieve(done.output_file_id ?? "")
    assert.deepInclude(output, { purpose: "batch_output", filename: `${made.id}_output.jsonl` })
    assert.strictEqual(output.expires_at, output.created_at + 3600)
    assert.deepStrictEqual((await openai.batches.list()).data, [done])
    await eventually(
      "an empty folder",
      () => room.folder("batches"),
      (names) => names.length === 0
    )
  })

  scenario("lines that are broken fail with a reason each, and the others run", async (room) => {
    const { openai } = await room.key("one")
    const made = await room.begin(openai, [
      line("good", "a"),
      "{broken",
      "",
      line("good", "again"),
      line("method", "a", { method: "GET" }),
      line("url", "a", { url: "/v1/embeddings" }),
      JSON.stringify({ custom_id: "body", method: "POST", url: "/v1/chat/completions" }),
      JSON.stringify({ method: "POST", url: "/v1/chat/completions", body: {} }),
      line("stream", "a", { body: { model: "up/m", stream: true, messages: [] } }),
      "[1]",
      line("refused", "status 400"),
      line("unknown", "a", { body: { model: "no/such", messages: [{ role: "user", content: "x" }] } }),
      "   "
    ])
    const done = await room.ended(openai, made.id)
    assert.strictEqual(done.status, "completed")
    assert.deepStrictEqual(done.request_counts, { total: 11, completed: 1, failed: 10 })
    assert.deepStrictEqual(idsOf(await room.linesOf(openai, done.output_file_id)), ["good"])
    const errors = await room.linesOf(openai, done.error_file_id)
    const byCode = errors.filter(({ error }) => error !== null).map(({ custom_id: id, error }) => [id, error.code])
    assert.deepStrictEqual(
      byCode.sort((one, other) => String(one[1] + one[0]).localeCompare(String(other[1] + other[0]))),
      [
        ["good", "duplicate_custom_id"],
        [null, "invalid_json_line"],
        [null, "invalid_json_line"],
        ["method", "invalid_method"],
        ["url", "invalid_url"],
        ["stream", "invalid_value"],
        ["body", "missing_required_parameter"],
        [null, "missing_required_parameter"]
      ]
    )
    const answered = new Map(
      errors.filter(({ error }) => error === null).map((each) => [each.custom_id, each.response])
    )
    assert.strictEqual(answered.get("refused").status_code, 400)
    assert.include(answered.get("refused").body.error.message, "no: status 400")
    assert.strictEqual(answered.get("unknown").status_code, 404)
    assert.strictEqual(errors.find(({ error }) => error?.code === "duplicate_custom_id").error.line, 4)
  })

  scenario("what asks for a batch that cannot be is refused by its field", async (room) => {
    const { openai, secret } = await room.key("one")
    const file = await room.upload(openai, line("a", "a"))
    const good = { input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" }
    const cases: ReadonlyArray<readonly [object, number, string]> = [
      [{ input_file_id: undefined }, 400, "input_file_id"],
      [{ input_file_id: "file-none" }, 404, "input_file_id"],
      [{ endpoint: "/v1/files" }, 400, "endpoint"],
      [{ completion_window: "1h" }, 400, "completion_window"],
      [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, "v"])) }, 400, "metadata"],
      [{ metadata: { k: 1 } }, 400, "metadata.k"],
      [{ output_expires_after: { anchor: "created_at", seconds: 1 } }, 400, "output_expires_after.seconds"],
      [{ output_expires_after: { seconds: 3600 } }, 400, "output_expires_after.anchor"],
      [{ priority: 1 }, 400, "priority"]
    ]
    for (const [change, status, param] of cases) {
      const answer = await room.gateway.post(
        "/v1/batches",
        { ...good, ...change },
        { authorization: `Bearer ${secret}` }
      )
      const { error } = (await answer.json()) as { error: { param: string } }
      assert.deepStrictEqual([answer.status, error.param], [status, param])
    }
    const broken = await room.gateway.post("/v1/batches", "{", { authorization: `Bearer ${secret}` })
    assert.strictEqual(broken.status, 400)
    const large = await room.gateway.post("/v1/batches", " ".repeat(300_000), { authorization: `Bearer ${secret}` })
    assert.strictEqual(large.status, 413)
    assert.lengthOf((await openai.batches.list()).data, 0)
  })

  scenario("a file of another purpose is none, and a file without lines fails the batch", async (room) => {
    const { openai } = await room.key("one")
    const { id } = await openai.files.create({ file: new File(["x"], "x"), purpose: "evals" })
    const wrong = await failing(() =>
      openai.batches.create({ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" })
    )
    assert.instanceOf(wrong, BadRequestError)
    const empty = await room.ended(openai, (await room.begin(openai, ["", "  "])).id)
    assert.strictEqual(empty.status, "failed")
    assert.strictEqual(empty.errors?.data?.[0]?.code, "empty_file")
    assert.isNumber(empty.failed_at)
  })

  scenario("another key's batch does not exist", async (room) => {
    const mine = await room.key("mine")
    const theirs = await room.key("theirs")
    const made = await room.begin(mine.openai, [line("a", "a")])
    for (const ask of [
      () => theirs.openai.batches.retrieve(made.id),
      () => theirs.openai.batches.cancel(made.id),
      () => theirs.openai.delete(`/batches/${made.id}`),
      () =>
        theirs.openai.batches.create({
          input_file_id: made.input_file_id,
          endpoint: "/v1/chat/completions",
          completion_window: "24h"
        })
    ]) {
      assert.instanceOf(await failing(ask), NotFoundError)
    }
    assert.lengthOf((await theirs.openai.batches.list()).data, 0)
  })

  scenario("a batch is cancelled with its calls under way, once, and deleted when it is over", async (room) => {
    const { openai } = await room.key("one")
    room.upstream.always((response, request) =>
      saidIn(request.body) === "now" ? answering(response, request) : Fake.hang()(response, request)
    )
    const made = await room.begin(openai, [line("first", "now"), line("b", "wait"), line("c", "wait")])
    const first = await eventually(
      "the first line",
      () => openai.batches.retrieve(made.id),
      (batch) => batch.request_counts?.completed === 1
    )
    assert.strictEqual(first.status, "in_progress")
    const hanging = await room.upstream.received(3)
    assert.instanceOf(await failing(() => openai.delete(`/batches/${made.id}`)), ConflictError)
    const cancelling = await openai.batches.cancel(made.id)
    assert.strictEqual(cancelling.status, "cancelling")
    await hanging.closed
    const done = await room.ended(openai, made.id)
    assert.strictEqual(done.status, "cancelled")
    assert.deepStrictEqual(done.request_counts, { total: 3, completed: 1, failed: 0 })
    assert.deepStrictEqual(idsOf(await room.linesOf(openai, done.output_file_id)), ["first"])
    assert.instanceOf(await failing(() => openai.batches.cancel(made.id)), ConflictError)
    assert.deepStrictEqual(await openai.delete(`/batches/${made.id}`), {
      id: made.id,
      object: "batch",
      deleted: true
    })
    assert.instanceOf(await failing(() => openai.batches.retrieve(made.id)), NotFoundError)
  })

  scenario("at most batches.maxConcurrency lines are asked at once, of all batches together", async (room) => {
    const one = await room.key("one")
    const two = await room.key("two")
    await room.gateway.manage("PATCH", "/api/settings", { batches: { maxConcurrency: 2 } })
    let under = 0
    let most = 0
    let both = (): void => {}
    const twoAtOnce = new Promise<void>((resolve) => (both = resolve))
    room.upstream.always(async (response, request) => {
      under += 1
      most = Math.max(most, under)
      if (under === 2) both()
      await twoAtOnce
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      under -= 1
      await answering(response, request)
    })
    const lines = Array.from({ length: 20 }, (_, n) => line(`id-${n}`, `${n}`))
    const made = [await room.begin(one.openai, lines), await room.begin(two.openai, lines)] as const
    const done = [await room.ended(one.openai, made[0].id), await room.ended(two.openai, made[1].id)]
    for (const { request_counts: counts } of done)
      assert.deepStrictEqual(counts, { total: 20, completed: 20, failed: 0 })
    assert.strictEqual(most, 2)
  })

  scenario("a line over the budget fails, and the batch goes on", async (room) => {
    const { id: apiKeyId, openai } = await room.key("one")
    await room.gateway.manage("POST", "/api/usage/budget", { apiKeyId, dailyLimitUsd: 0.001 })
    await room.gateway.manage("PATCH", "/api/settings", { batches: { maxConcurrency: 1 } })
    const dear = { model: "up/m", max_tokens: 500, messages: [{ role: "user", content: "x" }] }
    const made = await room.begin(openai, [
      line("cheap", "a", { body: { ...dear, max_tokens: 1 } }),
      line("dear", "a", { body: dear }),
      line("cheap again", "a", { body: { ...dear, max_tokens: 1 } })
    ])
    const done = await room.ended(openai, made.id)
    assert.deepStrictEqual(done.request_counts, { total: 3, completed: 2, failed: 1 })
    const [refused] = await room.linesOf(openai, done.error_file_id)
    assert.strictEqual(refused.custom_id, "dear")
    assert.strictEqual(refused.response.status_code, 429)
    assert.strictEqual(refused.response.body.error.type, "rate_limit_error")
    const row = await room.gateway.usageRow(refused.response.request_id)
    assert.deepInclude(row, { batchId: made.id, status: 429, costUsd: 0 })
  })

  scenario("lines wait while no connection is free", async (room) => {
    const { openai } = await room.key("one")
    await room.gateway.manage("PATCH", "/api/resilience", {
      connectionCooldown: { apikey: { baseCooldownMs: 200 } }
    })
    let refusals = 0
    room.upstream.always((response, request) => {
      if (refusals >= 2) return answering(response, request)
      refusals += 1
      return Fake.json(
        { error: { message: "slow down", type: "requests", code: "rate_limit_exceeded" } },
        { status: 429 }
      )(response, request)
    })
    const made = await room.begin(openai, [line("a", "a"), line("b", "b"), line("c", "c")])
    const done = await room.ended(openai, made.id)
    const errors = done.error_file_id ? await room.linesOf(openai, done.error_file_id) : []
    assert.deepStrictEqual(errors, [])
    assert.deepStrictEqual(done.request_counts, { total: 3, completed: 3, failed: 0 })
  })

  scenario("a key that may not use batches, or what the lines ask, is refused", async (room) => {
    const none = await room.key("none", { allowedEndpoints: ["chat", "files"] })
    const half = await room.key("half", { allowedEndpoints: ["batches", "files", "embeddings"] })
    for (const { openai } of [none, half]) {
      assert.instanceOf(await failing(() => room.begin(openai, [line("a", "a")])), PermissionDeniedError)
    }
    const file = await room.upload(half.openai, line("a", "a"))
    const made = await half.openai.batches.create({
      input_file_id: file,
      endpoint: "/v1/embeddings",
      completion_window: "24h"
    })
    assert.strictEqual(made.status, "validating")
  })

  scenario("lines of a key that was removed fail", async (room) => {
    const { id, openai } = await room.key("gone")
    const other = await room.key("stays")
    await room.gateway.manage("PATCH", "/api/settings", { batches: { maxConcurrency: 1 } })
    const latch = Fake.makeLatch()
    room.upstream.always(async (response, request) => {
      await latch.opened
      await answering(response, request)
    })
    await room.begin(openai, [line("a", "a"), line("b", "b")])
    await room.upstream.received(1)
    await room.gateway.manage("DELETE", `/api/keys/${id}`)
    latch.open()
    const made = await room.begin(other.openai, [line("c", "c")])
    const done = await room.ended(other.openai, made.id)
    assert.strictEqual(done.request_counts?.completed, 1)
    assert.deepStrictEqual(
      room.upstream.requests.map(({ body }) => saidIn(body)),
      ["a", "c"]
    )
  })
})
