/**
 * People who go beyond their role: routes that it does not open, what is others', limits of the team, a greater role for oneself, and rights that outlive the
 * role. Each by an API key, a session in the browser, and a login at the command line.
 */
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { rights } from "../../../src/contract/tiers/Rights.ts"
import type { Arena, Gateway } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs, type Verdict } from "../Attempt.ts"
import { once } from "../Once.ts"
import { type Directory, directoryOf, freshAddress, signedIn, told, type Told, userOf } from "../Visitor.ts"

type Headers = Readonly<Record<string, string>>

const roles = ["admin", "lead", "member", "viewer"] as const
const means = ["key", "session", "login"] as const
type Means = (typeof means)[number]

/** A gateway with its directory; logins of many people at one would be slowed down. */
const directoryAt = once((arena, _group: string) => directoryOf(arena))
const directoryHere = (arena: Arena): Promise<Directory> => directoryAt(arena, "here")

/** A person of a role with a team, a key, a session and a login. */
interface Person {
  readonly id: string
  readonly name: string
  readonly keyId: string
  readonly teamId: string
  readonly by: Readonly<Record<Means, Headers>>
}

const loginOf = async (directory: Directory, visitor: Awaited<ReturnType<typeof signedIn>>): Promise<string> => {
  const from = freshAddress()
  const begun = await told(directory.gateway, "POST", "/api/logins", {}, { way: "device", machine: "laptop" }, from)
  await visitor.page("POST", "/api/logins/look", { code: begun.body.code })
  await visitor.page("POST", "/api/logins/answer", { code: begun.body.code, allow: true })
  const given = await told(directory.gateway, "POST", "/api/logins/token", {}, { secret: begun.body.secret }, from)
  return String(given.body.login.token)
}

const makePerson = async (arena: Arena, directory: Directory, role: string): Promise<Person> => {
  const { gateway } = directory
  const name = arena.fresh(role)
  const visitor = await signedIn(directory, name)
  const { id } = await userOf(gateway, `${name}@example.com`)
  const { team } = await gateway.must("POST", "/api/teams", {
    name: arena.fresh("team"),
    members: [id],
    budget: { dailyLimitUsd: 10, weeklyLimitUsd: 40, monthlyLimitUsd: 100 },
    limits: { requestsPerDay: 100, dailyTokens: 1_000, monthlyTokens: 10_000 }
  })
  const { key, secret } = await gateway.must("POST", "/api/keys", { name, userId: id, teamId: team.id })
  const token = await loginOf(directory, visitor)
  const session = { ...visitor.cookieHeader(), ...(await visitor.csrf()), "sec-fetch-site": "same-origin" }
  await gateway.must("PUT", `/api/users/${id}`, { role })
  const by = { key: { authorization: `Bearer ${secret}` }, session, login: { authorization: `Bearer ${token}` } }
  return { id, name, keyId: String(key.id), teamId: String(team.id), by }
}

const personOf = once(async (arena, role: string, _of: string) => makePerson(arena, await directoryHere(arena), role))
const owner = (arena: Arena) => personOf(arena, "owner", "others")
const stranger = (arena: Arena) => personOf(arena, "member", "others")

const asked = (gateway: Gateway, method: string, path: string, headers: Headers, body?: unknown): Promise<Told> =>
  told(gateway, method, path, headers, method === "GET" ? undefined : (body ?? {}))

const isRefused = ({ status, text }: Told, ...statuses: ReadonlyArray<number>): Verdict =>
  statuses.includes(status) ? null : `it was answered with ${status}: ${text.slice(0, 200)}`

/** Every route that a role does not open, by every means. */
const closedTo = pairs(roles, means).flatMap(([role, by]) =>
  managementRoutes
    .filter(({ operation, tier }) => tier === "manage" && rights[operation][role] === "none")
    .map(({ method, path }): Attempt => ({
      name: `${method} ${path} by the ${by} of a person of role ${role}`,
      run: async (arena) => {
        const { gateway } = await directoryHere(arena)
        const person = await personOf(arena, role, "matrix")
        return isRefused(await asked(gateway, method, path.replaceAll(/:\w+/g, "none"), person.by[by]), 403)
      }
    }))
)

