/**
 * Sign-ins by a directory that are not the person's own: what comes back is replayed, another's, altered or led elsewhere, a session is put on somebody, or
 * outlives the person.
 */
import type { Arena } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs, type Verdict } from "../Attempt.ts"
import { once } from "../Once.ts"
import { account, type Directory, directoryOf, freshAddress, signedIn, told, userOf, Visitor } from "../Visitor.ts"

/** A gateway with its directory for a group of attempts: more of them at one would be slowed down, and show nothing. */
const placeOf = once((arena, _group: string, domain: string) =>
  directoryOf(arena, domain === "" ? {} : { allowedDomains: [domain] })
)

type Run = (directory: Directory, arena: Arena) => Promise<Verdict>

const attemptsIn = (group: string, all: Readonly<Record<string, Run>>, domain = ""): ReadonlyArray<Attempt> =>
  Object.entries(all).map(([name, run]) => ({
    name,
    run: async (arena) => run(await placeOf(arena, group, domain), arena)
  }))

const sessionsOf = async ({ gateway }: Directory): Promise<number> =>
  (await gateway.must("GET", "/api/auth/sessions")).total

/** A slowed-down attempt shows nothing of the check that it is about. */
const notIn = async (directory: Directory, before: number, visitor: Visitor, status: number): Promise<Verdict> => {
  if (status === 429) return "it was only slowed down"
  if (status === 200 && visitor.session() !== "") return "a session was given"
  const after = await sessionsOf(directory)
  return after === before ? null : `there are ${after} sessions, not ${before}`
}

/** Alters a good way back before the browser goes it. */
type Alter = (url: URL, visitor: Visitor, directory: Directory) => void | Promise<void>

const stateCookie = "gateway_sign_in"

const withCookie = (visitor: Visitor, change: (value: string) => string | null): void => {
  const jar = visitor.cookies(visitor.url)
  const changed = change(jar.get(stateCookie) ?? "")
  if (changed === null) jar.delete(stateCookie)
  else jar.set(stateCookie, changed)
}

const flipped = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1)

/** A way back of another browser, which has not gone it yet. */
const othersWay = async ({ gateway, id }: Directory): Promise<{ readonly url: URL; readonly visitor: Visitor }> => {
  const visitor = new Visitor(gateway)
  return { visitor, url: new URL(await visitor.wayBack(visitor.url, id)) }
}

const alterations: Readonly<Record<string, Alter>> = {
  "no state": (url) => url.searchParams.delete("state"),
  "an empty state": (url) => url.searchParams.set("state", ""),
  "a state of one's own": (url) => url.searchParams.set("state", "A".repeat(43)),
  "a state cut by a letter": (url) => url.searchParams.set("state", (url.searchParams.get("state") ?? "").slice(1)),
  "a state in another case": (url) => {
    const state = url.searchParams.get("state") ?? ""
    url.searchParams.set("state", state === state.toLowerCase() ? state.toUpperCase() : state.toLowerCase())
  },
  "a second state": (url) => url.searchParams.append("state", "another"),
  "no code": (url) => url.searchParams.delete("code"),
  "a code of one's own": (url) => url.searchParams.set("code", "another"),
  "an error beside the code": (url) => url.searchParams.set("error", "access_denied"),
  "another issuer's name": (url) => url.searchParams.set("iss", "https://evil.example"),
  "the code of another browser": async (url, _, directory) => {
    const other = await othersWay(directory)
    url.searchParams.set("code", other.url.searchParams.get("code") ?? "")
  },
  "the whole address of another browser": async (url, _, directory) => {
    const other = await othersWay(directory)
    url.search = other.url.search
  },
  "the cookie of another browser": async (_, visitor, directory) => {
    const other = await othersWay(directory)
    withCookie(visitor, () => other.visitor.cookies(visitor.url).get(stateCookie) ?? "")
  },
  "no cookie": (_, visitor) => withCookie(visitor, () => null),
  "an empty cookie": (_, visitor) => withCookie(visitor, () => ""),
  "a cookie cut by a letter": (_, visitor) => withCookie(visitor, (value) => value.slice(0, -1)),
  "a cookie with another first letter": (_, visitor) => withCookie(visitor, (value) => flipped(value, 0)),
  "a cookie with another letter within": (_, visitor) =>
    withCookie(visitor, (value) => flipped(value, value.length >> 1)),
  "a cookie with another last letter": (_, visitor) => withCookie(visitor, (value) => flipped(value, value.length - 3)),
  "a cookie that is no cipher": (_, visitor) =>
    withCookie(visitor, () => Buffer.from('{"state":"a","nonce":"b"}').toString("base64url")),
  "another issuer's path": async (url, _, directory) => {
    const id = await directory.another({})
    url.pathname = `/api/sign-in/${id}/callback`
  },
  "the path of an issuer that is not there": (url) => {
    url.pathname = "/api/sign-in/none/callback"
  },
  "an issuer that was switched off meanwhile": async (_url, _visitor, { gateway, id }) => {
    await gateway.must("PUT", `/api/issuers/${id}`, { enabled: false })
  }
}

