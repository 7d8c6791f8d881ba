/** Somebody uses an administrator's session where models are asked, acts with a key that is not his, or looks at the requests of others. */
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { routes } from "../../../src/contract/Routes.ts"
import { adminKey, type Arena, type Gateway } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"

type Headers = Readonly<Record<string, string>>

interface Session {
  readonly cookie: Headers
  readonly csrf: Headers
}

const ownerToken = ({ program }: Gateway): string =>
  JSON.parse(readFileSync(join(program.dataDir, "owner-token.json"), "utf8")).token

const sessions = new Map<number, Promise<Session>>()

/** A session of the gateway's owner, made once. */
const sessionOf = (gateway: Gateway): Promise<Session> => {
  const known = sessions.get(gateway.port)
  if (known !== undefined) return known
  const made = (async () => {
    const json = { "content-type": "application/json" }
    const code = await gateway.send({
      method: "POST",
      path: "/api/auth/codes",
      headers: { ...json, authorization: `Bearer ${ownerToken(gateway)}` },
      body: "{}"
    })
    const exchanged = await gateway.send({
      method: "POST",
      path: "/api/auth/codes/exchange",
      headers: json,
      body: JSON.stringify({ code: JSON.parse(code.text).code })
    })
    const cookie = String([exchanged.headers["set-cookie"]].flat()[0] ?? "").split(";")[0] ?? ""
    if (cookie === "") throw new Error(`no session: ${exchanged.status} ${exchanged.text}`)
    return { cookie: { cookie }, csrf: { "x-csrf-token": String(JSON.parse(exchanged.text).csrfToken) } }
  })()
  sessions.set(gateway.port, made)
  return made
}

const keys = new Map<string, Promise<{ readonly id: string; readonly bearer: Headers }>>()

/** A key of a gateway with these settings, made once. */
const keyOf = (gateway: Gateway, name: string, settings: object = {}) => {
  const at = `${gateway.port} ${name}`
  const known = keys.get(at)
  if (known !== undefined) return known
  const made = (async () => {
    const { key, secret } = await gateway.must("POST", "/api/keys", { name: `attack ${name}`, ...settings })
    return { id: String(key.id), bearer: { authorization: `Bearer ${secret}` } }
  })()
  keys.set(at, made)
  return made
}

const own: Headers = { "sec-fetch-site": "same-origin" }

/** Everything that is less than a page of our own with the token of its session. */
const unproved: Readonly<Record<string, (session: Session, port: number) => Headers>> = {
  "the cookie alone": ({ cookie }) => cookie,
  "the cookie and the token": ({ cookie, csrf }) => ({ ...cookie, ...csrf }),
  "the cookie of our page": ({ cookie }) => ({ ...cookie, ...own }),
  "a wrong token": ({ cookie }) => ({ ...cookie, ...own, "x-csrf-token": randomBytes(32).toString("base64url") }),
  "an empty token": ({ cookie }) => ({ ...cookie, ...own, "x-csrf-token": "" }),
  "the token without the cookie": ({ csrf }) => ({ ...csrf, ...own }),
  "another cookie": ({ csrf }) => ({ ...csrf, ...own, cookie: `gateway_session=${"A".repeat(43)}` }),
  "a navigation": ({ cookie, csrf }) => ({ ...cookie, ...csrf, "sec-fetch-site": "none" }),
  "a page of the same site": ({ cookie, csrf }) => ({ ...cookie, ...csrf, "sec-fetch-site": "same-site" }),
  "a page of another site": ({ cookie, csrf }) => ({ ...cookie, ...csrf, "sec-fetch-site": "cross-site" }),
  "same-origin and another origin": ({ cookie, csrf }) => ({
    ...cookie,
    ...csrf,
    ...own,
    origin: "https://evil.example"
  }),
  "same-origin and no origin's own": ({ cookie, csrf }) => ({ ...cookie, ...csrf, ...own, origin: "null" }),
  "another port of this machine": ({ cookie, csrf }, port) => ({
    ...cookie,
    ...csrf,
    "sec-fetch-site": "same-site",
    origin: `http://127.0.0.1:${port + 1}`
  }),
  "the token in the place of a key": ({ cookie, csrf }) => ({
    ...cookie,
    ...own,
    authorization: `Bearer ${csrf["x-csrf-token"]}`
  }),
  "the cookie in the place of a key": ({ cookie, csrf }) => ({
    ...csrf,
    ...own,
    "x-api-key": String(cookie["cookie"]).replace("gateway_session=", "")
  })
}

