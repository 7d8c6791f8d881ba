/**
 * A directory that pushes, or who pretends to be one: somebody gets in who may not, it touches what is not its own, makes owners by the hand of an
 * admin, or costs others their time.
 */
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { routes } from "../../../src/contract/Routes.ts"
import type { Arena, Gateway } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs, type Verdict } from "../Attempt.ts"
import { once } from "../Once.ts"
import type { Answer } from "../RawHttp.ts"
import { stalls } from "../Stalls.ts"

const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp"

const push = (gateway: Gateway, secret: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  gateway.send({
    method,
    path: `/scim/v2${path}`,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/scim+json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })

const patched = (...Operations: ReadonlyArray<object>) => ({ schemas: [patchSchema], Operations })

const pushed = async (...request: Parameters<typeof push>) => {
  const { status, text } = await push(...request)
  if (status < 200 || status > 299) throw new Error(`${request[2]} ${request[3]}: ${status} ${text}`)
  return text === "" ? null : JSON.parse(text)
}

const keyOf = async (gateway: Gateway, body: object): Promise<{ readonly id: string; readonly secret: string }> => {
  const { key, secret } = await gateway.must("POST", "/api/keys", body)
  return { id: key.id, secret }
}

const roles = ["admin", "lead", "member", "viewer"] as const

/** A directory with a person and a group, one person and one team of this gateway, and keys of each role. */
const sceneOf = once(async ({ closed, fresh }: Arena) => {
  const directory = await keyOf(closed, { name: fresh("directory"), scopes: ["scim"] })
  const plain = await keyOf(closed, { name: fresh("plain") })
  const byRole = new Map<string, string>()
  for (const role of roles) {
    const { user } = await closed.must("POST", "/api/users", { name: role, email: `${fresh(role)}@example.com`, role })
    byRole.set(role, (await keyOf(closed, { name: fresh(role), userId: user.id })).secret)
  }
  const { user: local } = await closed.must("POST", "/api/users", {
    name: "Local",
    email: `${fresh("local")}@example.com`
  })
  const { team } = await closed.must("POST", "/api/teams", { name: fresh("team"), members: [local.id] })
  await closed.must("POST", "/api/issuers", {
    name: fresh("issuer"),
    issuer: "https://login.example.com",
    clientId: "gateway",
    groups: [{ group: "makes-owners", role: "owner" }],
    scim: {}
  })
  const ada = await pushed(closed, directory.secret, "POST", "/Users", { userName: `${fresh("ada")}@example.com` })
  const owner = await pushed(closed, directory.secret, "POST", "/Users", { userName: `${fresh("own")}@example.com` })
  const owners = await pushed(closed, directory.secret, "POST", "/Groups", {
    displayName: "makes-owners",
    members: [{ value: owner.id }]
  })
  return {
    directory,
    plain,
    byRole,
    localId: local.id,
    teamId: team.id,
    adaId: ada.id,
    ownerId: owner.id,
    ownersId: owners.id
  }
})

type Scene = Awaited<ReturnType<typeof sceneOf>>

const attempt = (name: string, run: (gateway: Gateway, scene: Scene, arena: Arena) => Promise<Verdict>): Attempt => ({
  name,
  run: async (arena) => run(arena.closed, await sceneOf(arena), arena)
})

const isRefused = ({ status, text }: Answer, ...statuses: ReadonlyArray<number>): Verdict =>
  statuses.includes(status) ? null : `it was answered with ${status}: ${text.slice(0, 200)}`

const scimRoutes = routes.filter(({ tier }) => tier === "scim")

/** Credentials that open no route of a directory. */
const strangers: Readonly<Record<string, (scene: Scene) => Readonly<Record<string, string>>>> = {
  "no key": () => ({}),
  "a wrong key": () => ({ authorization: "Bearer wrong" }),
  "a key for models": ({ plain }) => ({ authorization: `Bearer ${plain.secret}` }),
  "a lead's key": ({ byRole }) => ({ authorization: `Bearer ${byRole.get("lead")}` }),
  "a member's key": ({ byRole }) => ({ authorization: `Bearer ${byRole.get("member")}` }),
  "a viewer's key": ({ byRole }) => ({ authorization: `Bearer ${byRole.get("viewer")}` }),
  "the directory's key as x-api-key": ({ directory }) => ({ "x-api-key": directory.secret }),
  "the directory's key as a password": ({ directory }) => ({
    authorization: `Basic ${Buffer.from(`scim:${directory.secret}`).toString("base64")}`
  })
}

const entering = pairs(scimRoutes, Object.entries(strangers)).map(([{ method, path }, [name, headers]]) =>
  attempt(`${method} ${path} with ${name}`, async (gateway, scene) =>
    isRefused(
      await gateway.send({
        method,
        path: path.replace(":id", scene.adaId),
        headers: { "content-type": "application/scim+json", ...headers(scene) },
        ...(method === "GET" || method === "DELETE" ? {} : { body: "{}" })
      }),
      401,
      403
    )
  )
)

/** The key of a directory at the rest of the management. */
const leaving = managementRoutes
  .filter(({ tier }) => tier === "manage")
  .map(({ method, path }) =>
    attempt(`${method} ${path} with the directory's key`, async (gateway, { directory }) =>
      isRefused(
        await gateway.send({
          method,
          path: path.replaceAll(/:\w+/g, "none"),
          headers: { authorization: `Bearer ${directory.secret}`, "content-type": "application/json" },
          ...(method === "GET" ? {} : { body: "{}" })
        }),
        401,
        403
      )
    )
  )

const changes: ReadonlyArray<readonly [string, (scene: Scene) => object | undefined]> = [
  ["GET", () => undefined],
  ["PUT", () => ({ userName: "eve@example.com", displayName: "Eve" })],
  ["PATCH", ({ adaId }) => patched({ op: "add", value: { active: false, members: [{ value: adaId }] } })],
  ["DELETE", () => undefined]
]

const touching = pairs(changes, ["/Users/{local}", "/Groups/{team}", "/Users/{team}", "/Groups/{local}"]).map(
  ([[method, body], path]) =>
    attempt(`${method} of ${path}, which is not the directory's`, async (gateway, scene) => {
      const at = path.replace("{local}", scene.localId).replace("{team}", scene.teamId)
      const before = await gateway.must("GET", `/api/teams/${scene.teamId}`)
      const verdict = isRefused(await push(gateway, scene.directory.secret, method, at, body(scene)), 404)
      const { user } = await gateway.must("GET", `/api/users/${scene.localId}`)
      const after = await gateway.must("GET", `/api/teams/${scene.teamId}`)
      const isSame =
        user.state === "active" && JSON.stringify(after.team.members) === JSON.stringify(before.team.members)
      return verdict ?? (isSame ? null : "it was changed")
    })
)

/** What an admin may not by other ways. */
const byAdmin: ReadonlyArray<Attempt> = [
  ["an admin makes a person an owner by a group", "PATCH", "/Groups/{owners}"],
  ["an admin replaces the group that makes owners", "PUT", "/Groups/{owners}"],
  ["an admin removes the group that makes owners", "DELETE", "/Groups/{owners}"],
  ["an admin suspends an owner", "PATCH", "/Users/{owner}"],
  ["an admin replaces an owner", "PUT", "/Users/{owner}"],
  ["an admin removes an owner", "DELETE", "/Users/{owner}"]
].map(([name = "", method = "", path = ""]) =>
  attempt(name, async (gateway, { adaId, byRole, ownerId, ownersId }) => {
    const at = path.replace("{owners}", ownersId).replace("{owner}", ownerId)
    const members = [{ value: adaId }]
    const bodies: Readonly<Record<string, object>> = {
      PATCH: patched({ op: "replace", value: path.startsWith("/Groups") ? { members } : { active: false } }),
      PUT: { userName: "eve@example.com", displayName: "makes-owners", members, active: false }
    }
    const verdict = isRefused(await push(gateway, byRole.get("admin") ?? "", method, at, bodies[method]), 403)
    const { user } = await gateway.must("GET", `/api/users/${adaId}`)
    return verdict ?? (user.role === "owner" ? "the person is an owner" : null)
  })
)

const keysOfDirectories = pairs(roles, ["a new key of the scope", "the scope for a key", "another secret"]).map(
  ([role, what]) =>
    attempt(`${what}, by the role ${role}`, async (gateway, { byRole, directory, plain }) => {
      const [method, path, body] =
        what === "another secret"
          ? ["POST", `/api/keys/${directory.id}/rotate`, {}]
          : what === "the scope for a key"
            ? ["PATCH", `/api/keys/${plain.id}`, { scopes: ["scim"] }]
            : ["POST", "/api/keys", { name: "mine", scopes: ["scim"] }]
      const headers = { authorization: `Bearer ${byRole.get(role)}`, "content-type": "application/json" }
      return isRefused(await gateway.send({ method, path, headers, body: JSON.stringify(body) }), 403, 404)
    })
)

/** Members that are no attributes of a directory, with values that would give more. */
const granting: Readonly<Record<string, unknown>> = {
  role: "owner",
  source: "local",
  id: "chosen",
  issuer: "https://evil.example",
  subject: "evil",
  state: "active",
  budget: { monthlyLimitUsd: 1e9 },
  roles: [{ value: "owner" }],
  entitlements: [{ value: "admin" }],
  meta: { version: 'W/"1"' },
  groups: [{ value: "{owners}" }],
  constructor: { prototype: { role: "owner" } },
  "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { role: "owner" }
}

const grants = pairs(Object.entries(granting), ["POST", "PUT", "PATCH", "PATCH with a path"]).map(
  ([[name, value], way]) =>
    attempt(`${name} by ${way}`, async (gateway, { directory, ownersId }, { fresh }) => {
      const given = JSON.parse(JSON.stringify(value).replace("{owners}", ownersId))
      const userName = `${fresh("granted")}@example.com`
      const made = await pushed(gateway, directory.secret, "POST", "/Users", {
        userName,
        ...(way === "POST" ? { [name]: given } : {})
      })
      const at = `/Users/${made.id}`
      if (way === "PUT") await push(gateway, directory.secret, "PUT", at, { userName, [name]: given })
      if (way === "PATCH")
        await push(gateway, directory.secret, "PATCH", at, patched({ op: "add", value: { [name]: given } }))
      if (way === "PATCH with a path") {
        await push(gateway, directory.secret, "PATCH", at, patched({ op: "add", path: name, value: given }))
      }
      const { user } = await gateway.must("GET", `/api/users/${made.id}`)
      const { budget, issuer, role, source, teams } = user
      const is = JSON.stringify([role, source, issuer, budget, teams])
      return is === '["member","scim",null,null,[]]' ? null : `the person is ${is}`
    })
)

const controls = ["\u0000", "\u0007", "\u001b[2J", "\r\nSet-Cookie: a=b", "\u202e", "\u200b", "\u2028", "\u009b31m"]
const named = ["userName", "externalId", "displayName", "formatted", "givenName", "emails", "type", "group"] as const

const isPlain = (value: unknown): boolean =>
  !/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(
    JSON.stringify(value).replaceAll(/\\u00[01][\da-f]|\\[bfnrt]/g, "\u0007")
  )

const resourceWith = (attribute: (typeof named)[number], text: string, userName: string): object => {
  switch (attribute) {
    case "formatted":
    case "givenName":
      return { userName, name: { [attribute]: text } }
    case "emails":
      return { userName, emails: [{ value: `a${text}@example.com` }] }
    case "type":
      return { userName, emails: [{ value: userName, type: text }] }
    case "group":
      return { displayName: text }
    default:
      return { userName, [attribute]: text }
  }
}

const naming = pairs(named, controls).map(([attribute, control]) =>
  attempt(`${attribute} with ${JSON.stringify(control)}`, async (gateway, { directory }, { fresh }) => {
    const kind = attribute === "group" ? "Groups" : "Users"
    const word = fresh("named")
    const body = resourceWith(attribute, `${word}${control}x`, `${word}@example.com`)
    const { headers, status, text } = await push(gateway, directory.secret, "POST", `/${kind}`, body)
    if (headers["set-cookie"] !== undefined) return "a header was made of it"
    if (status === 400) return isPlain(JSON.parse(text)) ? null : "the refusal repeats it"
    if (status !== 201) return `it was answered with ${status}`
    const { id } = JSON.parse(text)
    const kept = await gateway.must("GET", `/api/${kind === "Users" ? "users" : "teams"}/${id}`)
    return isPlain(JSON.parse(text)) && isPlain(kept) ? null : "controls are kept"
  })
)

const people = 2_000

/** A gateway whose event loop is watched, with people of a directory and a group that gives a role. */
const crowdOf = once(async (arena) => {
  const gateway = await arena.watched({})
  await gateway.must("POST", "/api/issuers", {
    name: "crowd",
    issuer: "https://login.example.com",
    clientId: "gateway",
    groups: [{ group: "leads", role: "lead" }],
    scim: {}
  })
  const { secret } = await keyOf(gateway, { name: "directory", scopes: ["scim"] })
  const ids: Array<string> = []
  for (let index = 0; index < people; index += 10) {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, more) =>
        pushed(gateway, secret, "POST", "/Users", { userName: `p${index + more}@example.com`, externalId: `${index}` })
      )
    )
    ids.push(...made.map(({ id }) => String(id)))
  }
  const group = await pushed(gateway, secret, "POST", "/Groups", { displayName: "leads" })
  return { gateway, secret, ids, groupId: String(group.id) }
})

