/**
 * What was sent of a session is sent again as it was: whatever is switched on, each request begins as the one before it ended, so that the
 * provider's prompt cache finds it. Compared byte by byte where the client's wire is the upstream's, and as items without marks elsewhere.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../src/contract/domain/Wire.ts"
import { changedPrefixes, promptOf } from "../http/inference/turns/PromptCache.ts"
import { answerOf } from "../http/inference/turns/Upstreams.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { bodyOf, type Json, pathOf, requests, systemChangesAt } from "./Session.ts"
import { everything, type Switch, switches } from "./Switches.ts"

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

/** Clients that mark their turns themselves. */
const marking: ReadonlySet<WireName> = new Set(["messages", "chat"])

/** A text alone is the same as a list with it as its one block, and marks move from turn to turn. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).flatMap(([key, member]): ReadonlyArray<readonly [string, unknown]> => {
    if (key === "cache_control") return []
    if (key !== "content" && key !== "system") return [[key, plain(member)]]
    return [[key, typeof member === "string" ? [{ type: "text", text: member }] : plain(member)]]
  })
  return Object.fromEntries(members)
}

const itemBreaks = (wire: WireName, bodies: ReadonlyArray<string>) =>
  changedPrefixes(bodies.map((body) => promptOf(wire, plain(JSON.parse(body)) as Json)))

/** The conversation stands last: all of a body but the end of its last member. */
const withoutEnd = (body: string): string => {
  assert.isTrue(body.endsWith("]}"), body.slice(-40))
  return body.slice(0, -2)
}

const byteBreaks = (bodies: ReadonlyArray<string>): ReadonlyArray<number> =>
  bodies.flatMap((body, at) => {
    const before = bodies[at - 1]
    return before === undefined || body.startsWith(withoutEnd(before)) ? [] : [at]
  })

interface Play {
  readonly client: WireName
  readonly upstream: WireName
  readonly isMarked: boolean
}

const played = async (gateway: TestGateway.TestGateway, upstream: Fake.FakeUpstream, on: Switch, play: Play) => {
  const model = `up-${play.upstream}/m`
  const first = upstream.requests.length
  for (let request = 0; request < requests; request += 1) {
    const body = bodyOf(play.client, model, request, play.isMarked)
    const response = await gateway.post(pathOf(play.client, model), body, { "x-session-id": JSON.stringify(play) })
    const text = await response.text()
    assert.strictEqual(response.status, 200, `request ${request}: ${text}`)
    await on.between?.(gateway, request)
  }
  return upstream.requests.slice(first).map(({ body }) => body)
}

const compared = (name: string, on: Switch, play: Play, sent: ReadonlyArray<string>): void => {
  const what = `${name}, ${play.client} to ${play.upstream}${play.isMarked ? " with marks" : ""}`
  assert.lengthOf(sent, requests, what)
  // Marks are in the way of a comparison of bytes only.
  if (play.client === play.upstream && !play.isMarked && on.marks !== true) {
    assert.deepStrictEqual(byteBreaks(sent), [systemChangesAt], `${what}: bytes`)
  }
  const breaks = itemBreaks(play.upstream, sent)
  assert.deepStrictEqual(
    breaks.map(({ turn }) => turn),
    [systemChangesAt],
    `${what}: ${JSON.stringify(breaks).slice(0, 2000)}`
  )
  if (on.shows !== undefined) assert.match(sent.at(-1) ?? "", on.shows, what)
}

/** In its own wire; with its own marks; and to a wire that its words have to be translated for. */
const plays: ReadonlyArray<Play> = wires.flatMap((client, at) => [
  { client, upstream: client, isMarked: false },
  ...(marking.has(client) ? [{ client, upstream: client, isMarked: true }] : []),
  { client, upstream: wires[(at + 1) % wires.length] ?? client, isMarked: false }
])

const session = (name: string, on: Switch, taken: ReadonlyArray<Play>) =>
  it.scopedLive(
    name,
    () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start({ environment: new Map(Object.entries(on.flags ?? {})) })
        const upstreams = new Map<WireName, Fake.FakeUpstream>()
        for (const wire of wires) {
          const upstream = yield* Fake.start
          upstream.always(answerOf(wire, 0, false))
          upstreams.set(wire, upstream)
        }
        yield* Effect.promise(async () => {
          for (const [wire, upstream] of upstreams) await gateway.connect(`up-${wire}`, upstream, wire)
          await on.on(gateway)
          for (const play of taken) {
            const upstream = upstreams.get(play.upstream)
            assert.isDefined(upstream)
            if (upstream !== undefined) compared(name, on, play, await played(gateway, upstream, on, play))
          }
        })
      }),
    120_000
  )

describe("a session of twenty requests is sent as it was, with", () => {
  for (const [name, on] of Object.entries(switches)) session(name, on, plays)
  session("everything", everything, plays)
})
