/** Evaluations over real sockets: the gateway, its database and an upstream that answers by the question. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Gateway from "../../support/TestGateway.ts"

const question = (content: string, strategy: string, value: unknown, name = content) => ({
  name,
  input: { messages: [{ role: "user", content }] },
  expected: { strategy, value }
})

const cases = [
  question("capital", "exact", "Paris"),
  question("city", "contains", "paris"),
  question("number", "regex", "\\b4\\d\\b"),
  question("object", "json", { a: [1, 2], b: null })
]

/** What the upstream says to a question. */
const said: Readonly<Record<string, string>> = {
  capital: " Paris\n",
  city: "It is PARIS, of course.",
  number: "forty-two, 42",
  object: '```json\n{"b": null, "a": [1, 2]}\n```'
}

const lastOf = (body: string): string => JSON.parse(body).messages.at(-1).content

const answering =
  (answers: Readonly<Record<string, string>> = said): Fake.Answer =>
  (response, request) =>
    Fake.json(Fake.chatCompletion({ text: answers[lastOf(request.body)] ?? "?", usage: { in: 10, out: 5 } }))(
      response,
      request
    )

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always(answering())
  const gateway = yield* Gateway.start()
  yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat")
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
  })
  const { suite } = yield* Effect.promise(() => gateway.manage("POST", "/api/evals/suites", { name: "Mine", cases }))
  const reportOf = async (id: string) => (await gateway.manage("GET", `/api/evals/runs/${id}`)).run
  const ended = (id: string) =>
    eventually(
      "the end of the run",
      () => reportOf(id),
      ({ status }) => status !== "running"
    )
  const begin = (more: object = {}) =>
    gateway.manage("POST", "/api/evals", { suiteId: suite.id, target: { type: "model", id: "up/m" }, ...more })
  const send = (method: string, path: string, body?: unknown) =>
    fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${Gateway.adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  return { upstream, gateway, suite, reportOf, ended, begin, send }
})