/** Routes of the machine, the owner, and of programs of the gateway. */
const ofNoRole = pairs(roles, means).flatMap(([role, by]) =>
  managementRoutes
    .filter(({ tier }) => tier === "owner" || tier === "ingest")
    .map(({ method, path }): Attempt => ({
      name: `${method} ${path} by the ${by} of a person of role ${role}`,
      run: async (arena) => {
        const { gateway } = await directoryHere(arena)
        const person = await personOf(arena, role, "matrix")
        return isRefused(await asked(gateway, method, path.replaceAll(/:\w+/g, "none"), person.by[by]), 401, 403)
      }
    }))
)

const small = ["lead", "member", "viewer"] as const

/** Lists, sums and files that show what is others' where they show too much. `{…}` are of the other person. */
const reading = [
  "/api/keys",
  "/api/keys?limit=1&sort=name",
  "/api/keys?search={name}",
  "/api/users",
  "/api/teams",
  "/api/usage/logs",
  "/api/usage/logs?apiKeyId={key}",
  "/api/usage/budget",
  "/api/usage/token-limits",
  "/api/usage/series?apiKeyId={key}",
  "/api/usage/analytics",
  "/api/bills?month=2026-11&by=person",
  "/api/bills?month=2026-11&by=team,key",
  "/api/bills?month=2026-11&by=team&rollUp=true",
  "/api/bills/csv?month=2026-11&by=person,key",
  "/api/usage/me",
  "/api/usage/me/logs"
] as const

/** Single things of others. */
const pieces = [
  "/api/keys/{key}",
  "/api/users/{user}",
  "/api/teams/{team}",
  "/api/usage/budget?apiKeyId={key}",
  "/api/usage/token-limits?apiKeyId={key}"
] as const

const placed = (path: string, { id, keyId, name, teamId }: Person): string =>
  path.replace("{key}", keyId).replace("{user}", id).replace("{team}", teamId).replace("{name}", name)

const readsOfOthers = pairs(pairs(["lead", "member"] as const, means), [...reading, ...pieces]).map(
  ([[role, by], path]): Attempt => ({
    name: `GET ${path} of others by the ${by} of a ${role}`,
    run: async (arena) => {
      const { gateway } = await directoryHere(arena)
      const [person, other] = [await personOf(arena, role, "reads"), await stranger(arena)]
      await requestsOf(arena)
      // What an administrator cannot ask either shows nothing.
      const all = path.startsWith("/api/usage/me") ? null : await gateway.manage("GET", placed(path, other))
      if (all !== null && all.status !== 200) return `an administrator is answered with ${all.status}: ${all.text}`
      const { status, text } = await asked(gateway, "GET", placed(path, other), person.by[by])
      const isSingle = (pieces as ReadonlyArray<string>).includes(path)
      if (isSingle && status !== 404) return `it was answered with ${status}: ${text.slice(0, 200)}`
      if (status === 200 && !isSingle) {
        const shown = [other.keyId, other.id, other.teamId, other.name].find((word) => text.includes(word))
        return shown === undefined ? null : `it shows ${shown}`
      }
      return status < 500 ? null : `it was answered with ${status}`
    }
  })
)

/** A request of the other person's key, so that there is something to be seen. */
const requestsOf = once(async (arena) => {
  const { gateway } = await directoryHere(arena)
  const other = await stranger(arena)
  const body = { model: "none/m", messages: [{ role: "user", content: "Hi" }] }
  await told(gateway, "POST", "/v1/chat/completions", other.by.key, body)
})

