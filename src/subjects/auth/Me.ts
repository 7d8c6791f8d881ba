/** Tells a caller about itself: who it is, by which credential, and what it may do. Pure. */
import { reachesOf, reachOf } from "../../contract/tiers/Rights.ts"
import { mayManage } from "./Access.ts"
import type { CallerTier } from "../../contract/tiers/Tier.ts"
import type { ApiKey, Principal, SessionPerson } from "../keys/entity.ts"
import type { PrincipalType } from "./entity.ts"
import type { Me } from "./routes.ts"

type MeView = typeof Me.Type

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const types: Readonly<Record<Principal["_tag"], PrincipalType>> = {
  Session: "session",
  Key: "apiKey",
  AdminKey: "adminKey",
  Owner: "owner",
  Anonymous: "anonymous"
}

const roleOfKey = ({ scopes }: ApiKey): MeView["role"] =>
  scopes.includes("admin") ? "admin" : scopes.includes("manage") ? "manager" : "member"

const limitsOf = (key: ApiKey): MeView["limits"] => ({
  allowedModels: key.allowedModels ?? [],
  blockedModels: key.blockedModels,
  allowedCombos: key.allowedCombos,
  allowedProviders: key.allowedProviders,
  allowedEndpoints: key.allowedEndpoints,
  maxRequestsPerMinute: key.maxRequestsPerMinute || null,
  maxRequestsPerDay: key.maxRequestsPerDay || null
})

const ofPerson = (key: ApiKey): Pick<MeView, "content" | "person" | "rights"> => {
  const role = key.owners?.role ?? null
  return {
    content: key.owners?.content ?? null,
    person: key.userId === null ? null : { id: key.userId, name: key.owners?.person ?? null, role },
    rights: reachesOf((operation) => (mayManage(key) ? "all" : reachOf(role, operation)))
  }
}

const ofSession = (person: SessionPerson | undefined): Pick<MeView, "person" | "rights" | "role"> => {
  if (person === undefined) return { person: null, rights: reachesOf(() => "all"), role: "admin" }
  const { name, role, userId } = person
  return {
    person: { id: userId, name, role },
    rights: reachesOf((operation) => reachOf(role, operation)),
    role: reachOf(role, "administer") === "all" ? "admin" : "member"
  }
}

/** A session by the beginning of its hash: enough to name it, and no cookie can be made of it. */
export const sessionName = (idHash: string): string => idHash.slice(0, 16)

/** `endsAtMs` tells when a session ends. */
export const meOf = (
  principal: Principal,
  tiers: ReadonlyArray<CallerTier>,
  endsAtMs: (sessionId: string) => number | null
): MeView => {
  const type = types[principal._tag]
  const isAnonymous = principal._tag === "Anonymous"
  const rights = reachesOf(() => (isAnonymous ? "none" : "all"))
  const plain = { content: null, person: null, rights, scopes: [], tiers, limits: null }
  const bearer = { type: "bearer", prefix: null, expiresAt: null } as const
  switch (principal._tag) {
    case "Anonymous":
      return {
        ...plain,
        principal: { type, id: null, name: null },
        credential: { type: "none", prefix: null, expiresAt: null },
        role: "anonymous"
      }
    case "AdminKey":
      return { ...plain, principal: { type, id: null, name: null }, credential: bearer, role: "admin" }
    case "Owner":
      return { ...plain, principal: { type, id: null, name: null }, credential: bearer, role: "owner" }
    case "Session":
      return {
        ...plain,
        ...ofSession(principal.person),
        principal: { type, id: sessionName(principal.sessionId), name: null },
        credential: {
          type: principal.isCommandLine === true ? "bearer" : "cookie",
          prefix: null,
          expiresAt: isoOf(endsAtMs(principal.sessionId))
        }
      }
    case "Key": {
      const { key } = principal
      return {
        principal: { type, id: key.id, name: key.name },
        credential: { type: "bearer", prefix: key.prefix, expiresAt: isoOf(key.expiresAtMs) },
        role: roleOfKey(key),
        ...ofPerson(key),
        scopes: key.scopes,
        tiers,
        limits: limitsOf(key)
      }
    }
  }
}