const arrived = async (directory: Directory, alter: Alter): Promise<Verdict> => {
  const { gateway, id, issuer } = directory
  await gateway.must("PUT", `/api/issuers/${id}`, { enabled: true })
  await issuer.say(account("ada"))
  const visitor = new Visitor(gateway)
  const url = new URL(await visitor.wayBack(visitor.url, id))
  const before = await sessionsOf(directory)
  await alter(url, visitor, directory)
  const { status } = await visitor.get(url.href)
  return notIn(directory, before, visitor, status)
}

/** Half of them at a gateway each. */
const waysBack = Object.entries(alterations).map(([name, alter], index): Attempt => ({
  name: `a way back with ${name}`,
  run: async (arena) => arrived(await placeOf(arena, `way ${index % 2}`, ""), alter)
}))

const methodsBack = ["HEAD", "POST", "PUT", "DELETE"].map((method): readonly [string, Run] => [
  `a way back by ${method}`,
  async (directory) => {
    const { gateway, id, issuer } = directory
    await issuer.say(account("ada"))
    const visitor = new Visitor(gateway)
    const url = await visitor.wayBack(visitor.url, id)
    const before = await sessionsOf(directory)
    const { status } = await visitor.get(url, { method })
    return notIn(directory, before, visitor, status)
  }
])

const replays: Readonly<Record<string, Run>> = {
  ...Object.fromEntries(methodsBack),
  "a way back that was gone already": async (directory) => {
    const visitor = new Visitor(directory.gateway)
    const url = await visitor.wayBack(visitor.url, directory.id)
    const cookie = visitor.cookies(visitor.url).get(stateCookie) ?? ""
    if ((await visitor.get(url)).status !== 200) return "the sign-in itself failed"
    visitor.cookies(visitor.url).clear()
    visitor.cookies(visitor.url).set(stateCookie, cookie)
    const before = await sessionsOf(directory)
    return notIn(directory, before, visitor, (await visitor.get(url)).status)
  },
  "a way back that failed before": async (directory) => {
    const visitor = new Visitor(directory.gateway)
    const url = new URL(await visitor.wayBack(visitor.url, directory.id))
    const good = url.href
    url.searchParams.set("code", "another")
    await visitor.get(url.href)
    const before = await sessionsOf(directory)
    return notIn(directory, before, visitor, (await visitor.get(good)).status)
  },
  "two ways back at once": async (directory) => {
    const visitor = new Visitor(directory.gateway)
    const url = await visitor.wayBack(visitor.url, directory.id)
    const before = await sessionsOf(directory)
    const headers = visitor.cookieHeader()
    const both = await Promise.all(
      [0, 1].map(() => told(directory.gateway, "GET", url.slice(visitor.url.length), headers))
    )
    const given = both.filter(({ status }) => status === 200).length
    const after = await sessionsOf(directory)
    return given <= 1 && after - before <= 1 ? null : `${given} were answered, ${after - before} sessions made`
  },
  "a session that was chosen before": async (directory) => {
    const visitor = new Visitor(directory.gateway)
    const chosen = "A".repeat(43)
    visitor.cookies(visitor.url).set("gateway_session", chosen)
    await visitor.signIn(visitor.url, directory.id)
    if (visitor.session() === chosen) return "the chosen session was kept"
    const { status } = await told(directory.gateway, "GET", "/api/me", { cookie: `gateway_session=${chosen}` })
    return status === 401 ? null : `the chosen session is answered with ${status}`
  },
  "the attacker's session in the victim's browser": async (directory) => {
    const attacker = await signedIn(directory, "eve")
    await directory.issuer.say(account("ada"))
    const victim = new Visitor(directory.gateway)
    victim.cookies(victim.url).set("gateway_session", attacker.session())
    await victim.signIn(victim.url, directory.id)
    const own = await told(directory.gateway, "GET", "/api/me", victim.cookieHeader())
    if (own.body?.person?.name !== "ada") return `the victim is ${own.text}`
    const { body } = await told(directory.gateway, "GET", "/api/me", attacker.cookieHeader())
    return body?.person?.name === "ada" ? "the attacker's session is the victim's now" : null
  }
}

