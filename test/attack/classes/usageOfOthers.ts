/** A key that wants to see what others use, and filters that become something else: logs, facets, series and quotas. */
import type { Arena } from "../Arena.ts"
import { answerOf, ask } from "../Asks.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"
import * as Fake from "../../support/FakeUpstream.ts"

interface Scene {
  readonly secret: string
  readonly ownId: string
  /** What an answer to the key must not have: ids and names that are others'. */
  readonly others: ReadonlyArray<string>
  readonly otherId: string
  readonly connectionId: string
  readonly rowId: string
}

const scenes = new WeakMap<Arena, Promise<Scene>>()

/** Two keys, each with a request; that of the other one to a model of a name that shows. */
const sceneOf = (arena: Arena): Promise<Scene> => {
  const known = scenes.get(arena)
  if (known !== undefined) return known
  const made = (async (): Promise<Scene> => {
    const { closed } = arena
    const { prefix } = await arena.node(closed, "chat")
    const connection = await arena.connection(closed, prefix)
    arena.answer(prefix, Fake.json(answerOf("chat")))
    const keyOf = (name: string) => closed.must("POST", "/api/keys", { name: arena.fresh(name) })
    const own = await keyOf("own")
    const other = await keyOf("other")
    for (const [{ secret }, model] of [
      [own, "m"],
      [other, "model-of-the-other"]
    ] as const) {
      const { body, path } = ask("chat", `${prefix}/${model}`)
      const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" }
      await closed.send({ method: "POST", path, headers, body: JSON.stringify(body) })
    }
    const { logs } = await closed.must("GET", `/api/usage/logs?apiKeyId=${other.key.id}`)
    if (logs.length !== 1) throw new Error("the other key has no row")
    return {
      secret: own.secret,
      ownId: own.key.id,
      otherId: other.key.id,
      connectionId: connection.id,
      rowId: logs[0].id,
      others: [other.key.id, "model-of-the-other", other.key.name, connection.id]
    }
  })()
  scenes.set(arena, made)
  return made
}

const ownPaths = ["/api/usage/me/logs", "/api/usage/me/series"]

/** Queries by which rows of others, or accounts, could come into an answer about oneself. */
const tricks: Readonly<Record<string, (scene: Scene) => string>> = {
  nothing: () => "",
  "another key": ({ otherId }) => `apiKeyId=${otherId}`,
  "two keys": ({ otherId, ownId }) => `apiKeyId=${ownId}&apiKeyId=${otherId}`,
  "a list of keys": ({ otherId }) => `apiKeyId[]=${otherId}`,
  "no key": () => "apiKeyId=",
  "all keys": () => "apiKeyId=%25",
  "an account": ({ connectionId }) => `connectionId=${connectionId}`,
  "a text of theirs": () => "search=model-of-the-other",
  "their model": () => "model=model-of-the-other",
  "a statement in a model": () => "model=x'%20OR%201%3D1%20--",
  "a statement in a provider": () => "provider=x')%20OR%20(1%3D1",
  "their row's id": ({ rowId }) => `requestId=${rowId}`,
  "a cursor behind their row": ({ rowId }) => `cursor=${rowId.slice(0, -1)}f`,
  "the order of ends": () => "after=latest",
  "split by key": () => "by=apiKey",
  "split by account": () => "by=connection",
  "an error's words": () => "error=x",
  "a statement in a zone": () => "tz=UTC'%20--",
  "a statement in a step": () => "step=hour'%20--",
  "all statuses": () => "status=1xx&status=2xx",
  "a prototype": () => "__proto__[apiKeyId]=x&constructor=x"
}

const byTrick = pairs(ownPaths, Object.entries(tricks)).map(([path, [name, query]]): Attempt => ({
  name: `${path}: ${name}`,
  run: async (arena) => {
    const scene = await sceneOf(arena)
    const { status, text } = await arena.closed.send({
      path: `${path}?${query(scene)}`,
      headers: { authorization: `Bearer ${scene.secret}` }
    })
    if (status !== 200 && status !== 400) return `it was answered ${status}: ${text.slice(0, 120)}`
    const found = scene.others.find((other) => text.includes(other))
    // A refusal may repeat what the caller has written himself.
    return found === undefined || status === 400 ? null : `the answer has '${found}'`
  }
}))

