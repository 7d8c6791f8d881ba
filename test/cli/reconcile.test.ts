/** `gateway cost reconcile` by the program: a request through the gateway, a bill that has it, and files that are no bill. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as FakeUpstream from "../support/FakeUpstream.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, run, serve } = program()

const admin = { GATEWAY_ADMIN_KEY: "admin-of-the-test" }
const server: { current: Serving | null } = { current: null }
beforeAll(async () => {
  server.current = await serve({ DATA_DIR: dataDir(), ...admin, OUTBOUND_SSRF_GUARD_ENABLED: "false" })
})
afterAll(async () => {
  assert.strictEqual(await server.current?.stop("SIGTERM"), 0)
})

const url = () => server.current?.url ?? ""
const operate = (...args: ReadonlyArray<string>) => run(args, { DATA_DIR: dataDir(), GATEWAY_URL: url(), ...admin })

const send = async (method: "PATCH" | "POST", path: string, body: unknown) => {
  const answer = await fetch(url() + path, {
    method,
    headers: { authorization: `Bearer ${admin.GATEWAY_ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  assert.isTrue(answer.ok, await answer.text())
}

const dayMs = 86_400_000

const bill = (name: string, results: ReadonlyArray<readonly [item: string, usd: number]>): string => {
  const file = join(dataDir(), name)
  const startMs = Math.floor(Date.now() / dayMs) * dayMs
  const bucket = {
    object: "bucket",
    start_time: startMs / 1000,
    results: results.map(([item, value]) => ({ amount: { value, currency: "usd" }, line_item: item }))
  }
  writeFileSync(file, JSON.stringify({ object: "page", data: [bucket], has_more: false }))
  return file
}

describe("gateway cost reconcile", () => {
  it.live("shows a bill beside what was booked, as a table, csv and JSON", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const upstream = yield* FakeUpstream.start
        const answer = FakeUpstream.chatCompletion()
        upstream.always(FakeUpstream.json({ ...answer, usage: { prompt_tokens: 1_000, completion_tokens: 100 } }))
        yield* Effect.promise(async () => {
          const node = { name: "one", prefix: "one", type: "openai-compatible", baseUrl: `${upstream.origin}/v1` }
          await send("POST", "/api/provider-nodes", node)
          await send("POST", "/api/providers", { provider: "one", name: "one", apiKey: "sk-test-0123456789" })
          await send("PATCH", "/api/pricing", { one: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.0375 } } })
          const messages = [{ role: "user", content: "hello" }]
          await send("POST", "/v1/chat/completions", { model: "one/gpt-4o-mini", messages })
          await send("POST", "/v1/chat/completions", { model: "one/gpt-unknown", messages })

          const file = bill("bill.json", [
            ["gpt-4o-mini-2024-07-18, input", 0.000_15],
            ["gpt-4o-mini-2024-07-18, output", 0.000_06],
            ["gpt-unknown, input", 0.5],
            ["web search tool calls", 0.01]
          ])
          const { code, stderr, stdout } = await operate("cost", "reconcile", file, "--provider", "one")
          assert.strictEqual(code, 0, stderr)
          const lines = stdout.trimEnd().split("\n")
          assert.match(lines[0] ?? "", /^DAY +MODEL +BILLED +LEDGER +DIFFERENCE +CALLS +WHY$/)
          assert.match(stdout, /gpt-unknown +0\.500000 +0\.00 +0\.500000 +1 +1 call without a known price, booked as 0/)
          assert.match(stdout, /web search tool calls +0\.010000 +0\.00 +0\.010000 +0 +not through this gateway/)
          assert.match(stdout, /gpt-4o-mini +0\.000210 +0\.000210 +0\.00 +1/)
          assert.include(stderr, "in UTC: 0.510210 USD billed, 0.000210 USD in the ledger for 'one'")

          const json = await operate("costs", "check", file, "--provider", "one", "--json")
          const found = JSON.parse(json.stdout)
          assert.closeTo(found.total.differenceUsd, 0.51, 1e-10)
          const [unpriced] = found.days
          assert.strictEqual(unpriced.reasons[0].reason, "unpriced")
          const [request = ""] = unpriced.reasons[0].requestIds
          const decision = await operate("route", "decision", request, "--json")
          assert.strictEqual(decision.code, 0, decision.stderr)
          const csv = await operate("cost", "reconcile", file, "--provider", "one", "-o", "csv")
          assert.include(csv.stdout, "gpt-4o-mini")
          assert.include((await operate("cost", "--range", "24h")).stdout, "one/gpt-4o-mini")
        })
      })
    )
  )

  it("ends with 2 and a sentence for a file that is no bill", async () => {
    const cut = join(dataDir(), "cut.csv")
    writeFileSync(cut, "usage_date_utc,model,cost_usd\n2026-09-19,m,1\n2026-09")
    const picture = join(dataDir(), "picture.png")
    writeFileSync(picture, Buffer.from("89504e470d0a1a0a0000000d", "hex"))
    for (const [file, problem] of [
      [cut, "is cut short"],
      [picture, "is no text"],
      [join(dataDir(), "none.json"), "cannot be read"]
    ] as const) {
      const { code, stderr, stdout } = await operate("cost", "reconcile", file)
      assert.deepStrictEqual([code, stdout], [2, ""], file)
      assert.include(stderr, `'${file}' ${problem}`)
    }
  })
})