/** ID tokens that are not good: claims that are set otherwise (null: left out), or another key. */
const tokens: Readonly<Record<string, object>> = {
  "another client": { altered: { aud: "another" } },
  "no client": { altered: { aud: null } },
  "two clients, and the other one's": { altered: { aud: ["gateway", "another"], azp: "another" } },
  "another issuer": { altered: { iss: "https://evil.example" } },
  "no issuer": { altered: { iss: null } },
  "the issuer with a slash": { altered: { iss: "http://127.0.0.1/" } },
  "another nonce": { altered: { nonce: "another" } },
  "no nonce": { altered: { nonce: null } },
  "an empty nonce": { altered: { nonce: "" } },
  "a list of nonces": { altered: { nonce: ["another"] } },
  "a time that is over": { altered: { exp: 1_000_000_000 } },
  "no end": { altered: { exp: null } },
  "an end as text": { altered: { exp: "9999999999" } },
  "a time to come": { altered: { nbf: 9_999_999_999 } },
  "no account": { altered: { sub: null } },
  "an empty account": { altered: { sub: "" } },
  "a number as account": { altered: { sub: 1 } },
  "an account of 256 letters": { altered: { sub: "a".repeat(256) } },
  "an address that is not verified": { altered: { email_verified: false } },
  "an address that is not verified, as text": { altered: { email_verified: "false" } },
  "an address that nobody says to be verified": {
    ...account("ada", { email_verified: undefined }),
    altered: { email_verified: null }
  },
  "an address that is verified of another one": {
    ...account("ada", { email: "ada@evil.example" }),
    altered: { email: "ada@example.com", email_verified: null }
  },
  "an address of another domain": { altered: { email: "ada@evil.example" } },
  "an address of a domain below": { altered: { email: "ada@evil.example.com" } },
  "an address that ends as the domain": { altered: { email: "ada@evilexample.com" } },
  "two addresses in one": { altered: { email: "ada@example.com,eve@evil.example" } },
  "an address with two signs": { altered: { email: '"ada@example.com"@evil.example' } },
  "an address within a list": { altered: { email: ["ada@example.com"] } },
  "another key": { isForged: true }
}

const usual = { altered: {}, isForged: false }

const badTokens = Object.fromEntries(
  Object.entries(tokens).map(([name, how]): readonly [string, Run] => [
    `an ID token with ${name}`,
    async (directory) => {
      const { gateway, id, issuer } = directory
      await issuer.say({ ...account("ada"), ...usual, ...how })
      const before = await sessionsOf(directory)
      const visitor = new Visitor(gateway)
      const { status } = await visitor.signIn(visitor.url, id)
      await issuer.say(usual)
      return notIn(directory, before, visitor, status)
    }
  ])
)

const victim = "owner@example.com"

/** A person of the same address, whom an attacker's account is not. */
const meOf = async (visitor: Visitor) => (await told(visitor.gateway, "GET", "/api/me", visitor.cookieHeader())).body