describe("a run", () => {
  it.scopedLive("asks every case through the gateway, judges it, and costs what its usage rows say", () =>
    Effect.gen(function* () {
      const { begin, ended, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const { compareRun, run } = await begin()
        assert.deepEqual([run.status, compareRun], ["running", null])
        const report = await ended(run.id)
        assert.strictEqual(report.status, "completed")
        assert.deepEqual(
          report.cases.map((each: { id: string; passed: boolean; reason: string | null }) => [
            each.id,
            each.passed,
            each.reason
          ]),
          [1, 2, 3, 4].map((n) => [`case-${n}`, true, null])
        )
        assert.deepInclude(report.summary, { total: 4, passed: 4, failed: 0, passRate: 1 })
        assert.closeTo(report.summary.costUsd, 4 * 0.00006, 1e-12)
        for (const each of report.cases) {
          const row = await gateway.usageRow(each.requestId)
          assert.strictEqual(row.costUsd, each.costUsd)
          assert.deepInclude(row, { provider: "up", model: "m", outcome: "completed" })
          const { decision } = await gateway.manage("GET", `/api/routing/decisions/${each.requestId}`)
          assert.strictEqual(decision.requestedModel, "up/m")
        }
        assert.include(report.cases[1].output, "PARIS")
        const overview = await gateway.manage("GET", "/api/evals")
        assert.lengthOf(overview.suites, 8)
        assert.strictEqual(overview.recentRuns[0].id, run.id)
        assert.deepInclude(overview.scorecard.targets[0], {
          target: { type: "model", id: "up/m" },
          passRate: 1,
          total: 4
        })
      })
    })
  )

  it.scopedLive("over two targets shows which cases only one of them passes", () =>
    Effect.gen(function* () {
      const { begin, ended, gateway } = yield* setUp
      const other = yield* Fake.start
      other.always(answering({ ...said, capital: "Lyon" }))
      yield* Effect.promise(async () => {
        await gateway.connect("other", other, "chat")
        await gateway.combo("both", "other/m", "up/m")
        const { compareRun, run } = await begin({ compareTarget: { type: "combo", id: "both" } })
        await ended(compareRun.id)
        const report = await ended(run.id)
        assert.deepEqual(report.comparison.onlyHere, ["case-1"])
        assert.deepEqual(report.comparison.onlyThere, [])
        assert.deepEqual(report.comparison.target, { type: "combo", id: "both" })
        const there = await ended(compareRun.id)
        assert.deepInclude(there.cases[0], { passed: false, output: "Lyon", provider: "other" })
        assert.include(there.cases[0].reason, "'Paris'")
      })
    })
  )

  it.scopedLive("in the name of a key is on the key's account, within its budget and its rate", () =>
    Effect.gen(function* () {
      const { begin, ended, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const { key } = await gateway.manage("POST", "/api/keys", { name: "k" })
        const rates = (rateLimits: ReadonlyArray<object>) =>
          gateway.manage("PATCH", `/api/keys/${key.id}`, { rateLimits })
        const first = await ended((await begin({ apiKeyId: key.id })).run.id)
        assert.deepInclude(first.summary, { passed: 4 })
        assert.strictEqual((await gateway.usageRow(first.cases[0].requestId)).apiKeyId, key.id)
        // Questions whose turn has not come wait, and are not asked for a run that is cancelled.
        await rates([{ limit: 1, window: 3_600 }])
        const { run } = await begin({ apiKeyId: key.id })
        await eventually(
          "the first answer",
          () => gateway.manage("GET", `/api/evals/runs/${run.id}`),
          (report) => report.run.summary.passed === 1
        )
        await gateway.manage("POST", `/api/evals/runs/${run.id}/cancel`)
        assert.deepInclude((await ended(run.id)).summary, { passed: 1, failed: 0 })
        await rates([])
        await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 0.0003 })
        const { spentUsd } = await gateway.manage("GET", `/api/usage/budget?apiKeyId=${key.id}`)
        assert.closeTo(spentUsd, 5 * 0.00006, 1e-12)
        const second = await ended((await begin({ apiKeyId: key.id })).run.id)
        assert.strictEqual(second.status, "failed")
        assert.include(second.reason, "budget")
        assert.deepInclude(second.summary, { passed: 0, failed: 4, costUsd: 0 })
      })
    })
  )

  it.scopedLive("keeps nothing of what is said for keys with noLog", () =>
    Effect.gen(function* () {
      const { begin, ended, gateway, upstream } = yield* setUp
      upstream.enqueue(Fake.json({ error: { message: "the upstream repeats the question" } }, { status: 400 }))
      yield* Effect.promise(async () => {
        const { key } = await gateway.manage("POST", "/api/keys", { name: "quiet", noLog: true })
        const report = await ended((await begin({ apiKeyId: key.id })).run.id)
        assert.deepInclude(report.summary, { passed: 3, failed: 1 })
        for (const each of report.cases) assert.isNull(each.output)
        const failed = report.cases.find(({ passed }: { passed: boolean }) => !passed)
        assert.strictEqual(failed.reason, "The request failed with the status 400.")
      })
    })
  )

  it.scopedLive("that is cancelled ends the calls under way, and keeps what it has", () =>
    Effect.gen(function* () {
      const { begin, gateway, reportOf, send, upstream } = yield* setUp
      upstream.always((response, request) =>
        lastOf(request.body) === "city" ? undefined : answering()(response, request)
      )
      yield* Effect.promise(async () => {
        const { run } = await begin()
        await eventually(
          "three cases",
          () => reportOf(run.id),
          (report) => report.cases.length === 3
        )
        const { run: cancelled } = await gateway.manage("POST", `/api/evals/runs/${run.id}/cancel`)
        assert.strictEqual(cancelled.status, "cancelled")
        assert.deepInclude(cancelled.summary, { total: 4, passed: 3, failed: 0 })
        assert.isString(cancelled.finishedAt)
        const hanging = upstream.requests.find(({ body }) => lastOf(body) === "city")
        await hanging?.closed
        const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
        assert.sameMembers(
          logs.map(({ outcome }: { outcome: string }) => outcome),
          ["aborted", "completed", "completed", "completed"]
        )
        const again = await send("POST", `/api/evals/runs/${run.id}/cancel`)
        assert.strictEqual(again.status, 409)
      })
    })
  )

  it.scopedLive("without a single answer has failed, and is in no scorecard", () =>
    Effect.gen(function* () {
      const { begin, ended, gateway, upstream } = yield* setUp
      upstream.always(Fake.json({ error: { message: "no such model" } }, { status: 404 }))
      yield* Effect.promise(async () => {
        const report = await ended((await begin()).run.id)
        assert.strictEqual(report.status, "failed")
        assert.include(report.reason, "No question was answered")
        assert.deepEqual((await gateway.manage("GET", "/api/evals")).scorecard.targets, [])
      })
    })
  )

  it.scopedLive("ends when its key is revoked meanwhile", () =>
    Effect.gen(function* () {
      const { begin, ended, gateway, upstream } = yield* setUp
      const latch = Fake.makeLatch()
      upstream.always(async (response, request) => {
        await latch.opened
        await answering()(response, request)
      })
      yield* Effect.promise(async () => {
        const many = Array.from({ length: 12 }, (_, n) => question("capital", "exact", "Paris", `case ${n}`))
        const { suite } = await gateway.manage("POST", "/api/evals/suites", { name: "many", cases: many })
        const { key } = await gateway.manage("POST", "/api/keys", { name: "short" })
        const { run } = await begin({ suiteId: suite.id, apiKeyId: key.id })
        await upstream.received(4)
        await gateway.manage("PATCH", `/api/keys/${key.id}`, { isActive: false })
        latch.open()
        const report = await ended(run.id)
        assert.strictEqual(report.status, "failed")
        assert.include(report.reason, "'short' is inactive")
        assert.isBelow(report.cases.length, 12)
      })
    })
  )
})