const foreign = [
  "/api/usage/logs",
  "/api/usage/request-logs",
  "/api/usage/logs/facets",
  "/api/usage/series",
  "/api/usage/breakdown?by=apiKey&and=model",
  "/api/quotas",
  "/api/usage/me/../logs",
  "/api/usage/me/%2e%2e/series",
  "/api/usage/me/logs/../../series",
  "/api//usage/series",
  "/api/usage/series/",
  "/api/usage/me/series/..%2f..%2flogs/facets"
]

const byPath = foreign.map((path): Attempt => ({
  name: `an ordinary key asks ${path}`,
  run: async (arena) => {
    const scene = await sceneOf(arena)
    const { status, text } = await arena.closed.send({ path, headers: { authorization: `Bearer ${scene.secret}` } })
    const found = scene.others.find((other) => text.includes(other))
    if (found !== undefined) return `the answer has '${found}'`
    return status >= 400 && status < 500 ? null : `it was answered ${status}`
  }
}))

const words: Readonly<Record<string, string>> = {
  "a quote and a statement": "x'; DROP TABLE usage_log; --",
  "a union": "x' UNION SELECT value, 1 FROM settings --",
  "a bracket": "x)) OR ((1=1",
  "a null byte": "x\u0000y",
  "a pattern": "%_%\\",
  "ten thousand letters": "x".repeat(10_000),
  "a number that is none": "NaN",
  "no end": "Infinity",
  "an exponent": "1e999",
  negative: "-1",
  "a prototype": "__proto__"
}

const filters: Readonly<Record<string, ReadonlyArray<string>>> = {
  "/api/usage/logs": ["sessionId", "combo", "outcome", "error", "minLatencyMs", "minCostUsd", "cacheHit", "status"],
  "/api/usage/logs/facets": ["sessionId", "error", "model", "provider", "most", "search", "from"],
  "/api/usage/breakdown": ["by", "and", "tz", "top", "from", "to", "model", "combo", "search", "sessionId"],
  "/api/usage/series": ["tz", "by", "step", "top", "from", "to", "model", "combo", "search", "sessionId"]
}

const byFilter = Object.entries(filters).flatMap(([path, names]) =>
  pairs(names, Object.entries(words)).map(([filter, [name, word]]): Attempt => ({
    name: `${path}, ${filter}: ${name}`,
    run: async (arena) => {
      await sceneOf(arena)
      const needed = path === "/api/usage/breakdown" && filter !== "by" ? "by=model&" : ""
      const { status, text } = await arena.closed.manage(
        "GET",
        `${path}?${needed}${filter}=${encodeURIComponent(word)}`
      )
      if (status >= 500) return `${status}: ${text.slice(0, 120)}`
      if (/SQLITE|near "|syntax error/i.test(text)) return `the answer tells: ${text.slice(0, 120)}`
      if (status === 400) return null
      const answer = JSON.parse(text)
      const sums = answer.total?.requests
      const rows = Array.isArray(sums)
        ? sums.reduce((a: number, b: number) => a + b, 0)
        : (sums ?? answer.logs?.length ?? answer.rows)
      const after = await arena.closed.must("GET", "/api/usage/logs?limit=1")
      if (after.logs.length === 0) return "the log is gone"
      // A text may be part of an id.
      return rows === 0 || filter === "search" ? null : `it matched ${rows} rows`
    }
  }))
)

/** Ranges that are to keep the gateway at work. */
const ranges = [
  "from=1970-01-01&step=minute",
  "from=1970-01-01&to=9999-12-31&step=day",
  "from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&step=auto",
  "from=2035-01-01&to=2034-01-01",
  "step=minute&top=1000000",
  "from=-271821-04-20&step=hour",
  `tz=${"Europe/".repeat(1_000)}`
]

const byRange = ranges.map((query): Attempt => ({
  name: `a series of ${query.slice(0, 60)}`,
  run: async (arena) => {
    const begun = performance.now()
    const { status } = await arena.closed.manage("GET", `/api/usage/series?${query}`)
    if (status !== 400 && status !== 414 && status !== 431) return `it was answered ${status}`
    return performance.now() - begun < 5_000 ? null : "the refusal took long"
  }
}))

export const usageOfOthers: AttackClass = {
  name: "usage of others, facets and series",
  atOnce: 4,
  attempts: [...byTrick, ...byPath, ...byFilter, ...byRange]
}
