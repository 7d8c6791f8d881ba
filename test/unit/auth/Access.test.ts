import { assert, describe, it } from "@effect/vitest"
import type { Tier } from "../../../src/contract/tiers/Tier.ts"
import { actAs, decide } from "../../../src/subjects/auth/Access.ts"
import type { AccessFacts } from "../../../src/subjects/auth/Access.ts"
import { type ApiKey, unrestricted } from "../../../src/subjects/keys/entity.ts"
import type { UserRole } from "../../../src/subjects/users/entity.ts"

const key = (scopes: ReadonlyArray<string>): ApiKey => ({
  ...unrestricted,
  id: "key-1",
  name: "a key",
  prefix: "gw_abcde",
  hash: "0",
  oldSecrets: [],
  scopes,
  createdAtMs: 0,
  lastUsedAtMs: null
})

const nobody: AccessFacts = {
  key: "missing",
  keyIsOurs: false,
  keyProblem: null,
  reach: "none",
  sessionId: null,
  person: null,
  sessionReach: "all",
  isLogin: false,
  namesKey: false,
  csrfTokenValid: false,
  ownPage: false,
  safeMethod: false,
  crossSite: false,
  loopback: false,
  ingestTokenValid: false,
  keysRequired: false,
  metricsPublic: false,
  adminConfigured: true
}

/** `Anonymous`, `Key`, … when allowed; the status and code when not. */
const outcome = (tier: Tier, facts: Partial<AccessFacts>): string => {
  const access = decide(tier, { ...nobody, ...facts })
  return access._tag === "Allowed" ? access.principal._tag : `${access.status} ${access.code}`
}

const inferenceKey = { key: { _tag: "Key", key: key([]) } } as const
const metricsKey = { key: { _tag: "Key", key: key(["read:metrics"]) } } as const
const directoryKey = { key: { _tag: "Key", key: key(["scim"]) } } as const
const manageKey = { key: { _tag: "Key", key: key(["manage"]) } } as const
const adminScope = { key: { _tag: "Key", key: key(["admin"]) } } as const
const adminKey = { key: { _tag: "AdminKey" } } as const
const session = { sessionId: "s" } as const
const person = { userId: "u1", name: "Ada", role: "member" } as const
const member = { ...session, person, sessionReach: "none", ownPage: true, csrfTokenValid: true } as const
const reader = { ...member, sessionReach: "own" } as const