/** The person who signs in to the same gateway by a real second directory. */
const meAtAnother = async ({ gateway }: Directory, arena: Arena, who: object) => {
  const other = await arena.issuer()
  const { issuer } = await gateway.must("POST", "/api/issuers", {
    name: arena.fresh("directory"),
    issuer: other.url,
    clientId: "gateway",
    scopes: ["openid", "profile", "email", "groups"]
  })
  await other.say({
    ...who,
    clients: [{ client_id: "gateway", token_endpoint_auth_method: "none", redirect_uris: [issuer.redirectUri] }]
  })
  const visitor = new Visitor(gateway)
  await visitor.signIn(visitor.url, issuer.id)
  return meOf(visitor)
}

const others: Readonly<Record<string, Run>> = {
  "the address of an owner who was added by hand": async (directory) => {
    const { user } = await directory.gateway.must("POST", "/api/users", { name: "Owner", email: victim, role: "owner" })
    const me = await meOf(await signedIn(directory, "eve-by-hand", { email: victim }))
    return me.person.id !== user.id && me.person.role === "member" ? null : `it is ${JSON.stringify(me.person)}`
  },
  "the address of a person of another issuer": async (directory, arena) => {
    const first = await signedIn(directory, "twin", { email: "twin@example.com" })
    const before = await meOf(first)
    await directory.gateway.must("PUT", `/api/users/${before.person.id}`, { role: "admin" })
    // A real second directory, whose account has another id and this address.
    const me = await meAtAnother(directory, arena, account("another-id", { email: "twin@example.com" }))
    return me.person.id !== before.person.id && me.person.role === "member"
      ? null
      : `it is ${JSON.stringify(me.person)}`
  },
  "the id of a person of another issuer": async (directory, arena) => {
    const before = await meOf(await signedIn(directory, "same-id"))
    await directory.gateway.must("PUT", `/api/users/${before.person.id}`, { role: "admin" })
    const me = await meAtAnother(directory, arena, account("same-id"))
    return me.person.id === before.person.id ? "it is the same person" : null
  },
  "a role that the token names": async (directory) => {
    const more = { role: "owner", roles: ["owner"], groups: ["owner", "admin", "owners"], is_admin: true }
    const me = await meOf(await signedIn(directory, "claims-a-role", more))
    return me.person.role === "member" ? null : `the role is ${me.person.role}`
  },
  "a person who was suspended": async (directory) => {
    const me = await meOf(await signedIn(directory, "suspended"))
    await directory.gateway.must("PUT", `/api/users/${me.person.id}`, { state: "suspended" })
    const before = await sessionsOf(directory)
    const visitor = new Visitor(directory.gateway)
    const { status } = await visitor.signIn(visitor.url, directory.id)
    return notIn(directory, before, visitor, status)
  },
  "a name that another page would read": async (directory) => {
    const visitor = new Visitor(directory.gateway)
    await directory.issuer.say(account("named", { name: '<script>alert(1)</script>\u202e\u0000"' }))
    const { page } = await visitor.signIn(visitor.url, directory.id)
    return page.includes("<script>alert") ? "the page has it as it is" : null
  }
}

const redirecting = ["next", "redirect", "redirect_uri", "return_to", "returnTo", "continue", "url"] as const
const places = [
  "https://evil.example/",
  "//evil.example",
  "/\\evil.example",
  "javascript:alert(1)",
  "/dashboard@evil.example"
]

const misleading = ["host", "x-forwarded-host", "x-forwarded-proto", "forwarded", "origin", "referer", "x-original-url"]
const hostsOf = (name: string): string =>
  name === "forwarded" ? "host=evil.example" : name === "x-forwarded-proto" ? "javascript" : "evil.example"

/** Ways to have the browser, or the code, led to another host. */
const leadingAway: ReadonlyArray<Attempt> = [
  ...pairs(redirecting, places).map(([name, place]): Attempt => ({
    name: `a beginning that goes on at ${place} by '${name}'`,
    run: async (arena) => {
      const { gateway, id } = await placeOf(arena, "away", "")
      const path = `/api/sign-in/${id}/begin?${new URLSearchParams({ [name]: place })}`
      const { status, text } = await told(gateway, "GET", path, {})
      if (status === 429) return "it was only slowed down"
      return text.includes("evil.example") || text.includes("javascript:") ? `it is in the page: ${text}` : null
    }
  })),
  ...misleading.map((name): Attempt => ({
    name: `a beginning whose way back is another host's by the header '${name}'`,
    run: async (arena) => {
      const { gateway, id } = await placeOf(arena, "away", "")
      const { status, text } = await told(gateway, "GET", `/api/sign-in/${id}/begin`, { [name]: hostsOf(name) })
      if (status === 429) return "it was only slowed down"
      return text.includes("evil.example") || text.includes("javascript") ? `it is in the page: ${text}` : null
    }
  }))
]

