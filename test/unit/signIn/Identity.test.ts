import { assert, describe, it } from "@effect/vitest"
import { settingsOf } from "../../../src/subjects/issuers/rules.ts"
import { type Identity, identityOf, isRefusal, movedTeams, roleAt } from "../../../src/subjects/signIn/Identity.ts"
import { redirectUriOf, returnBase } from "../../../src/subjects/signIn/ReturnAddress.ts"
import type { Team } from "../../../src/subjects/teams/entity.ts"
import type { User, UserRole } from "../../../src/subjects/users/entity.ts"

const settings = settingsOf({ name: "Company", issuer: "https://login.example", clientId: "gateway" })
const claims = { sub: "1", email: "Ada@Example.com", name: "Ada" }

const identity = (groups: ReadonlyArray<string>): Identity => ({
  issuer: "https://login.example",
  subject: "1",
  name: "Ada",
  email: "ada@example.com",
  groups
})

const user = (role: UserRole): User => ({
  ...identity([]),
  id: "u1",
  userName: null,
  provisioned: null,
  role,
  source: "oidc",
  state: "active",
  budget: null,
  limits: null,
  createdAtMs: 0,
  updatedAtMs: 0
})

const refusalOf = (more: object, changed: object = {}): string => {
  const found = identityOf({ ...settings, ...changed }, "https://login.example", { ...claims, ...more })
  return isRefusal(found) ? found.refused : "none"
}

describe("claims", () => {
  it("name a person, with groups of a claim within others", () => {
    const found = identityOf({ ...settings, groupsClaim: "realm_access.roles" }, "https://login.example", {
      ...claims,
      realm_access: { roles: ["a", 7, "b"] }
    })
    assert.deepStrictEqual(found, identity(["a", "b"]))
    const url = "https://example.com/groups"
    const own = identityOf({ ...settings, groupsClaim: url }, "https://login.example", { ...claims, [url]: "one" })
    assert.deepStrictEqual(own, identity(["one"]))
  })

  it("without an account, with an odd address or one of a domain that only ends so, are refused", () => {
    const domains = { allowedDomains: ["example.com"] }
    assert.include(refusalOf({ sub: "" }), "no account")
    assert.include(refusalOf({ email: "ada@example.com,eve@example.com" }), "no e-mail address")
    assert.include(refusalOf({ email: "ada\u202e@example.com" }), "no e-mail address")
    assert.include(refusalOf({ email: "ada@notexample.com", email_verified: true }, domains), "domain")
    assert.include(refusalOf({ email_verified: "false" }), "not verified")
    assert.strictEqual(refusalOf({ email_verified: "true" }, domains), "none")
  })
})

describe("the role", () => {
  const rules = (...roles: ReadonlyArray<UserRole>) => ({
    ...settings,
    groupRules: roles.map((role) => ({ group: role, role, team: null }))
  })

  it("is the greatest that groups give, each time; without such groups what it was", () => {
    assert.strictEqual(roleAt(rules("lead", "admin"), identity(["lead", "admin"]), null), "admin")
    assert.strictEqual(roleAt(rules("lead", "admin"), identity([]), user("admin")), "member")
    assert.strictEqual(roleAt(settings, identity([]), user("lead")), "lead")
    assert.strictEqual(roleAt({ ...settings, defaultRole: null }, identity([]), null), null)
  })

  it("is not taken from an owner by rules without owners, and is by those with them", () => {
    assert.strictEqual(roleAt(rules("member"), identity(["member"]), user("owner")), "owner")
    assert.strictEqual(roleAt(rules("owner"), identity([]), user("owner")), "member")
  })
})

describe("teams", () => {
  const team = (id: string, members: ReadonlyArray<string>): Team => ({
    id,
    name: id,
    source: "local",
    externalId: null,
    parent: null,
    budget: null,
    models: null,
    rate: 1,
    content: "none",
    contentNotice: null,
    limits: null,
    members,
    createdAtMs: 0,
    updatedAtMs: 0
  })

  it("that rules name are joined and left by groups, and no others are touched", () => {
    const groupRules = [
      { group: "a", role: null, team: "t1" },
      { group: "b", role: null, team: "t2" },
      { group: "a", role: null, team: "gone" }
    ]
    const teams = new Map(
      [team("t1", ["u2"]), team("t2", ["u1", "u2"]), team("t3", ["u1"])].map((each) => [each.id, each])
    )
    const moved = movedTeams({ ...settings, groupRules }, identity(["a"]), "u1", teams)
    assert.deepStrictEqual(
      moved.map(({ id, members }) => [id, members]),
      [
        ["t1", ["u2", "u1"]],
        ["t2", ["u2"]]
      ]
    )
  })
})

describe("the address to come back to", () => {
  const rules = { signInUrl: null, allowedHosts: new Set(["gateway.example"]) }

  it("is that of the request only where the settings know its host", () => {
    const base = (host: string, more: object = {}) => returnBase({ host, ...more }, rules)
    assert.strictEqual(base("127.0.0.1:4000"), "http://127.0.0.1:4000")
    assert.strictEqual(base("[fd00::1]:4000"), "http://[fd00::1]:4000")
    assert.strictEqual(base("gateway.example", { "x-forwarded-proto": "https" }), "https://gateway.example")
    assert.strictEqual(base("evil.example"), null)
    assert.strictEqual(
      base("evil.example", { ":gateway-address": "https://pub.example/llm/" }),
      "https://pub.example/llm"
    )
    assert.strictEqual(
      returnBase({ host: "evil.example" }, { ...rules, signInUrl: "https://t.example" }),
      "https://t.example"
    )
    assert.strictEqual(
      redirectUriOf("https://pub.example/llm", "i1"),
      "https://pub.example/llm/api/sign-in/i1/callback"
    )
  })
})