describe("Access.decide", () => {
  for (const [tier, facts, expected] of [
    ["public", {}, "Anonymous"],
    ["public", { key: "wrong" }, "Anonymous"],
    ["public", { crossSite: true }, "403 cross_site_request"],
    ["public", { crossSite: true, safeMethod: true }, "Anonymous"],

    ["scrape", {}, "401 missing_api_key"],
    ["scrape", { key: "wrong" }, "401 invalid_api_key"],
    ["scrape", { ...inferenceKey }, "403 key_scope"],
    ["scrape", { ...metricsKey }, "Key"],
    ["scrape", { ...metricsKey, keyProblem: "ip" }, "403 key_ip"],
    ["scrape", { ...manageKey }, "Key"],
    ["scrape", { ...adminScope }, "Key"],
    ["scrape", { ...adminKey }, "AdminKey"],
    ["scrape", { ...session, safeMethod: true }, "Session"],
    ["scrape", { ...inferenceKey, loopback: true }, "Anonymous"],
    ["manage", { ...metricsKey }, "403 key_scope"],
    ["scrape", { ...inferenceKey, keyProblem: "expired" }, "401 key_expired"],
    ["scrape", { loopback: true, keysRequired: true }, "Anonymous"],
    ["scrape", { metricsPublic: true, keysRequired: true }, "Anonymous"],

    ["inference", {}, "Anonymous"],
    ["inference", { key: "wrong" }, "Anonymous"],
    ["inference", { key: "wrong", keyIsOurs: true }, "401 invalid_api_key"],
    ["inference", { keysRequired: true }, "401 missing_api_key"],
    ["inference", { key: "wrong", keysRequired: true }, "401 invalid_api_key"],
    ["inference", { ...inferenceKey, keysRequired: true }, "Key"],
    ["inference", { ...adminKey, keysRequired: true }, "AdminKey"],
    ["inference", { ...inferenceKey, keyProblem: "expired" }, "401 key_expired"],
    ["inference", { ...inferenceKey, keyProblem: "inactive" }, "401 key_inactive"],
    ["inference", { ...session, keysRequired: true }, "401 session_unproved"],
    ["inference", { ...session, keysRequired: true, ownPage: true }, "401 session_unproved"],
    ["inference", { ...session, keysRequired: true, csrfTokenValid: true }, "401 session_unproved"],
    ["inference", { ...session, keysRequired: true, ownPage: true, safeMethod: true }, "401 session_unproved"],
    ["inference", { ...session, keysRequired: true, ownPage: true, csrfTokenValid: true }, "Session"],
    ["inference", { ...session, ownPage: true, csrfTokenValid: true }, "Session"],
    ["inference", { ...session, csrfTokenValid: true }, "Anonymous"],
    ["inference", { ...session, ...inferenceKey, ownPage: true, csrfTokenValid: true }, "Key"],
    [
      "inference",
      { ...session, key: "wrong", keysRequired: true, ownPage: true, csrfTokenValid: true },
      "401 invalid_api_key"
    ],

    ["manage", {}, "401 missing_api_key"],
    ["manage", { key: "wrong" }, "401 invalid_api_key"],
    ["manage", { adminConfigured: false }, "401 admin_not_configured"],
    ["manage", { key: "wrong", adminConfigured: false }, "401 admin_not_configured"],
    ["manage", inferenceKey, "403 key_scope"],
    ["manage", manageKey, "Key"],
    ["manage", adminScope, "Key"],
    ["manage", adminKey, "AdminKey"],
    ["manage", { ...manageKey, keyProblem: "expired" }, "401 key_expired"],
    ["manage", { ...session, safeMethod: true }, "Session"],
    ["manage", session, "403 csrf_token_invalid"],
    ["manage", { ...session, csrfTokenValid: true }, "Session"],
    ["manage", { ...session, csrfTokenValid: true, crossSite: true }, "403 cross_site_request"],
    ["manage", { ...session, ...inferenceKey, csrfTokenValid: true }, "403 key_scope"],

    ["session", {}, "401 session_required"],
    ["session", adminKey, "401 session_required"],
    ["session", { key: { _tag: "Owner" } }, "Owner"],
    ["session", { ...session, safeMethod: true }, "Session"],
    ["session", session, "403 csrf_token_invalid"],
    ["session", { ...session, csrfTokenValid: true }, "Session"],

    ["scim", {}, "401 missing_api_key"],
    ["scim", { key: "wrong" }, "401 invalid_api_key"],
    ["scim", inferenceKey, "403 key_scope"],
    ["scim", directoryKey, "Key"],
    ["scim", { ...directoryKey, keyProblem: "expired" }, "401 key_expired"],
    ["scim", { ...inferenceKey, reach: "all" }, "Key"],
    ["scim", manageKey, "Key"],
    ["scim", adminKey, "AdminKey"],
    ["scim", member, "403 key_scope"],
    ["scim", { ...reader, csrfTokenValid: false }, "403 csrf_token_invalid"],
    ["manage", directoryKey, "403 key_scope"],
    ["session", directoryKey, "401 session_required"],

    ["known", {}, "Anonymous"],
    ["known", { keysRequired: true }, "401 missing_api_key"],
    ["known", { key: "wrong" }, "401 invalid_api_key"],
    ["known", { key: "wrong", keysRequired: true }, "401 invalid_api_key"],
    ["known", { ...inferenceKey, keysRequired: true }, "Key"],
    ["known", { ...inferenceKey, keyProblem: "expired" }, "401 key_expired"],
    ["known", { ...inferenceKey, keyProblem: "ip" }, "403 key_ip"],
    ["known", manageKey, "Key"],
    ["known", adminKey, "AdminKey"],
    ["known", { key: { _tag: "Owner" } }, "Owner"],
    ["known", { ...session, safeMethod: true, keysRequired: true }, "Session"],
    ["known", { ...session, key: "wrong", safeMethod: true }, "401 invalid_api_key"],

    ["manage", member, "403 key_scope"],
    ["manage", reader, "Session"],
    ["manage", { ...reader, csrfTokenValid: false }, "403 csrf_token_invalid"],
    ["session", member, "403 key_scope"],
    ["session", reader, "Session"],
    ["self", member, "403 key_scope"],
    ["scrape", member, "403 key_scope"],
    ["known", { ...member, safeMethod: true }, "Session"],
    ["owner", { ...reader, sessionReach: "all" }, "403 owner_only"],
    ["inference", { ...member, keysRequired: true }, "401 session_unproved"],
    ["inference", { ...reader, keysRequired: true }, "401 session_unproved"],
    ["inference", member, "Anonymous"],
    ["inference", { ...member, namesKey: true, keysRequired: true }, "Session"],
    ["inference", { ...member, sessionReach: "all", keysRequired: true }, "Session"],

    ["loopback", adminKey, "403 loopback_only"],
    ["loopback", { ...adminKey, loopback: true }, "AdminKey"],
    ["loopback", { loopback: true }, "401 missing_api_key"],

    ["ingest", { ingestTokenValid: true }, "403 loopback_only"],
    ["ingest", adminKey, "403 loopback_only"],
    ["ingest", { ...adminKey, loopback: true }, "403 ingest_token"],
    ["ingest", { ...session, csrfTokenValid: true, loopback: true }, "403 ingest_token"],
    ["ingest", { ingestTokenValid: true, loopback: true }, "Anonymous"]
  ] as const) {
    it(`${tier} ${JSON.stringify(facts)} → ${expected}`, () => assert.strictEqual(outcome(tier, facts), expected))
  }

  it("says how to set an administrator", () => {
    const access = decide("manage", { ...nobody, adminConfigured: false })
    assert.include(access._tag === "Denied" ? access.message : "", "gateway setup")
    assert.include(access._tag === "Denied" ? access.message : "", "GATEWAY_ADMIN_KEY")
  })
})

