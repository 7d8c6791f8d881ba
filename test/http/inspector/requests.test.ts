/** The captured requests of a running gateway: lists, views, notes, exports, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventuallyFound } from "../../support/eventually.ts"
import { aRecord, type Answer, chatBody, start } from "./support.ts"

const ids = ({ requests }: Answer): ReadonlyArray<string> => requests.map(({ id }: Answer) => id)

describe("captured requests", () => {
  it.scopedLive("are handed in with the token only, and updated by a second call with the id", () =>
    Effect.gen(function* () {
      const { ask, captured, handIn, json, refused } = yield* start()
      yield* Effect.promise(async () => {
        const refusals = [undefined, "Bearer wrong-token-of-the-tests", "Bearer admin-key-of-the-tests-0123456789"]
        for (const authorization of refusals) {
          const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
          assert.deepStrictEqual(await refused("POST", "/internal/ingest", aRecord(), headers), [403, "ingest_token"])
        }
        const first = await handIn(aRecord({ status: "in-flight", responseBody: null, responseSize: 0 }))
        assert.deepStrictEqual([first.status, await first.json()], [200, { ok: true, id: "r1" }])
        await eventuallyFound("the record in flight", async () => {
          const { requests } = await json("GET", "/requests")
          return requests.find(({ status }: Answer) => status === "in-flight")
        })
        // As it was given out, with all its members.
        const shown = await captured({ contextKey: null, llm: null, decision: null, bodyEvicted: false })
        assert.deepInclude(shown, { id: "r1", status: 200, responseSize: 200, detectedKind: "llm" })
        assert.deepInclude(shown.llm, { model: "gpt-4o-mini", tokensIn: 20, tokensOut: 2 })
        assert.strictEqual(shown.requestHeaders.authorization, "Bearer ***b1Nc")
        const again = await captured({ status: 500, responseBody: "{}" })
        assert.strictEqual(again.responseBody, "{}")
        assert.deepStrictEqual(ids(await json("GET", "/requests")), ["r1"])
        for (const wrong of [{ id: "" }, { source: "nowhere" }, { requestSize: -1 }, { status: 42 }, { id: "a b" }]) {
          const answer = await handIn(aRecord(wrong))
          assert.strictEqual(answer.status, 400, JSON.stringify(wrong))
          await answer.arrayBuffer()
        }
        // As it was given out, with every member it has; and with one that no record has.
        const { detectedKind, ...given } = await json("GET", "/requests/r1")
        assert.strictEqual(detectedKind, "llm")
        assert.strictEqual((await handIn({ ...given, detectedKind })).status, 200)
        const excess = await handIn(aRecord({ detectedKnd: "llm" }))
        assert.strictEqual(excess.status, 400)
        assert.include(await excess.text(), "did you mean 'detectedKind'?")
        const { host: _, ...without } = aRecord()
        assert.strictEqual((await handIn(without)).status, 400)
        const { status, body } = await ask("GET", "/requests/r1?showSecrets=true").then(async (answer) => ({
          status: answer.status,
          body: await answer.text()
        }))
        assert.strictEqual(status, 200)
        assert.notInclude(body, "f7Gh2kLm9Qw4Zx8V")
      })
    })
  )

  it.scopedLive("are refused without a token in the environment, or with a short one", () =>
    Effect.gen(function* () {
      const { refused } = yield* start({}, { INSPECTOR_INTERNAL_INGEST_TOKEN: "short" })
      yield* Effect.promise(async () => {
        const headers = { authorization: "Bearer short" }
        assert.deepStrictEqual(await refused("POST", "/internal/ingest", aRecord(), headers), [403, "ingest_token"])
      })
    })
  )

  it.scopedLive("have a bounded number of headers", () =>
    Effect.gen(function* () {
      const { captured, handIn, json } = yield* start()
      yield* Effect.promise(async () => {
        const headersOf = (count: number, value = "v") =>
          Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, value]))
        for (const side of ["requestHeaders", "responseHeaders"]) {
          for (const headers of [
            headersOf(1_001),
            headersOf(50_000),
            { x: "v".repeat(65_536) },
            headersOf(100, "v".repeat(700))
          ]) {
            const answer = await handIn(aRecord({ [side]: headers }))
            assert.strictEqual(answer.status, 400, side)
            assert.include(await answer.text(), side)
          }
        }
        await captured({ id: "many", requestHeaders: headersOf(1_000) })
        assert.strictEqual(Object.keys((await json("GET", "/requests/many")).requestHeaders).length, 1_000)
      })
    })
  )

  it.scopedLive("of a custom host have the kind that was chosen when it was added", () =>
    Effect.gen(function* () {
      const { captured, json } = yield* start()
      yield* Effect.promise(async () => {
        await json("POST", "/hosts", { host: "intern.example", kind: "app", enabled: false })
        await json("POST", "/hosts", { host: "models.example", kind: "llm", enabled: false })
        const kindOf = async (id: string, host: string, detectedKind?: string) => {
          await captured({ id, source: "custom-host", host, ...(detectedKind === undefined ? {} : { detectedKind }) })
          return (await json("GET", `/requests/${id}`)).detectedKind
        }
        assert.strictEqual(await kindOf("a", "intern.example"), "app")
        assert.strictEqual(await kindOf("b", "models.example", "custom"), "llm")
        assert.strictEqual(await kindOf("c", "other.example"), "custom")
        assert.strictEqual(await kindOf("d", "other.example", "app"), "app")
      })
    })
  )

  it.scopedLive("are filtered by process, pid and context; a query that a route has not is refused by its name", () =>
    Effect.gen(function* () {
      const { ask, captured, json } = yield* start()
      yield* Effect.promise(async () => {
        const { contextKey } = await captured({ id: "a", pid: 4_711, processName: "node" })
        await captured({ id: "b", pid: 4_712, processName: "ruby", requestBody: chatBody("Hi", "Be long.") })
        assert.match(contextKey, /^[0-9a-f]{12}$/)
        for (const query of ["process=NOD", "pid=4711", `contextKey=${contextKey}`]) {
          assert.deepStrictEqual(ids(await json("GET", `/requests?${query}`)), ["a"], query)
          for (const file of ["har", "jsonl"]) {
            const text = await (await ask("GET", `/export.${file}?${query}`)).text()
            assert.deepStrictEqual([text.includes("4711"), text.includes("4712")], [true, false], `${file} ${query}`)
          }
        }
        const routes: ReadonlyArray<readonly [method: string, path: string]> = [
          ["GET", "/requests?proces=node"],
          ["GET", "/requests?host=a&Host=b"],
          ["GET", "/requests/a?secrets=true"],
          ["GET", "/requests/a/conversation?x=1"],
          ["GET", "/export.har?limit=3"],
          ["GET", "/cache-breaks?untl=1"],
          ["GET", "/capture-modes?all=1"],
          ["GET", "/sessions?state=saved"],
          ["GET", "/hosts?kind=llm"],
          ["DELETE", "/requests?host=a"]
        ]
        for (const [method, path] of routes) {
          const answer = await ask(method, path)
          assert.strictEqual(answer.status, 400, path)
          const name = /[?&](\w+)=\w+$/.exec(path)?.[1] ?? ""
          assert.include(await answer.text(), name)
        }
        assert.strictEqual((await ask("GET", "/requests?pid=node")).status, 400)
        // Nothing was cleared.
        assert.strictEqual((await json("GET", "/requests")).total, 2)
      })
    })
  )

  it.scopedLive(
    "that a provider refused are no turn, cost nothing, and have the reason; a duration that was not told is null",
    () =>
      Effect.gen(function* () {
        const { captured, json } = yield* start()
        yield* Effect.promise(async () => {
          const bodies = [
            { error: { type: "overloaded_error", message: "Overloaded, sk-proj-4f8Gh2kLm9Qw4Zx8Vb1NcPq7Rt5" } },
            { error: "Overloaded" },
            { message: "Overloaded" }
          ]
          for (const [at, refusal] of bodies.entries()) {
            const id = `refused-${at}`
            const { totalLatencyMs, llm } = await captured({
              id,
              status: 429,
              responseBody: JSON.stringify(refusal),
              totalLatencyMs: undefined
            })
            assert.isNull(totalLatencyMs)
            assert.deepInclude(llm, { costEstimateUsd: 0, tokensOut: null, tokensPerSecond: null })
            const { requests } = await json("GET", "/requests")
            assert.match(requests[0].error, /^Overloaded/)
            assert.notInclude(requests[0].error, "4f8Gh2kLm9Qw")
            const { error, response } = await json("GET", `/requests/${id}/conversation`)
            assert.deepStrictEqual(response, [])
            assert.match(error, /^Overloaded/)
          }
          const good = await captured({ id: "good", totalLatencyMs: null })
          assert.isAbove(good.llm.costEstimateUsd, 0)
          assert.deepInclude(good, { error: null, totalLatencyMs: null })
        })
      })
  )

  it.scopedLive("are there as soon as they were handed in, in flight, updated and ended", () =>
    Effect.gen(function* () {
      const { handIn, json } = yield* start()
      yield* Effect.promise(async () => {
        for (let at = 0; at < 20; at += 1) {
          const id = `r-${at}`
          const under = await handIn(aRecord({ id, status: "in-flight", responseBody: null, responseSize: 0 }))
          assert.strictEqual(under.status, 200)
          assert.strictEqual((await json("GET", `/requests/${id}`)).status, "in-flight")
          await handIn(aRecord({ id, responseBody: "x".repeat(at * 20_000) }))
          assert.deepInclude(await json("GET", `/requests/${id}`), { status: 200, responseSize: 200 })
        }
      })
    })
  )

  it.scopedLive("are one line where a prompt is asked again after failures, which opens", () =>
    Effect.gen(function* () {
      const { captured, json, refused } = yield* start()
      yield* Effect.promise(async () => {
        const at = (second: number): string => `2026-11-24T10:00:0${second}.000Z`
        const overloaded = { status: 529, responseBody: '{"error":{"message":"Overloaded"}}' }
        await captured({ id: "a", timestamp: at(0), ...overloaded })
        await captured({ id: "b", timestamp: at(1), ...overloaded, requestBody: chatBody("Another") })
        await captured({ id: "c", timestamp: at(2), status: "error", responseBody: null, error: "timeout" })
        await captured({ id: "d", timestamp: at(3) })

        const lines = await json("GET", "/requests?retries=together")
        assert.deepStrictEqual([ids(lines), lines.total], [["d", "b"], 2])
        assert.deepInclude(lines.requests[0], { attempt: 3, retryOf: "a" })
        assert.deepInclude(lines.requests[1], { attempt: 1, retryOf: null })
        assert.deepStrictEqual(ids(await json("GET", "/requests")), ["d", "c", "b", "a"])
        assert.deepStrictEqual(ids(await json("GET", "/requests?retryOf=c")), ["d", "c", "a"])
        assert.deepStrictEqual(ids(await json("GET", "/requests?retries=together&status=5xx")), ["b", "a"])
        assert.deepInclude(await json("GET", "/requests/c"), { attempt: 2, retryOf: "a" })
        const { attempts } = await json("GET", "/requests/d/conversation")
        assert.deepStrictEqual(
          attempts.map(({ attempt, error, id, status }: Answer) => [attempt, id, status, error]),
          [
            [1, "a", 529, "Overloaded"],
            [2, "c", "error", "timeout"],
            [3, "d", 200, null]
          ]
        )
        assert.notProperty(await json("GET", "/requests/b/conversation"), "attempts")
        assert.strictEqual((await refused("GET", "/requests?retries=some"))[0], 400)
      })
    })
  )

  it.scopedLive("are grouped by their system prompt", () =>
    Effect.gen(function* () {
      const { captured, json, refused } = yield* start()
      yield* Effect.promise(async () => {
        const at = (second: number): string => `2026-11-24T10:00:0${second}.000Z`
        const one = await captured({ id: "a", timestamp: at(0) })
        await captured({ id: "b", timestamp: at(1), requestBody: chatBody("Hi", "Be long.") })
        await captured({ id: "c", timestamp: at(2), status: 500 })
        await captured({ id: "d", timestamp: at(3), requestBody: "{}", path: "/x", host: "intern.example" })
        const { groups, total } = await json("GET", "/requests?groupBy=contextKey&limit=1")
        assert.strictEqual(total, 4)
        assert.deepStrictEqual(
          groups.map(({ failed, lastId, requests }: Answer) => [lastId, requests, failed]),
          [
            ["d", 1, 0],
            ["c", 2, 1],
            ["b", 1, 0]
          ]
        )
        assert.deepInclude(groups[1], {
          contextKey: one.contextKey,
          tokensOut: 2,
          models: ["gpt-4o-mini"],
          firstAt: at(0),
          lastAt: at(2)
        })
        assert.closeTo(groups[1].costUsd, one.llm.costEstimateUsd, 1e-12)
        assert.isNull(groups[0].contextKey)
        const ofOne = await json("GET", `/requests?groupBy=contextKey&contextKey=${one.contextKey}`)
        assert.deepStrictEqual([ids(ofOne), ofOne.groups.length], [["c", "a"], 1])
        assert.notProperty(await json("GET", "/requests"), "groups")
        assert.strictEqual((await refused("GET", "/requests?groupBy=host"))[0], 400)
      })
    })
  )

  it.scopedLive("are listed by filters and in pages, and rotate out", () =>
    Effect.gen(function* () {
      const { captured, json, refused } = yield* start({}, { INSPECTOR_BUFFER_SIZE: "4" })
      yield* Effect.promise(async () => {
        await captured({ id: "gone" })
        await captured({ id: "a", host: "api.anthropic.com", agent: "kiro" })
        await captured({ id: "b", requestBody: chatBody("A needle in the hay") })
        await captured({
          id: "c",
          status: 503,
          source: "custom-host",
          host: "intern.example",
          path: "/x",
          requestBody: "{}"
        })
        await captured({ id: "d", status: "error", responseBody: null, error: "timeout" })
        assert.deepStrictEqual(await refused("GET", "/requests/gone"), [404, "not_found"])
        for (const view of ["conversation", "anatomy", "diff/a", "cache", "export?format=curl"]) {
          assert.deepStrictEqual(await refused("GET", `/requests/gone/${view}`), [404, "not_found"], view)
        }
        assert.deepStrictEqual(await refused("PUT", "/requests/gone/annotation", { annotation: "x" }), [
          404,
          "not_found"
        ])
        const listed = async (query: string) => ids(await json("GET", `/requests?${query}`))
        assert.deepStrictEqual(await listed(""), ["d", "c", "b", "a"])
        assert.deepStrictEqual(await listed("q=NEEDLE"), ["b"])
        assert.deepStrictEqual(await listed("host=anthropic"), ["a"])
        assert.deepStrictEqual(await listed("agent=kiro"), ["a"])
        assert.deepStrictEqual(await listed("status=5xx"), ["c"])
        assert.deepStrictEqual(await listed("status=error"), ["d"])
        assert.deepStrictEqual(await listed("profile=custom"), ["c"])
        assert.deepStrictEqual(await listed("profile=llm&model=4o-mini"), ["d", "b", "a"])
        assert.deepStrictEqual(await listed("source=custom-host"), ["c"])
        assert.strictEqual((await json("GET", "/requests/c")).detectedKind, "custom")
        const page = await json("GET", "/requests?limit=3")
        assert.deepStrictEqual([ids(page), page.total], [["d", "c", "b"], 4])
        const next = await json("GET", `/requests?limit=3&cursor=${page.nextCursor}`)
        assert.deepStrictEqual([ids(next), next.nextCursor], [["a"], null])
        for (const member of ["requestHeaders", "requestBody", "responseHeaders", "responseBody", "decision"]) {
          assert.notProperty(page.requests[0], member)
        }
        for (const query of ["cursor=%21", "limit=0", "limit=1001", "profile=none", "status=6xx", "source=me"]) {
          assert.deepStrictEqual((await refused("GET", `/requests?${query}`))[0], 400, query)
        }
        assert.isNull(await json("DELETE", "/requests"))
        assert.deepStrictEqual(await json("GET", "/requests"), { requests: [], total: 0, nextCursor: null })
      })
    })
  )

  it.scopedLive("are shown as conversation, anatomy, difference and program", () =>
    Effect.gen(function* () {
      const { ask, captured, json, refused } = yield* start()
      yield* Effect.promise(async () => {
        const one = await captured({ id: "one" })
        await captured({ id: "two", requestBody: chatBody("Hi", "Be long.") })
        await captured({ id: "text", requestBody: "no JSON" })
        await captured({ id: "large", requestBody: chatBody("One more word. ".repeat(20_000)) })
        const conversation = await json("GET", "/requests/one/conversation")
        assert.deepStrictEqual(conversation, {
          request: [
            { role: "system", blocks: [{ type: "text", text: "Be brief." }] },
            { role: "user", blocks: [{ type: "text", text: "Hi" }] }
          ],
          response: [{ role: "assistant", blocks: [{ type: "text", text: "Hello" }] }],
          contextKey: one.contextKey
        })
        const anatomy = await json("GET", "/requests/one/anatomy")
        assert.strictEqual(
          anatomy.sections.reduce((sum: number, { bytes }: Answer) => sum + bytes, 0),
          Buffer.byteLength(chatBody("Hi"))
        )
        assert.deepStrictEqual(
          anatomy.sections.map(({ kind, path }: Answer) => `${kind} ${path}`),
          ["system messages[0]", "message messages[1]", "parameters model"]
        )
        const large = await json("GET", "/requests/large/anatomy")
        assert.isAbove(large.totalTokens, 1_000)
        assert.deepStrictEqual((await json("GET", "/requests/text/anatomy")).sections, [])
        const diff = await json("GET", "/requests/one/diff/two")
        assert.isFalse(diff.equal)
        assert.strictEqual(diff.changes[0].path, "messages[0].content")
        assert.match(diff.commonPrefix.firstDifference, /^messages\[0\]/)
        assert.deepStrictEqual(await refused("GET", "/requests/one/diff/text"), [409, "not_comparable"])
        assert.deepStrictEqual(await refused("GET", "/requests/one/diff/none"), [404, "not_found"])
        for (const format of ["curl", "python", "typescript"]) {
          const program = await (await ask("GET", `/requests/one/export?format=${format}`)).text()
          assert.include(program, "GATEWAY_API_KEY")
          assert.notInclude(program, "f7Gh2kLm")
        }
        assert.deepStrictEqual((await refused("GET", "/requests/one/export?format=perl"))[0], 400)
        const noted = await json("PUT", "/requests/one/annotation", { annotation: "ä".repeat(10_000) })
        assert.strictEqual(noted.annotation.length, 10_000)
        assert.strictEqual((await json("GET", "/requests?q=ää")).total, 1)
        assert.strictEqual(
          (await refused("PUT", "/requests/one/annotation", { annotation: "x".repeat(10_001) }))[0],
          400
        )
        assert.strictEqual((await refused("PUT", "/requests/one/annotation", { note: "x" }))[0], 400)
        assert.isNull((await json("PUT", "/requests/one/annotation", { annotation: null })).annotation)
      })
    })
  )

  it.scopedLive("are exported as an archive and as lines, by the same filters", () =>
    Effect.gen(function* () {
      const { ask, captured, json } = yield* start()
      yield* Effect.promise(async () => {
        await captured({ id: "one", timestamp: "2026-11-24T10:00:00.000Z" })
        await captured({ id: "two", status: "error", responseBody: null, error: "reset" })
        const har = await ask("GET", "/export.har")
        assert.strictEqual(har.headers.get("content-type"), "application/har+json")
        const { log }: Answer = await har.json()
        assert.deepStrictEqual(
          log.entries.map((entry: Answer) => [entry._gatewayId, entry.response.status]),
          [
            ["one", 200],
            ["two", 0]
          ]
        )
        const lines = (await (await ask("GET", "/export.jsonl?status=2xx")).text()).trimEnd().split("\n")
        assert.deepStrictEqual(
          lines.map((line) => JSON.parse(line).id),
          ["one"]
        )
        assert.deepStrictEqual((await json("GET", "/export.har?status=4xx")).log.entries, [])
      })
    })
  )

  it.scopedLive("tell who broke the prompt cache", () =>
    Effect.gen(function* () {
      const { captured, json } = yield* start()
      const long = "All work and no play makes Jack a dull boy. ".repeat(600)
      const call = (id: string, system: string, second: number, cached: number) => ({
        id,
        timestamp: `2026-11-24T10:00:${String(second).padStart(2, "0")}.000Z`,
        requestBody: chatBody("Hi", system),
        responseBody: JSON.stringify({
          id,
          object: "chat.completion",
          model: "gpt-4o-mini",
          choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
          usage: {
            prompt_tokens: 6_010,
            completion_tokens: 2,
            total_tokens: 6_012,
            prompt_tokens_details: { cached_tokens: cached }
          }
        })
      })
      const judged = (id: string) =>
        eventuallyFound(`the verdict of ${id}`, async () => {
          const { cache } = await json("GET", `/requests/${id}/cache`)
          return cache.verdict === "unknown" ? undefined : cache
        })
      yield* Effect.promise(async () => {
        await captured(call("first", long, 1, 0))
        assert.strictEqual((await judged("first")).verdict, "first")
        await captured(call("second", long, 2, 5_888))
        assert.deepInclude(await judged("second"), { verdict: "hit", cause: null })
        await captured(call("third", `${long.slice(0, 20_000)} It is 10:00. ${long.slice(20_000)}`, 3, 0))
        const broken = await judged("third")
        assert.deepInclude(broken.cause, { by: "client", rule: "system_changed" })
        assert.strictEqual(broken.comparedWith, "second")
        const breaks = await json("GET", "/cache-breaks")
        assert.deepStrictEqual(
          breaks.breaks.map(({ requestId }: Answer) => requestId),
          ["third"]
        )
        assert.strictEqual(breaks.lostTokens, broken.lostTokens)
        assert.isAbove(breaks.lostTokens, 4_000)
        const later = await json("GET", "/cache-breaks?since=2026-11-24T11:00:00Z")
        assert.deepStrictEqual(later, { breaks: [], lostTokens: 0, lostUsd: 0 })
        await captured({ id: "other", path: "/pixel.gif", host: "cdn.example", requestBody: null, method: "GET" })
        assert.deepInclude((await json("GET", "/requests/other/cache")).cache, { verdict: "unknown", lostTokens: 0 })
      })
    })
  )

  it.scopedLive("come by ways that can be asked for, of which the gateway's own traffic is off at first", () =>
    Effect.gen(function* () {
      const { json, refused } = yield* start()
      yield* Effect.promise(async () => {
        const modes = await json("GET", "/capture-modes")
        assert.deepStrictEqual(modes.gateway, { enabled: false, recorded: 0, bodiesLost: 0, behindMs: 0, waiting: 0 })
        assert.hasAllKeys(modes, [
          "agentBridge",
          "customHosts",
          "httpProxy",
          "systemProxy",
          "tlsIntercept",
          "gateway",
          "tproxy",
          "mitm"
        ])
        assert.deepStrictEqual(await json("POST", "/capture-modes/gateway", { enabled: true }), {
          ok: true,
          gateway: { enabled: true }
        })
        const { gateway } = await json("GET", "/capture-modes")
        assert.deepStrictEqual(gateway, { enabled: true, recorded: 0, bodiesLost: 0, behindMs: 0, waiting: 0 })
        assert.strictEqual((await refused("POST", "/capture-modes/gateway", { enabled: "yes" }))[0], 400)
      })
    })
  )
})
