/**
 * Tier of a route: the callers that may use it.
 *
 * - `public`: any caller.
 * - `inference`: an API key, when keys are required.
 * - `scrape`: any caller on this machine; from elsewhere a key of scope `read:metrics`, `manage` or `admin`, or an admin session, unless the setting `metricsPublic` is on.
 * - `manage`: an admin session, the admin key, or a key of scope `manage` or `admin`.
 * - `self`: an API key of scope `self:usage`, or a management key; about the key itself.
 * - `scim`: an API key of scope `scim`, or who may use `manage`; people and teams of a directory that pushes.
 * - `known`: any caller whose credential is good, an API key without scopes, too; without a credential only while keys are not required.
 * - `session`: an admin session only.
 * - `local`: any caller over a direct connection from this machine.
 * - `loopback`: as `manage`, and only over a direct connection from this machine.
 * - `owner`: the owner of the data folder, by the token that the running gateway writes into it.
 * - `ingest`: a capturing program on this machine, by the token of `INSPECTOR_INTERNAL_INGEST_TOKEN`, and only over a direct connection.
 */
export type Tier =
  | "public"
  | "inference"
  | "scrape"
  | "manage"
  | "self"
  | "scim"
  | "known"
  | "session"
  | "local"
  | "loopback"
  | "owner"
  | "ingest"

/** Every tier that a credential or a place opens to callers, without those for the gateway's own programs. */
export const callerTiers = [
  "public",
  "inference",
  "scrape",
  "known",
  "self",
  "scim",
  "manage",
  "session",
  "local",
  "loopback",
  "owner"
] as const satisfies ReadonlyArray<Tier>
export type CallerTier = (typeof callerTiers)[number]

/** Checks whether a tier is for direct connections from the gateway's machine only. */
export const isForThisMachine = (tier: Tier): boolean => tier === "local" || tier === "loopback" || tier === "ingest"
