/** Reports to an issue tracker that speaks GitHub's API, on real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const token = "ghp_planted0token0of0the0tracker0Zz9"
const upstreamKey = "planted upstream key 7f3a9c2e"
const repository = "octo/gateway-issues"

// The tracker of the test is on this machine, which the guard of calls that go out refuses.
const unguarded = new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]])

const created = Fake.json({ number: 42, html_url: "https://github.com/octo/gateway-issues/issues/42" }, { status: 201 })

const setUp = (environment: ReadonlyMap<string, string> = unguarded) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({ environment: new Map(environment) })
    const tracker = yield* Fake.start
    tracker.always(created)
    const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, text, body: JSON.parse(text) }
    }
    const set = (issues: object) => ask("PATCH", "/api/settings", { issues })
    const report = (body: object, path = "/v1/issues/report") => ask("POST", path, body)
    return { gateway, tracker, ask, set, report }
  })

describe("POST /v1/issues/report", () => {
  it.scopedLive("opens an issue with what was said, without any credential", () =>
    Effect.gen(function* () {
      const { gateway, report, set, tracker } = yield* setUp()
      yield* Effect.promise(async () => {
        await gateway.manage("POST", "/api/providers", { provider: "openai", name: "o", apiKey: upstreamKey })
        const { secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
        const registered = await gateway.manage("POST", "/v1/registered-keys", { name: "k", provider: "openai" })
        const saved = await set({ repository, token, apiUrl: `${tracker.origin}/api/v3/` })
        assert.strictEqual(saved.status, 200, saved.text)
        const answer = await report({
          title: `Quota of ${upstreamKey} is used up`,
          body: `It said: Bearer ${String(secret)}, ${String(registered.key)}`,
          details: `${TestGateway.adminKey} and ${encodeURIComponent(upstreamKey)} and sk-proj-abcdefghijklmnop0123`,
          errorCode: "PROVIDER_QUOTA_EXCEEDED",
          provider: "openai",
          accountId: "a-1",
          labels: ["quota", token]
        })
        assert.strictEqual(answer.status, 200, answer.text)
        const url = "https://github.com/octo/gateway-issues/issues/42"
        assert.deepStrictEqual(answer.body, { reported: true, url, number: 42 })
        assert.lengthOf(tracker.requests, 1)
        const sent = await tracker.received(1)
        assert.deepStrictEqual([sent.method, sent.url], ["POST", `/api/v3/repos/${repository}/issues`])
        assert.strictEqual(sent.headers.authorization, `Bearer ${token}`)
        assert.strictEqual(sent.headers.accept, "application/vnd.github+json")
        assert.match(String(sent.headers["user-agent"]), /^gateway\//)
        const issue = JSON.parse(sent.body)
        assert.strictEqual(issue.title, "Quota of [redacted] is used up")
        assert.include(issue.body, "- errorCode: PROVIDER_QUOTA_EXCEEDED\n- provider: openai\n- accountId: a-1")
        assert.deepStrictEqual(issue.labels, ["quota", "[redacted]"])
        const secrets = [upstreamKey, secret, registered.key, TestGateway.adminKey, token, "abcdefghijklmnop0123"]
        for (const planted of secrets) assert.notInclude(sent.body, String(planted))
        assert.strictEqual((await report({ title: "t" }, "/api/v1/issues/report")).status, 200)
      })
    })
  )

  it.scopedLive("names the settings it needs with a 501", () =>
    Effect.gen(function* () {
      const { report, set, tracker } = yield* setUp()
      yield* Effect.promise(async () => {
        const none = await report({ title: "t" })
        assert.strictEqual(none.status, 501, none.text)
        assert.match(none.body.error.message, /issues\.repository.*issues\.token/)
        await set({ repository, apiUrl: tracker.origin })
        const half = await report({ title: "t" })
        assert.strictEqual(half.status, 501)
        assert.match(half.body.error.message, /missing: issues\.token/)
        await set({ token })
        assert.strictEqual((await report({ title: "t" })).status, 200)
        await set({ repository: null })
        assert.strictEqual((await report({ title: "t" })).status, 501)
        assert.lengthOf(tracker.requests, 1)
      })
    })
  )

  it.scopedLive("says what can be done when the tracker refuses, and repeats no token", () =>
    Effect.gen(function* () {
      const { report, set, tracker } = yield* setUp()
      yield* Effect.promise(async () => {
        await set({ repository, token, apiUrl: tracker.origin })
        const failures: ReadonlyArray<readonly [Fake.Answer, RegExp]> = [
          [Fake.json({ message: `Bad credentials: ${token}` }, { status: 401 }), /issues\.token is not valid/],
          [Fake.json({ message: "Not Found" }, { status: 404 }), /issues\.repository was not found.*Not Found/],
          [Fake.json({ message: "Issues are disabled" }, { status: 410 }), /switched off/],
          [Fake.json({}, { status: 503 }), /503.*later/],
          [Fake.json({}, { status: 302, headers: { location: "http://127.0.0.1:1/" } }), /302/],
          [(response) => void response.writeHead(200).end("x".repeat(2_000_000)), /too large/],
          [(response) => void response.socket?.resetAndDestroy(), /cannot be reached/]
        ]
        for (const [answer, words] of failures) {
          tracker.enqueue(answer)
          const failed = await report({ title: "t" })
          assert.strictEqual(failed.status, 502, failed.text)
          assert.match(failed.body.error.message, words)
          assert.notInclude(failed.text, token)
        }
        assert.lengthOf(tracker.requests, failures.length)
      })
    })
  )

  it.scopedLive("refuses what is wrong with its field, and other people", () =>
    Effect.gen(function* () {
      const { ask, gateway, report, set } = yield* setUp()
      yield* Effect.promise(async () => {
        for (const [field, body] of [
          ["title", {}],
          ["title", { title: " " }],
          ["title", { title: "t".repeat(201) }],
          ["details", { title: "t", details: "d".repeat(16_385) }],
          ["labels", { title: "t", labels: Array.from({ length: 11 }, () => "l") }],
          ["url", { title: "t", url: "http://127.0.0.1" }]
        ] as const) {
          const answer = await report(body)
          assert.strictEqual(answer.status, 400, answer.text)
          assert.strictEqual(answer.body.error.param, field, answer.text)
        }
        for (const wrong of ["octo", "octo/", "/x", "octo/..", "octo/a/b", "octo/a b", "octo/a?b", "../x/y"]) {
          const answer = await set({ repository: wrong })
          assert.deepStrictEqual([answer.status, answer.body.error.param], [400, "issues.repository"], wrong)
        }
        const { secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
        const byKey = await ask("POST", "/v1/issues/report", { title: "t" }, { authorization: `Bearer ${secret}` })
        assert.strictEqual(byKey.status, 403)
        assert.strictEqual((await ask("POST", "/v1/issues/report", { title: "t" }, { authorization: "" })).status, 401)
      })
    })
  )
})

describe("the settings of the tracker", () => {
  it.scopedLive("are kept; the token is masked, and stays with its host", () =>
    Effect.gen(function* () {
      const { ask, report, set, tracker } = yield* setUp()
      yield* Effect.promise(async () => {
        const none = { repository: null, token: null, apiUrl: "https://api.github.com" }
        assert.deepStrictEqual((await ask("GET", "/api/settings")).body.issues, none)
        const saved = await set({ repository, token, apiUrl: tracker.origin })
        assert.notInclude(saved.text, token)
        const { issues } = (await ask("GET", "/api/settings")).body
        assert.strictEqual(issues.repository, repository)
        assert.match(issues.token, /…/)
        // What was read may be sent back.
        assert.deepStrictEqual((await set(issues)).body.issues, issues)
        assert.strictEqual((await report({ title: "t" })).status, 200)
        assert.strictEqual((await tracker.received(1)).headers.authorization, `Bearer ${token}`)
        const moved = await set({ apiUrl: "https://elsewhere.example" })
        assert.deepStrictEqual([moved.status, moved.body.error.param], [400, "issues.token"])
        assert.strictEqual((await set({ apiUrl: `${tracker.origin}/api/v3` })).status, 200)
        assert.strictEqual(
          (await set({ apiUrl: "https://elsewhere.example", token: "another-token-0123456789" })).status,
          200
        )
      })
    })
  )

  it.scopedLive("take no address that calls going out may not have", () =>
    Effect.gen(function* () {
      const { set, tracker } = yield* setUp(new Map())
      yield* Effect.promise(async () => {
        for (const apiUrl of [
          tracker.origin,
          "http://169.254.169.254/",
          "http://10.0.0.1",
          "https://u:p@example.com"
        ]) {
          const answer = await set({ repository, token, apiUrl })
          assert.deepStrictEqual([answer.status, answer.body.error.param], [400, "issues.apiUrl"], answer.text)
        }
      })
    })
  )
})