describe("Access.actAs", () => {
  const acting = (role: UserRole | null, named: Partial<ApiKey>): string => {
    const principal = role === null ? undefined : { ...person, role }
    const access = {
      _tag: "Allowed",
      principal: { _tag: "Session", sessionId: "s", ...(principal === undefined ? {} : { person: principal }) }
    } as const
    const facts = { takesSession: true, named: { ...key([]), ...named }, keyProblem: null }
    const acted = actAs("inference", access, facts)
    return acted._tag === "Allowed" ? acted.principal._tag : acted.code
  }
  const owners = { mayUse: true, person: "Olga", role: "owner", models: [], content: null } as const

  it("lets people act with their own keys, and who administers with those of less", () => {
    assert.strictEqual(acting("member", { userId: "u1" }), "Key")
    assert.strictEqual(acting("member", { userId: "u2" }), "as_key_unknown")
    assert.strictEqual(acting("lead", { userId: null }), "as_key_unknown")
    assert.strictEqual(acting("admin", { userId: "u2" }), "Key")
    assert.strictEqual(acting("admin", { userId: "u2", owners }), "as_key_unknown")
    assert.strictEqual(acting("admin", { scopes: ["manage"] }), "as_key_unknown")
    assert.strictEqual(acting("owner", { scopes: ["manage"] }), "Key")
    assert.strictEqual(acting(null, { userId: "u2" }), "Key")
  })
})