const filled = (path: string): string =>
  path
    .replace("/*", "/models/m:generateContent")
    .replaceAll(/:(?:provider|token)/g, "openai")
    .replaceAll(/:[a-zA-Z]+/g, "none")

const distinct = (tier: (tier: string) => boolean) => [
  ...new Map(
    routes
      .filter((route) => tier(route.tier) && !route.path.includes("/editor/"))
      .map(({ key, method, path }) => [`${method} ${path}`, { key, method, path: filled(path) }])
  ).values()
]

const asking = distinct((tier) => tier === "inference")
const managing = distinct((tier) => ["manage", "self", "session", "owner"].includes(tier))

const body = JSON.stringify({ model: "none/m", messages: [] })

const sendTo = (gateway: Gateway, { method, path }: { method: string; path: string }, headers: Headers) =>
  gateway.send({
    method,
    path,
    headers: { "content-type": "application/json", ...headers },
    ...(method === "GET" ? {} : { body })
  })

const turnedAway = ({ status, text }: { status: number; text: string }): string | null =>
  status === 401 || status === 403 ? null : `${status}: ${text.slice(0, 120)}`

/** The servers for agents let a session manage, as the management routes do (`access`, `browsers`). */
const pageRoutes = asking.filter(({ key }) => !/^(?:mcp|a2a)\./.test(key))

const withoutProof: ReadonlyArray<Attempt> = pairs(pageRoutes, Object.entries(unproved)).map(
  ([route, [name, headers]]) => ({
    name: `${route.method} ${route.path} with ${name}`,
    run: async ({ closed }) => turnedAway(await sendTo(closed, route, headers(await sessionOf(closed), closed.port)))
  })
)

type Caller = (gateway: Gateway) => Promise<Headers>

const proved = async (gateway: Gateway): Promise<Headers> => {
  const { cookie, csrf } = await sessionOf(gateway)
  return { ...cookie, ...csrf, ...own }
}

/** Everybody who is no session of our own page. */
const others: Readonly<Record<string, Caller>> = {
  nobody: async () => ({}),
  "another key": async (gateway) => (await keyOf(gateway, "plain")).bearer,
  "a key that manages": async (gateway) => (await keyOf(gateway, "manages", { scopes: ["manage"] })).bearer,
  "the admin key": async () => ({ authorization: `Bearer ${adminKey}` }),
  "the owner's token": async (gateway) => ({ authorization: `Bearer ${ownerToken(gateway)}` }),
  "a session beside a key": async (gateway) => ({
    ...(await proved(gateway)),
    ...(await keyOf(gateway, "plain")).bearer
  }),
  "the cookie alone": async (gateway) => (await sessionOf(gateway)).cookie,
  "a session without the token": async (gateway) => ({ ...(await sessionOf(gateway)).cookie, ...own })
}

const asOther: ReadonlyArray<Attempt> = pairs(pairs(asking, ["open", "closed"] as const), Object.entries(others)).map(
  ([[route, which], [name, caller]]) => ({
    name: `${route.method} ${route.path} as a key by ${name} (${which})`,
    run: async (arena) => {
      const gateway = arena[which]
      const { id } = await keyOf(gateway, "acted with")
      return turnedAway(await sendTo(gateway, route, { ...(await caller(gateway)), "x-gateway-as-key": id }))
    }
  })
)

const elsewhere: ReadonlyArray<Attempt> = managing.map((route) => ({
  name: `${route.method} ${route.path} as a key by a session`,
  run: async ({ closed }) => {
    const { id } = await keyOf(closed, "acted with")
    return turnedAway(await sendTo(closed, route, { ...(await proved(closed)), "x-gateway-as-key": id }))
  }
}))

