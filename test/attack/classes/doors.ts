/** A key that may do little or nothing tries every door: more reaches the upstream than its limits and rights let through. */
import { setTimeout as delay } from "node:timers/promises"
import {
  answering,
  type Door,
  type EndpointCaller,
  doors as allDoors,
  type Limit,
  limits
} from "../../support/Doors.ts"
import type * as Fake from "../../support/FakeUpstream.ts"
import type { Arena } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"
import { once } from "../Once.ts"

const times = 4
const answerMs = 15

interface Scene {
  readonly prefix: string
  readonly combo: string
  readonly spare: string
  /** Calls under way at once at most, by the word of their caller. */
  readonly most: ReadonlyMap<string, number>
}

const sceneOf = once(async ({ answer, closed, connection, fresh, node, upstream }: Arena): Promise<Scene> => {
  const { prefix } = await node(closed, "chat")
  await connection(closed, prefix)
  const combo = fresh("doors")
  const { must } = closed
  await must("POST", "/api/combos", { name: combo, strategy: "priority", targets: [{ model: `${prefix}/m` }] })
  const baseUrl = `${upstream.origin}/${prefix}`
  await must("POST", "/api/providers", { provider: "tavily", name: fresh("search"), apiKey: "k", baseUrl })
  await must("PATCH", "/api/pricing", { [prefix]: { m: { input: 100_000, output: 100_000 } } })
  await must("PATCH", "/api/settings", { a2aEnabled: true, mcpEnabled: true })
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const counted: Fake.Answer = async (response, request) => {
    const word = /limited\d+x/.exec(request.body)?.[0] ?? ""
    const now = (running.get(word) ?? 0) + 1
    running.set(word, now)
    most.set(word, Math.max(most.get(word) ?? 0, now))
    await delay(answerMs)
    running.set(word, (running.get(word) ?? 1) - 1)
    await answering(response, request)
  }
  answer(prefix, counted)
  const { secret } = await must("POST", "/api/keys", { name: fresh("spare") })
  return { prefix, combo, spare: secret, most }
})

const useUp = async (
  { closed }: Arena,
  { keyId, model, secret }: EndpointCaller,
  what: Limit["usedUp"]
): Promise<void> => {
  if (what === undefined) return
  const { status } = await closed.send({
    method: "POST",
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "the first" }] })
  })
  if (status !== 200) throw new Error(`the first request was answered ${status}`)
  const limit = { apiKeyId: keyId, scopeType: "global", tokenLimit: 1, resetInterval: "daily" }
  await (what === "budget"
    ? closed.must("POST", "/api/usage/budget", { apiKeyId: keyId, dailyLimitUsd: 0.5 })
    : closed.must("POST", "/api/usage/token-limits", limit))
}

const attempt = (door: Door, limit: Limit): Attempt => ({
  name: `${door.name}, ${door.category}: ${limit.name}`,
  run: async (arena) => {
    const { combo, most, prefix, spare } = await sceneOf(arena)
    const { closed } = arena
    const word = `${arena.fresh("limited")}x`
    const { key, secret } = await closed.must("POST", "/api/keys", { name: word, scopes: door.scopes ?? [] })
    // An end that is over is refused when a key is made.
    await closed.must("PATCH", `/api/keys/${key.id}`, limit.settings(door))
    const caller: EndpointCaller = {
      url: `http://127.0.0.1:${closed.port}`,
      manage: closed.must,
      keyId: key.id,
      secret,
      spare,
      model: limit.asksCombo === true ? combo : `${prefix}/m`,
      word
    }
    await useUp(arena, caller, limit.usedUp)
    await (limit.isAtOnce === true ? door.together(caller, times) : door.ask(caller, times))
    const came = arena.asked(prefix).filter(({ body, url }) => (body + url).includes(word)).length
    if (came > limit.allowed) return `${came} came through where ${limit.allowed} may`
    const atOnce = most.get(word) ?? 0
    return limit.isAtOnce === true && atOnce > 1 ? `${atOnce} were under way at once where one may be` : null
  }
})

export const doors: AttackClass = {
  name: "doors and limits",
  atOnce: 2,
  attempts: pairs(allDoors, limits).flatMap(([door, limit]) => (limit.holdsFor(door) ? attempt(door, limit) : []))
}
