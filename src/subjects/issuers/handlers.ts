/** `/api/issuers`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { returnBaseOf } from "../../entry/handling/ReturnBase.ts"
import { iso } from "../../entry/handling/Views.ts"
import { requestedAddress } from "../auth/Credentials.ts"
import { redirectUriOf } from "../signIn/ReturnAddress.ts"
import type { StoredIssuer } from "./repo.ts"
import { Issuers as IssuersGroup, type IssuerView } from "./routes.ts"
import { Issuers } from "./service.ts"

const viewOf = (issuer: StoredIssuer, base: string): IssuerView => ({
  id: issuer.id,
  name: issuer.name,
  kind: issuer.kind,
  issuer: issuer.issuer,
  clientId: issuer.clientId,
  hasClientSecret: issuer.clientSecret !== null || issuer.locked,
  scopes: issuer.scopes,
  allowedDomains: issuer.allowedDomains,
  allowedGroups: issuer.allowedGroups,
  groupsClaim: issuer.groupsClaim,
  groups: issuer.groupRules,
  defaultRole: issuer.defaultRole,
  scim: issuer.scim,
  enabled: issuer.isEnabled,
  redirectUri: redirectUriOf(base, issuer.id),
  createdAt: iso(issuer.createdAtMs),
  updatedAt: iso(issuer.updatedAtMs)
})

export const layer = HttpApiBuilder.group(contractOf(IssuersGroup), "issuers", (handlers) =>
  Effect.gen(function* () {
    const issuers = yield* Issuers
    const callerBounds = yield* makeCallerBounds
    const baseOf = yield* returnBaseOf
    const base = Effect.map(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => baseOf(headers) ?? requestedAddress(headers) ?? ""
    )
    const one = (issuer: StoredIssuer) => Effect.map(base, (at) => ({ issuer: viewOf(issuer, at) }))
    return handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const { items, nextCursor, total } = yield* paged(yield* answered(issuers.list), ({ id }) => id)
          const at = yield* base
          return { issuers: items.map((issuer) => viewOf(issuer, at)), nextCursor, total }
        })
      )
      .handle("get", ({ path }) => Effect.flatMap(answered(issuers.get(path.id)), one))
      .handle("create", ({ payload }) =>
        Effect.flatMap(callerBounds, (bounds) => Effect.flatMap(answered(issuers.create(payload, bounds)), one))
      )
      .handle("update", ({ path, payload }) =>
        Effect.flatMap(callerBounds, (bounds) =>
          Effect.flatMap(answered(issuers.update(path.id, payload, bounds)), one)
        )
      )
      .handle("remove", ({ path }) =>
        Effect.flatMap(callerBounds, (bounds) => answered(issuers.remove(path.id, bounds)))
      )
      .handle("test", ({ path }) =>
        Effect.gen(function* () {
          const { endSession, problems } = yield* answered(issuers.test(path.id))
          const redirectUri = redirectUriOf(yield* base, path.id)
          return { ok: problems.length === 0, problems, redirectUri, endSession }
        })
      )
  })
)