const goings: Readonly<Record<string, (directory: Directory, userId: string) => Promise<unknown>>> = {
  "was suspended": ({ gateway }, userId) => gateway.must("PUT", `/api/users/${userId}`, { state: "suspended" }),
  "was removed": ({ gateway }, userId) => gateway.must("DELETE", `/api/users/${userId}`),
  "is of an issuer that was switched off": ({ gateway, id }) =>
    gateway.must("PUT", `/api/issuers/${id}`, { enabled: false }),
  "has logged out": async () => undefined
}

const leftPaths = [
  "/api/me",
  "/api/keys",
  "/api/users",
  "/api/usage/logs",
  "/api/auth/session",
  "/api/bills?month=2026-01"
]

/** Sessions of people who went. */
const outliving = pairs(Object.keys(goings), leftPaths).map(([name, path]): Attempt => ({
  name: `GET ${path} in the session of a person who ${name}`,
  run: async (arena) => {
    const directory = await placeOf(arena, "left", "")
    const { gateway, id } = directory
    await gateway.must("PUT", `/api/issuers/${id}`, { enabled: true })
    const visitor = await signedIn(directory, arena.fresh("left"))
    const headers = visitor.cookieHeader()
    const me = await told(gateway, "GET", "/api/me", headers)
    if (name === "has logged out") await visitor.page("POST", "/api/sign-in/logout", {})
    else await goings[name]?.(directory, me.body.person.id)
    const { body, status } = await told(gateway, "GET", path, headers, undefined, freshAddress())
    if (path === "/api/me" && status === 200) return body.principal.type === "anonymous" ? null : JSON.stringify(body)
    return status === 401 ? null : `it was answered with ${status}: ${JSON.stringify(body)}`
  }
}))

/** What a person's session opens to a page that is not the gateway's own. */
const forged: ReadonlyArray<Attempt> = pairs(
  ["POST /api/sign-in/logout", "POST /api/auth/logout", "POST /api/keys/{key}/rotate"],
  ["no token", "a wrong token", "another session's token", "another origin", "another site"]
).map(([route, name]): Attempt => ({
  name: `${route} in a person's session with ${name}`,
  run: async (arena) => {
    const directory = await placeOf(arena, "forged", "")
    const { gateway } = directory
    const visitor = await signedIn(directory, arena.fresh("forged"))
    const user = await userOf(gateway, `${(await meOf(visitor)).person.name}@example.com`)
    const { key } = await gateway.must("POST", "/api/keys", { name: arena.fresh("key"), userId: user.id })
    const [method = "", path = ""] = route.replace("{key}", key.id).split(" ")
    const own = await visitor.csrf()
    const headers = {
      "no token": {},
      "a wrong token": { "x-csrf-token": "A".repeat(43) },
      "another session's token": name.startsWith("another s") ? await (await signedIn(directory, "eve")).csrf() : {},
      "another origin": { ...own, origin: "https://evil.example" },
      "another site": { ...own, "sec-fetch-site": "cross-site" }
    }[name]
    const { status, text } = await told(gateway, method, path, { ...visitor.cookieHeader(), ...headers }, {})
    return status === 403 ? null : `it was answered with ${status}: ${text}`
  }
}))

export const signIns: AttackClass = {
  name: "sign-ins",
  // What the directory says is one for all.
  atOnce: 1,
  attempts: [
    ...waysBack,
    ...attemptsIn("replays", replays),
    ...attemptsIn("tokens", badTokens, "example.com"),
    ...attemptsIn("others", others),
    ...leadingAway,
    ...outliving,
    ...forged
  ]
}
