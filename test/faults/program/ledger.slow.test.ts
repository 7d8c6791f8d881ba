/**
 * Budgets and a program that is killed in the middle of its requests: nothing is lost, doubled, overshot or left reserved.
 * `KILL_ROUNDS` sets how often it is killed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"

const adminKey = "admin-key-of-the-program-tests"
const env = { GATEWAY_ADMIN_KEY: adminKey }
const rounds = Number(process.env["KILL_ROUNDS"] ?? 3)
const roundMs = 20_000

const usage = { in: 20, out: 100 }
const oneUsd = 0.00102
/** A budget for ten requests, as they are reserved. */
const roundUsd = 10 * 0.00106
const requestsPerRound = 40

const call = async (program: Program.Program, method: string, path: string, body?: unknown, key = adminKey) => {
  const response = await fetch(program.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, id: response.headers.get("x-gateway-request-id"), text: await response.text() }
}

/** Null when the program was gone before the whole answer was there. */
const ask = (program: Program.Program, secret: string, stream: boolean) =>
  call(
    program,
    "POST",
    "/v1/chat/completions",
    { model: "up/m", max_tokens: 100, stream, messages: [{ role: "user", content: "Hi" }] },
    secret
  ).catch(() => null)

const isWhole = (answer: { readonly status: number; readonly text: string }): boolean =>
  answer.status === 200 && (answer.text.includes("[DONE]") || answer.text.startsWith("{"))

interface Entry {
  readonly requestId: string
  readonly state: string
  readonly settledUsd: number | null
}

describe("killed at any moment", () => {
  it.scopedLive(
    "a budget for ten stays one",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        upstream.always((response, request) =>
          request.body.includes('"stream":true')
            ? Fake.sse(Fake.chatStream(["Hello"], { usage }))(response, request)
            : Fake.json(Fake.chatCompletion({ usage }))(response, request)
        )
        const random = makeSeededRandom(7)
        let program = yield* Program.start(env)
        const json = async (method: string, path: string, body?: unknown) =>
          JSON.parse((await call(program, method, path, body)).text)
        const { keyId, secret } = yield* Effect.promise(async () => {
          const baseUrl = `${upstream.origin}/v1`
          await json("POST", "/api/provider-nodes", { name: "up", prefix: "up", type: "openai-compatible", baseUrl })
          await json("POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
          await json("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
          const made = await json("POST", "/api/keys", { name: "limited" })
          return { keyId: made.key.id as string, secret: made.secret as string }
        })
        const whole = new Set<string>()
        let limitUsd = 0
        for (let round = 0; round < rounds; round += 1) {
          const before = upstream.requests.length
          yield* Effect.promise(async () => {
            const { spentUsd } = await json("GET", `/api/usage/budget?apiKeyId=${keyId}`)
            limitUsd = spentUsd + roundUsd
            await json("POST", "/api/usage/budget", { apiKeyId: keyId, monthlyLimitUsd: limitUsd })
          })
          const running = program
          const asked = Array.from({ length: requestsPerRound }, (_, index) => ask(running, secret, index % 2 === 0))
          yield* Effect.promise(async () => {
            await upstream.received(before + 1 + random.below(9))
            running.signal("SIGKILL")
            await running.ended
            for (const answer of await Promise.all(asked)) {
              if (answer !== null && isWhole(answer)) whole.add(answer.id ?? "")
            }
          })
          program = yield* Program.start(env, running.dataDir)
          yield* Effect.promise(async () => {
            const status = await json("GET", `/api/usage/budget?apiKeyId=${keyId}`)
            assert.strictEqual(status.reservedUsd, 0)
            assert.isAtMost(status.spentUsd, limitUsd + 1e-10)
            // What the upstream has charged in all is never more than was allowed.
            assert.isAtMost(upstream.requests.length * oneUsd, limitUsd + 1e-10)
            const { entries } = (await json("GET", "/api/usage/ledger?limit=1000")) as {
              entries: ReadonlyArray<Entry>
            }
            assert.strictEqual(new Set(entries.map(({ requestId }) => requestId)).size, entries.length)
            assert.isAtLeast(entries.length, upstream.requests.length)
            assert.isTrue(entries.every(({ state }) => state === "settled" || state === "estimated"))
            const states = new Map(entries.map(({ requestId, state }) => [requestId, state]))
            for (const id of whole) assert.strictEqual(states.get(id), "settled")
            const sum = entries.reduce((total, { settledUsd }) => total + (settledUsd ?? 0), 0)
            assert.closeTo(status.spentUsd, sum, 1e-10)
          })
        }
        yield* program.stop
      }),
    rounds * roundMs
  )

  it.scopedLive(
    "brings back no request that was answered, though its row was purged",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        const held = Fake.makeLatch()
        upstream.always(async (response, request) => {
          if (request.body.includes("wait")) await held.opened
          await Fake.json(Fake.chatCompletion({ usage }))(response, request)
        })
        const program = yield* Program.start(env)
        const json = async (running: Program.Program, method: string, path: string, body?: unknown) =>
          JSON.parse((await call(running, method, path, body)).text)
        yield* Effect.promise(async () => {
          const baseUrl = `${upstream.origin}/v1`
          await json(program, "POST", "/api/provider-nodes", {
            name: "up",
            prefix: "up",
            type: "openai-compatible",
            baseUrl
          })
          await json(program, "POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
          await json(program, "PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
          const { key, secret } = await json(program, "POST", "/api/keys", { name: "limited" })
          await json(program, "POST", "/api/usage/budget", { apiKeyId: key.id, monthlyLimitUsd: 1 })
          for (let index = 0; index < 5; index += 1)
            assert.strictEqual((await ask(program, secret, false))?.status, 200)
          const running = call(
            program,
            "POST",
            "/v1/chat/completions",
            { model: "up/m", max_tokens: 100, messages: [{ role: "user", content: "wait" }] },
            secret
          ).catch(() => null)
          await upstream.received(6)
          // Rows that are not in the table yet are not deleted.
          await json(program, "GET", "/api/usage/logs?limit=50")
          const { deleted } = await json(program, "POST", "/api/settings/purge-request-history", {
            before: new Date(Date.now() + 60_000).toISOString()
          })
          assert.strictEqual(deleted, 5)
          program.signal("SIGKILL")
          await program.ended
          await running
        })
        const again = yield* Program.start(env, program.dataDir)
        yield* Effect.promise(async () => {
          const { logs } = await json(again, "GET", "/api/usage/logs?limit=50")
          // The one that was under way, and none of those that were answered.
          assert.deepStrictEqual(
            logs.map(({ error }: { error: string | null }) => error),
            ["gateway_crashed"]
          )
        })
        held.open()
        yield* again.stop
      }),
    60_000
  )
})