/** Changes of what is others', or more than the role's; `{…}` are of the other person. */
const changing: ReadonlyArray<readonly [method: string, path: string, body: object]> = [
  ["POST", "/api/keys/{key}/rotate", {}],
  ["PATCH", "/api/keys/{key}", { isActive: false }],
  ["PATCH", "/api/keys/{key}", { userId: null }],
  ["PUT", "/api/keys/{key}", { name: "taken" }],
  ["DELETE", "/api/keys/{key}", {}],
  ["POST", "/api/usage/budget", { apiKeyId: "{key}", dailyLimitUsd: 1 }],
  ["DELETE", "/api/usage/budget?apiKeyId={key}", {}],
  ["POST", "/api/usage/token-limits", { apiKeyId: "{key}", scopeType: "global", tokenLimit: 1 }],
  ["PUT", "/api/users/{user}", { state: "suspended" }],
  ["DELETE", "/api/users/{user}", {}],
  ["PUT", "/api/teams/{team}", { members: [] }],
  ["DELETE", "/api/teams/{team}", {}],
  ["POST", "/api/keys", { name: "for another", userId: "{user}" }],
  ["POST", "/api/keys", { name: "for another team", teamId: "{team}" }],
  ["DELETE", "/api/auth/sessions", {}],
  ["POST", "/api/auth/password", { password: "a password of mine" }]
]

const changesOfOthers = pairs(pairs(small, means), changing).map(([[role, by], [method, path, body]]): Attempt => ({
  name: `${method} ${path} ${JSON.stringify(body)} by the ${by} of a ${role}`,
  run: async (arena) => {
    const { gateway } = await directoryHere(arena)
    const [person, other] = [await personOf(arena, role, "changes"), await stranger(arena)]
    const given = JSON.parse(placed(JSON.stringify(body), other))
    const answer = await asked(gateway, method, placed(path, other), person.by[by], given)
    // What takes a session does not know a key at all.
    return isRefused(answer, 400, 401, 403, 404) ?? (await isWhole(gateway, other))
  }
}))

const isWhole = async (gateway: Gateway, { id, keyId, teamId }: Person): Promise<Verdict> => {
  const { key } = await gateway.must("GET", `/api/keys/${keyId}`)
  const { user } = await gateway.must("GET", `/api/users/${id}`)
  const { team } = await gateway.must("GET", `/api/teams/${teamId}`)
  const is = key.isActive === true && key.userId === id && user.state === "active" && team.members.includes(id)
  return is ? null : `it was changed: ${JSON.stringify([key, user.state, team.members])}`
}

/** What a lead gives keys of the own team beyond the team's limits. `{own}` is the own team. */
const beyondTeam: Readonly<Record<string, readonly [method: string, path: string, body: object]>> = {
  "a key of no team": ["POST", "/api/keys", { name: "k" }],
  "a key of another team": ["POST", "/api/keys", { name: "k", teamId: "{team}" }],
  "a key for a person of another team": ["POST", "/api/keys", { name: "k", teamId: "{own}", userId: "{user}" }],
  "a key that manages": ["POST", "/api/keys", { name: "k", teamId: "{own}", scopes: ["manage"] }],
  "a key of an administrator": ["POST", "/api/keys", { name: "k", teamId: "{own}", scopes: ["admin"] }],
  "a key of a directory": ["POST", "/api/keys", { name: "k", teamId: "{own}", scopes: ["scim"] }],
  "a key that reads metrics": ["POST", "/api/keys", { name: "k", teamId: "{own}", scopes: ["read:metrics"] }],
  "more requests than the team": ["POST", "/api/keys", { name: "k", teamId: "{own}", maxRequestsPerDay: 101 }],
  "a key out of the team": ["PATCH", "/api/keys/{ownKey}", { teamId: null }],
  "a key into another team": ["PATCH", "/api/keys/{ownKey}", { teamId: "{team}" }],
  "a key to another person": ["PATCH", "/api/keys/{ownKey}", { userId: "{user}" }],
  "a scope for the own key": ["PATCH", "/api/keys/{ownKey}", { scopes: ["manage"] }],
  "more requests for the own key": ["PATCH", "/api/keys/{ownKey}", { maxRequestsPerDay: 1_000 }],
  "a daily budget above the team's": ["POST", "/api/usage/budget", { apiKeyId: "{ownKey}", dailyLimitUsd: 11 }],
  "a weekly budget above the team's": ["POST", "/api/usage/budget", { apiKeyId: "{ownKey}", weeklyLimitUsd: 41 }],
  "a monthly budget above the team's": ["POST", "/api/usage/budget", { apiKeyId: "{ownKey}", monthlyLimitUsd: 101 }],
  "daily tokens above the team's": [
    "POST",
    "/api/usage/token-limits",
    { apiKeyId: "{ownKey}", scopeType: "global", tokenLimit: 1_001, resetInterval: "daily" }
  ],
  "monthly tokens above the team's": [
    "POST",
    "/api/usage/token-limits",
    { apiKeyId: "{ownKey}", scopeType: "global", tokenLimit: 10_001, resetInterval: "monthly" }
  ],
  "a greater budget of the team": ["PUT", "/api/teams/{own}", { budget: { dailyLimitUsd: 1_000 } }],
  "no limits of the team": ["PUT", "/api/teams/{own}", { limits: null }],
  "more members": ["PUT", "/api/teams/{own}", { members: ["{user}"] }],
  "the team below none": ["PUT", "/api/teams/{own}", { parent: null }],
  "a team of one's own": ["POST", "/api/teams", { name: "mine" }]
}