describe("a combo with evalRouting", () => {
  it.scopedLive("asks who did best first as soon as a run is complete, also after a restart", () =>
    Effect.gen(function* () {
      const dataDir = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-evals-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const worse = yield* Fake.start
      worse.always(answering({ ...said, capital: "Lyon", city: "Nice" }))
      const better = yield* Fake.start
      better.always(answering())
      const askedFirst = async (gateway: Gateway.TestGateway) => {
        const body = { model: "scored", messages: [{ role: "user", content: "capital" }] }
        const answer = await gateway.post("/v1/chat/completions", body)
        await answer.arrayBuffer()
        const requestId = answer.headers.get("x-gateway-request-id")
        const { decision } = await gateway.manage("GET", `/api/routing/decisions/${requestId}`)
        return {
          served: answer.headers.get("x-gateway-provider"),
          decision,
          said: answer.headers.get("x-gateway-decision")
        }
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const gateway = yield* Gateway.start({ dataDir })
          yield* Effect.promise(async () => {
            await gateway.connect("worse", worse, "chat")
            await gateway.connect("better", better, "chat")
            await gateway.manage("POST", "/api/combos", {
              name: "scored",
              strategy: "priority",
              targets: [{ model: "worse/m" }, { model: "better/m" }],
              config: { evalRouting: { enabled: true, latencyWeight: 0 } }
            })
            assert.strictEqual((await askedFirst(gateway)).served, "worse")
            const { suite } = await gateway.manage("POST", "/api/evals/suites", { name: "Mine", cases })
            const { run } = await gateway.manage("POST", "/api/evals", {
              suiteId: suite.id,
              target: { type: "model", id: "worse/m" },
              compareTarget: { type: "model", id: "better/m" }
            })
            await eventually(
              "both runs",
              () => gateway.manage("GET", `/api/evals/runs/${run.id}`),
              (answer) => answer.run.status === "completed" && answer.run.comparison.status === "completed"
            )
            const first = await eventually(
              "the better one",
              () => askedFirst(gateway),
              ({ served }) => served === "better"
            )
            assert.include(first.said, "best in evaluations")
            assert.deepEqual(first.decision.weights, { quality: 0.85, latency: 0 })
            assert.deepEqual(
              first.decision.candidates.map(({ factors }: { factors: { quality: number } }) => factors.quality),
              [0.5, 1]
            )
          })
        })
      )
      const again = yield* Gateway.start({ dataDir })
      yield* Effect.promise(async () => assert.strictEqual((await askedFirst(again)).served, "better"))
    })
  )
})