const costly = (
  name: string,
  status: number,
  request: (crowd: Awaited<ReturnType<typeof crowdOf>>) => [string, string, unknown?]
): Attempt => ({
  name,
  run: async (arena) => {
    const crowd = await crowdOf(arena)
    return stalls(name, crowd.gateway, async () => {
      const [method, path, body] = request(crowd)
      return isRefused(await push(crowd.gateway, crowd.secret, method, path, body), status)
    })
  }
})

const filtered = (filter: string): [string, string] => ["GET", `/Users?count=1&filter=${encodeURIComponent(filter)}`]
const many = (count: number, part: string, word: string): string => Array.from({ length: count }, () => part).join(word)

const costs: ReadonlyArray<Attempt> = [
  costly("a filter of the most comparisons", 200, () => filtered(many(40, 'displayName co "zzzz"', " or "))),
  costly("a filter of more comparisons", 400, () => filtered(many(100, "active pr", " or "))),
  costly("a filter of many levels", 400, () => filtered(`${"(".repeat(1_500)}active pr${")".repeat(1_500)}`)),
  costly("a filter of many nots", 400, () => filtered(`${"not (".repeat(700)}active pr${")".repeat(700)}`)),
  costly("a filter with an open quote and many escapes", 400, () => filtered(`userName eq "${"\\".repeat(3_801)}`)),
  costly("a filter of spaces", 400, () => filtered(`userName eq${" ".repeat(3_900)}`)),
  costly("a long text in a filter", 200, () => filtered(`userName co "${"a".repeat(3_900)}"`)),
  costly("a page of the most people", 200, () => ["GET", "/Users?count=999999999"]),
  costly("10,000 operations on a person", 200, ({ ids }) => [
    "PATCH",
    `/Users/${ids[0]}`,
    patched(
      ...Array.from({ length: 10_000 }, () => ({
        op: "replace",
        path: 'emails[type eq "work"].value',
        value: "a@b.example"
      }))
    )
  ]),
  costly("more operations", 400, ({ ids }) => [
    "PATCH",
    `/Users/${ids[0]}`,
    patched(...Array.from({ length: 40_000 }, () => ({ op: "add", path: "active", value: true })))
  ]),
  costly("all people as members, with a role each", 204, ({ groupId, ids }) => [
    "PATCH",
    `/Groups/${groupId}`,
    patched({ op: "add", path: "members", value: ids.map((value) => ({ value })) })
  ]),
  costly("all people removed by a path each", 204, ({ groupId, ids }) => [
    "PATCH",
    `/Groups/${groupId}`,
    patched(...ids.map((id) => ({ op: "remove", path: `members[value eq "${id}"]` })))
  ]),
  costly("a body over the limit", 413, ({ groupId }) => [
    "PUT",
    `/Groups/${groupId}`,
    `{"displayName":"${"a".repeat(4_300_000)}"}`
  ]),
  costly("a body of many levels", 400, ({ groupId }) => [
    "PUT",
    `/Groups/${groupId}`,
    `${"[".repeat(100_000)}${"]".repeat(100_000)}`
  ])
]

export const directories: AttackClass = {
  name: "directories that push",
  // The stalls are those of one gateway, and what is touched is looked at afterwards.
  atOnce: 1,
  attempts: [...entering, ...leaving, ...touching, ...byAdmin, ...keysOfDirectories, ...grants, ...naming, ...costs]
}