const leadsBeyond = pairs(Object.entries(beyondTeam), means).map(([[name, [method, path, body]], by]): Attempt => ({
  name: `a lead gives ${name} by the ${by}`,
  run: async (arena) => {
    const { gateway } = await directoryHere(arena)
    const [lead, other] = [await personOf(arena, "lead", "beyond"), await stranger(arena)]
    const own = (text: string): string =>
      placed(text, other).replaceAll("{ownKey}", lead.keyId).replaceAll("{own}", lead.teamId)
    const before = await gateway.must("GET", `/api/keys/${lead.keyId}`)
    const answer = await asked(gateway, method, own(path), lead.by[by], JSON.parse(own(JSON.stringify(body))))
    const after = await gateway.must("GET", `/api/keys/${lead.keyId}`)
    const same = ({ key }: { readonly key: Readonly<Record<string, unknown>> }): string =>
      JSON.stringify([key["scopes"], key["teamId"], key["userId"], key["maxRequestsPerDay"]])
    return isRefused(answer, 400, 403, 404) ?? (same(before) === same(after) ? null : `it is ${same(after)}`)
  }
}))

/** Ways to a greater role for oneself, or to what is the owners'. `{self}` is the person, `{issuer}` the directory. */
const climbing: ReadonlyArray<readonly [method: string, path: string, body: object]> = [
  ["PUT", "/api/users/{self}", { role: "owner" }],
  ["PATCH", "/api/users/{self}", { role: "owner" }],
  ["PUT", "/api/users/{self}", { role: "owner", name: "me" }],
  ["PUT", "/api/users/{self}", { source: "local", role: "owner" }],
  ["POST", "/api/users", { name: "o", email: "made-owner@example.com", role: "owner" }],
  ["PUT", "/api/users/{user}", { role: "member" }],
  ["PUT", "/api/users/{user}", { state: "suspended" }],
  ["PUT", "/api/users/{user}", { email: "taken@example.com" }],
  ["DELETE", "/api/users/{user}", {}],
  ["POST", "/api/keys/{key}/rotate", {}],
  ["PATCH", "/api/keys/{key}", { userId: "{self}" }],
  ["DELETE", "/api/keys/{key}", {}],
  ["POST", "/api/keys", { name: "o", userId: "{user}" }],
  ["POST", "/api/keys", { name: "m", scopes: ["manage"] }],
  ["POST", "/api/keys", { name: "a", scopes: ["admin"] }],
  ["POST", "/api/keys", { name: "s", scopes: ["scim"] }],
  ["PATCH", "/api/keys/{ownKey}", { scopes: ["admin"] }],
  ["PATCH", "/api/keys/{ownKey}", { userId: "{user}" }],
  ["PUT", "/api/issuers/{issuer}", { groups: [{ group: "all", role: "owner" }] }],
  ["PUT", "/api/issuers/{issuer}", { defaultRole: "owner" }],
  ["POST", "/api/issuers", { name: "mine", issuer: "https://login.example.com", clientId: "g", defaultRole: "owner" }],
  ["DELETE", "/api/auth/sessions", {}],
  ["PUT", "/api/auth/password", { password: "a password of mine" }],
  ["POST", "/api/auth/password", { password: "a password of mine" }],
  ["POST", "/api/auth/codes", {}]
]