describe("bad input", () => {
  it.scopedLive("is refused with the field, and nothing is begun", () =>
    Effect.gen(function* () {
      const { gateway, send, suite, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const { key } = await gateway.manage("POST", "/api/keys", { name: "off", isActive: false })
        const { key: tied } = await gateway.manage("POST", "/api/keys", { name: "tied", allowedModels: ["x/y"] })
        const target = { type: "model", id: "up/m" }
        const good = { suiteId: suite.id, target }
        const refused: ReadonlyArray<readonly [body: object, status: number, param: string]> = [
          [{ ...good, suiteId: "none" }, 404, "suiteId"],
          [{ ...good, target: { type: "model", id: "no/such" } }, 404, "target.id"],
          [{ ...good, target: { type: "combo", id: "up/m" } }, 404, "target.id"],
          [{ ...good, target: { type: "agent", id: "up/m" } }, 400, "target.type"],
          [{ ...good, compareTarget: { type: "model", id: "no/such" } }, 404, "compareTarget.id"],
          [{ ...good, apiKeyId: "none" }, 404, "apiKeyId"],
          [{ ...good, apiKeyId: key.id }, 400, "apiKeyId"],
          [{ ...good, apiKeyId: tied.id }, 400, "target.id"],
          [{ ...good, outputs: {} }, 400, "outputs"],
          [{ ...good, suiteId: "x".repeat(5_000) }, 400, "suiteId"],
          [{ target }, 400, "suiteId"]
        ]
        for (const [body, status, param] of refused) {
          const answer = await send("POST", "/api/evals", body)
          const { error } = JSON.parse(await answer.text())
          assert.deepEqual([answer.status, error.param], [status, param], JSON.stringify(body))
        }
        const overview = await gateway.manage("GET", "/api/evals")
        assert.deepEqual(overview.recentRuns, [])
        assert.lengthOf(upstream.requests, 0)
        assert.strictEqual((await send("GET", "/api/evals/runs/none")).status, 404)
        assert.strictEqual((await send("POST", "/api/evals/runs/none/cancel")).status, 404)
      })
    })
  )

  it.scopedLive("of a suite is refused with the place of the case", () =>
    Effect.gen(function* () {
      const { gateway, send, suite } = yield* setUp
      yield* Effect.promise(async () => {
        const withCase = (more: object) => ({ name: "s", cases: [{ ...question("q", "exact", "a"), ...more }] })
        const refused: ReadonlyArray<readonly [body: object, param: string]> = [
          [{ name: "s", cases: [] }, "cases"],
          [{ name: "", cases }, "name"],
          [{ name: "s", cases: Array.from({ length: 201 }, () => question("q", "exact", "a")) }, "cases"],
          [withCase({ expected: { strategy: "regex", value: "(a+)\\1" } }), "cases.0.expected.value"],
          [withCase({ expected: { strategy: "regex", value: "(" } }), "cases.0.expected.value"],
          [withCase({ expected: { strategy: "regex", value: "a".repeat(1_001) } }), "cases.0.expected.value"],
          [withCase({ expected: { strategy: "exact", value: 5 } }), "cases.0.expected.value"],
          [withCase({ expected: { strategy: "custom", value: "x" } }), "cases.0.expected.strategy"],
          [withCase({ input: { messages: [] } }), "cases.0.input.messages"],
          [
            withCase({ input: { messages: [{ role: "user", content: [{ type: "text" }] }] } }),
            "cases.0.input.messages.0.content.0.text"
          ],
          [withCase({ weight: 1 }), "cases.0.weight"]
        ]
        for (const [body, param] of refused) {
          const answer = await send("POST", "/api/evals/suites", body)
          const { error } = JSON.parse(await answer.text())
          assert.deepEqual([answer.status, error.param], [400, param], JSON.stringify(body).slice(0, 200))
        }
        assert.lengthOf((await gateway.manage("GET", "/api/evals")).suites, 8)
        assert.strictEqual((await send("PUT", "/api/evals/suites/golden-set", { name: "x" })).status, 409)
        assert.strictEqual((await send("DELETE", "/api/evals/suites/golden-set")).status, 409)
        assert.strictEqual((await send("PUT", "/api/evals/suites/none", { name: "x" })).status, 404)
        assert.strictEqual((await send("DELETE", "/api/evals/suites/none")).status, 404)
        const path = `/api/evals/suites/${suite.id}`
        // What was shown may be sent back.
        const renamed = await gateway.manage("PUT", path, { ...suite, name: "Renamed" })
        assert.deepInclude(renamed.suite, { id: suite.id, name: "Renamed", builtIn: false })
        assert.deepEqual(renamed.suite.cases, suite.cases)
        assert.strictEqual((await send("DELETE", path)).status, 204)
        assert.lengthOf((await gateway.manage("GET", "/api/evals")).suites, 7)
      })
    })
  )
})