/** A session that acts with a key has the key's rights, and no more. */
const beyond: ReadonlyArray<Attempt> = Object.entries({
  "a model that it may not use": { allowedModels: ["other/m"] },
  "an expired one": { expiresAt: "2020-01-01T00:00:00.000Z" },
  "an inactive one": { isActive: false },
  "another address": { ipAllowlist: ["198.51.100.7"] },
  "another kind of endpoint": { allowedEndpoints: ["images"] }
}).map(([name, rule]) => ({
  name: `a session acts with a key against its rule: ${name}`,
  run: async (arena: Arena) => {
    const { prefix } = await arena.node(arena.closed, "chat")
    await arena.connection(arena.closed, prefix)
    const { key } = await arena.closed.must("POST", "/api/keys", { name: "attack rule" })
    await arena.closed.must("PATCH", `/api/keys/${key.id}`, rule)
    const answer = await arena.closed.send({
      method: "POST",
      path: "/v1/chat/completions",
      headers: { "content-type": "application/json", ...(await proved(arena.closed)), "x-gateway-as-key": key.id },
      body: JSON.stringify({ model: `${prefix}/m`, messages: [{ role: "user", content: "Hi" }] })
    })
    const calls = arena.asked(prefix).length
    return turnedAway(answer) ?? (calls === 0 ? null : `${calls} calls were made`)
  }
}))

const upgrades: ReadonlyArray<Attempt> = pairs(
  ["/v1/responses", "/responses", "/api/v1/responses"],
  ["", "acted with"]
).map(([path, acted]) => ({
  name: `a socket at ${path} with a session${acted === "" ? "" : " as a key"}`,
  run: async ({ closed }) => {
    const { id } = await keyOf(closed, "acted with")
    const answer = await closed.send({
      path,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        ...(await proved(closed)),
        ...(acted === "" ? {} : { "x-gateway-as-key": id })
      }
    })
    return turnedAway(answer)
  }
}))

const views = ["/api/requests/running", "/api/routing/decisions/none", "/api/live"] as const

/** Requests of other keys: their list, their decision, and what the feed tells of them. */
const looks: ReadonlyArray<Attempt> = pairs(
  pairs(views, ["open", "closed"] as const),
  Object.entries({
    nobody: others["nobody"] as Caller,
    "a key": others["another key"] as Caller,
    "a key of its own use": async (gateway: Gateway) =>
      (await keyOf(gateway, "own use", { scopes: ["self:usage"] })).bearer,
    "a key in another header": async (gateway: Gateway) => ({
      "x-api-key": String((await keyOf(gateway, "manages", { scopes: ["manage"] })).bearer["authorization"]).slice(7)
    })
  })
).map(([[path, which], [name, caller]]) => ({
  name: `GET ${path} by ${name} (${which})`,
  run: async (arena: Arena) => {
    const gateway = arena[which]
    return turnedAway(await gateway.send({ path, headers: await caller(gateway) }))
  }
}))

interface Things {
  readonly file: string
  readonly batch: string
}

const things = new WeakMap<Arena, Map<string, Promise<Things>>>()

/** A file and a batch of a caller, made once. */
const thingsOf = (arena: Arena, name: string, caller: Caller): Promise<Things> => {
  const ofArena = things.get(arena) ?? new Map<string, Promise<Things>>()
  things.set(arena, ofArena)
  const known = ofArena.get(name)
  if (known !== undefined) return known
  const made = (async (): Promise<Things> => {
    const { closed } = arena
    const headers = await caller(closed)
    const line = {
      custom_id: "a",
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "none/m", messages: [] }
    }
    const boundary = "things-of-a-caller"
    const part = (rest: string) => `--${boundary}\r\ncontent-disposition: form-data; ${rest}\r\n`
    const made = async (path: string, type: string, body: string): Promise<string> => {
      const answer = await closed.send({ method: "POST", path, headers: { "content-type": type, ...headers }, body })
      if (answer.status !== 200) throw new Error(`${path} of ${name}: ${answer.status} ${answer.text}`)
      return String(JSON.parse(answer.text).id)
    }
    const file = await made(
      "/v1/files",
      `multipart/form-data; boundary=${boundary}`,
      `${part('name="purpose"\r\n\r\nbatch')}${part('name="file"; filename="a.jsonl"\r\n\r\n' + JSON.stringify(line))}--${boundary}--\r\n`
    )
    const asked = { input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" }
    return { file, batch: await made("/v1/batches", "application/json", JSON.stringify(asked)) }
  })()
  ofArena.set(name, made)
  return made
}

const asKey =
  (name: string): Caller =>
  async (gateway) => ({ ...(await proved(gateway)), "x-gateway-as-key": (await keyOf(gateway, name)).id })
const bearerOf =
  (name: string): Caller =>
  async (gateway) =>
    (await keyOf(gateway, name)).bearer