const climbs = pairs(pairs(roles, means), climbing).map(([[role, by], [method, path, body]]): Attempt => ({
  name: `${method} ${path} ${JSON.stringify(body)} against owners by the ${by} of a person of role ${role}`,
  run: async (arena) => {
    const directory = await directoryHere(arena)
    const { gateway } = directory
    const [person, other] = [await personOf(arena, role, "climbs"), await owner(arena)]
    const own = (text: string): string =>
      placed(text, other)
        .replaceAll("{self}", person.id)
        .replaceAll("{ownKey}", person.keyId)
        .replaceAll("{issuer}", directory.id)
    const answer = await asked(gateway, method, own(path), person.by[by], JSON.parse(own(JSON.stringify(body))))
    const { user } = await gateway.must("GET", `/api/users/${person.id}`)
    if (user.role !== role) return `the role is ${user.role}`
    return isRefused(answer, 400, 401, 403, 404, 405) ?? (await isWhole(gateway, other))
  }
}))

/** What a person did before is not there any more after the role is smaller, at once. */
const outliving = pairs(
  pairs(
    [
      ["admin", "member", "GET", "/api/providers"],
      ["admin", "member", "GET", "/api/settings"],
      ["admin", "lead", "POST", "/api/users"],
      ["admin", "viewer", "POST", "/api/providers"],
      ["lead", "member", "POST", "/api/keys"],
      ["lead", "member", "POST", "/api/usage/budget"],
      ["lead", "viewer", "DELETE", "/api/keys/none"],
      ["owner", "admin", "DELETE", "/api/auth/sessions"],
      ["owner", "member", "POST", "/api/db-backups"]
    ] as const,
    means
  ),
  ["a smaller role", "a suspension", "a removal"]
).map(([[[before, after, method, path], by], how]): Attempt => ({
  name: `${method} ${path} by the ${by} of who was ${before}, after ${how === "a smaller role" ? after : how}`,
  run: async (arena) => {
    const directory = await directoryAt(arena, by)
    const { gateway } = directory
    const person = await makePerson(arena, directory, before)
    if (how === "a removal") await gateway.must("DELETE", `/api/users/${person.id}`)
    else
      await gateway.must(
        "PUT",
        `/api/users/${person.id}`,
        how === "a suspension" ? { state: "suspended" } : { role: after }
      )
    return isRefused(await asked(gateway, method, path, person.by[by]), 401, 403)
  }
}))

/** A role that a member claims by the words of a request. */
const claimed: ReadonlyArray<Headers> = [
  { "x-role": "admin" },
  { "x-forwarded-user": "admin" },
  { "x-gateway-role": "owner" },
  { "x-user-role": "owner" },
  { "x-http-method-override": "GET" },
  { "x-original-url": "/api/me" },
  { "x-rewrite-url": "/api/me" },
  { "x-forwarded-for": "127.0.0.1" },
  { "x-gateway-as-key": "none" }
]
const spelled = [
  "/api/providers",
  "/API/providers",
  "//api/providers",
  "/api//providers",
  "/api/./providers",
  "/api/x/../providers",
  "/api/%70roviders",
  "/api/providers/",
  "/api/providers?role=admin",
  "/api/providers;role=admin"
]

const disguised = pairs(pairs(spelled, [{}, ...claimed]), means).map(([[path, headers], by]): Attempt => ({
  name: `GET ${path} by the ${by} of a member with ${JSON.stringify(headers)}`,
  run: async (arena) => {
    const { gateway } = await directoryHere(arena)
    const person = await personOf(arena, "member", "disguised")
    return isRefused(await asked(gateway, "GET", path, { ...person.by[by], ...headers }), 400, 401, 403, 404)
  }
}))

export const peopleBeyondTheirRole: AttackClass = {
  name: "people beyond their role",
  // What is touched is looked at afterwards.
  atOnce: 1,
  attempts: [
    ...closedTo,
    ...ofNoRole,
    ...readsOfOthers,
    ...changesOfOthers,
    ...leadsBeyond,
    ...climbs,
    ...disguised,
    ...outliving
  ]
}
