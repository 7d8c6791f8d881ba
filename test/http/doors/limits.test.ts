/** Every door against every limit and right of an API key, by what reaches the upstream. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { setTimeout as delay } from "node:timers/promises"
import { answering, type Door, type EndpointCaller, doors, type Limit, limits } from "../../support/Doors.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { shared } from "../../support/shared.ts"
import { counted } from "../../support/slowRun.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const times = 4
/** Long enough that calls which may be under way together are. */
const answerMs = 15

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  const gateway = yield* TestGateway.start()
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  upstream.always(async (response, request) => {
    const word = /w\d+x/.exec(request.body + request.url)?.[0] ?? ""
    const now = (running.get(word) ?? 0) + 1
    running.set(word, now)
    most.set(word, Math.max(most.get(word) ?? 0, now))
    await delay(answerMs)
    running.set(word, (running.get(word) ?? 1) - 1)
    await answering(response, request)
  })
  const { manage } = gateway
  yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat")
    await gateway.combo("mix", "up/m")
    await manage("POST", "/api/providers", { provider: "tavily", name: "t", apiKey: "k", baseUrl: upstream.origin })
    await manage("PATCH", "/api/pricing", { up: { m: { input: 100_000, output: 100_000 } } })
    await manage("PATCH", "/api/settings", { a2aEnabled: true, mcpEnabled: true })
  })
  const spare = yield* Effect.promise(() => manage("POST", "/api/keys", { name: "spare" }))
  let words = 0
  const callerOf = async ({ scopes = [] }: Door, settings: object, model: string): Promise<EndpointCaller> => {
    const word = `w${(words += 1)}x`
    const { key, secret } = await manage("POST", "/api/keys", { name: word, scopes })
    // An end that is over is refused when a key is made.
    await manage("PATCH", `/api/keys/${key.id}`, settings)
    return { url: gateway.url, manage, keyId: key.id, secret, spare: spare.secret, model, word }
  }
  const calls = ({ word }: EndpointCaller): number =>
    upstream.requests.filter(({ body, method, url }) => method === "POST" && (body + url).includes(word)).length
  const useUp = async ({ keyId, secret }: EndpointCaller, what: Limit["usedUp"]): Promise<void> => {
    if (what === undefined) return
    const body = { model: "up/m", messages: [{ role: "user", content: "the first" }] }
    const answer = await gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${secret}` })
    assert.strictEqual(answer.status, 200, await answer.text())
    await (what === "budget"
      ? manage("POST", "/api/usage/budget", { apiKeyId: keyId, dailyLimitUsd: 0.5 })
      : manage("POST", "/api/usage/token-limits", {
          apiKeyId: keyId,
          scopeType: "global",
          tokenLimit: 1,
          resetInterval: "daily"
        }))
  }
  const cell = async (door: Door, limit: Limit): Promise<string | null> => {
    const caller = await callerOf(door, limit.settings(door), limit.asksCombo === true ? "mix" : "up/m")
    await useUp(caller, limit.usedUp)
    await (limit.isAtOnce === true ? door.together(caller, times) : door.ask(caller, times))
    const came = calls(caller)
    if (came > limit.allowed) return `${came} of ${limit.allowed} came through`
    // A limit that holds back more than it should is none that was tested.
    if (limit.isAtOnce !== true && came < limit.allowed) return `${came} of ${limit.allowed} only came through`
    const atOnce = most.get(caller.word) ?? 0
    return limit.isAtOnce === true && atOnce !== 1 ? `${atOnce} were under way at once` : null
  }
  return { callerOf, calls, cell }
})

/** A plain run takes a third of the limits for each door, in turn; a slow one takes all. */
const limitsOf = (turn: number): ReadonlyArray<Limit> =>
  counted(
    limits.filter((_, index) => index % 3 === turn % 3),
    limits
  )

/** Each caller has a key and a word of its own. */
const room = shared(setUp)

describe("every limit holds at", () => {
  for (const [turn, door] of doors.entries()) {
    it.scopedLive(
      `${door.name}, ${door.category}`,
      () =>
        Effect.gen(function* () {
          const { callerOf, calls, cell } = room()
          yield* Effect.promise(async () => {
            const free = await callerOf(door, {}, "up/m")
            await door.ask(free, times)
            assert.isAtLeast(calls(free), times, "without a limit")
            const open: Array<string> = []
            for (const limit of limitsOf(turn)) {
              const verdict = limit.holdsFor(door) ? await cell(door, limit) : null
              if (verdict !== null) open.push(`${limit.name}: ${verdict}`)
            }
            assert.deepStrictEqual(open, [])
          })
        }),
      60_000
    )
  }
})