/** Whose things they are, and who is not that: a session is nobody's key, and acts with one at a time. */
const strangers: ReadonlyArray<readonly [owner: string, own: Caller, Readonly<Record<string, Caller>>]> = [
  ["a session", proved, { "a key": bearerOf("plain"), "a session as a key": asKey("acted with") }],
  [
    "a key",
    bearerOf("acted with"),
    { "a session": proved, "another key": bearerOf("plain"), "a session as another key": asKey("plain") }
  ],
  [
    "a session as a key",
    asKey("acted with"),
    { "a session": proved, "another key": bearerOf("plain"), "a session as another key": asKey("plain") }
  ]
]

const touched: ReadonlyArray<readonly [method: string, path: (things: Things) => string]> = [
  ["GET", ({ file }) => `/v1/files/${file}`],
  ["GET", ({ file }) => `/v1/files/${file}/content`],
  ["DELETE", ({ file }) => `/v1/files/${file}`],
  ["GET", ({ batch }) => `/v1/batches/${batch}`],
  ["POST", ({ batch }) => `/v1/batches/${batch}/cancel`],
  ["DELETE", ({ batch }) => `/v1/batches/${batch}`]
]

/** Asks for a thing of its owner as somebody else. */
const askedFor = async (
  arena: Arena,
  [owner, ownCaller]: readonly [string, Caller, ...ReadonlyArray<unknown>],
  caller: Caller,
  method: string,
  path: (made: Things) => string
) => {
  const made = await thingsOf(arena, owner, ownCaller)
  return { made, answer: await arena.closed.send({ method, path: path(made), headers: await caller(arena.closed) }) }
}

const strangersOf = strangers.flatMap((stranger) =>
  Object.entries(stranger[2]).map(([name, caller]) => ({ stranger, name, caller }))
)

/** Files and batches of others, also begun as somebody else. */
const thingsOfOthers: ReadonlyArray<Attempt> = pairs(strangersOf, touched).map(
  ([{ caller, name, stranger }, [method, path]]) => ({
    name: `${method} ${path({ file: ":file", batch: ":batch" })} of ${stranger[0]} by ${name}`,
    run: async (arena) => {
      const { answer } = await askedFor(arena, stranger, caller, method, path)
      return answer.status === 404 ? null : turnedAway(answer)
    }
  })
)

const listsOfOthers: ReadonlyArray<Attempt> = pairs(strangersOf, ["/v1/files", "/v1/batches"]).map(
  ([{ caller, name, stranger }, path]) => ({
    name: `GET ${path} for things of ${stranger[0]} by ${name}`,
    run: async (arena) => {
      const { answer, made } = await askedFor(arena, stranger, caller, "GET", () => path)
      const found = [made.file, made.batch].find((id) => answer.text.includes(id))
      return found === undefined ? null : `the list has ${found}`
    }
  })
)

/** Ways to name a key in the header so that a check and a use could read different ones. */
const names: ReadonlyArray<Attempt> = Object.entries({
  "two names": (id: string, other: string) => [id, other],
  "two names in one": (id: string, other: string) => `${id}, ${other}`,
  "a name and nothing": (id: string) => `${id},`,
  "a prototype": () => "__proto__",
  "a name's beginning": (id: string) => id.slice(0, -1),
  "a pattern": () => "%",
  "a path": (id: string) => `../keys/${id}`,
  "the administrator": () => "admin",
  "a secret in place of an id": (_: string, _other: string, secret: string) => secret
}).map(([name, valueOf]) => ({
  name: `a session names the key that it acts with by ${name}`,
  run: async ({ closed }: Arena) => {
    const { bearer, id } = await keyOf(closed, "acted with")
    const { id: other } = await keyOf(closed, "plain")
    const value = valueOf(id, other, String(bearer["authorization"]).slice(7))
    const headers = { ...(await proved(closed)), "x-gateway-as-key": value as string }
    return turnedAway(await closed.send({ path: "/v1/files", headers }))
  }
}))

export const sessionsWhereModelsAreAsked: AttackClass = {
  name: "sessions where models are asked",
  atOnce: 8,
  attempts: [
    ...withoutProof,
    ...asOther,
    ...elsewhere,
    ...beyond,
    ...upgrades,
    ...looks,
    ...thingsOfOthers,
    ...listsOfOthers,
    ...names
  ]
}
