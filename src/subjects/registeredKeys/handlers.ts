/** `/v1/quotas/check` and `/api/v1/registered-keys`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { RegisteredKeys as RegisteredKeysGroup } from "./routes.ts"
import type { IssuedKeyView, RegisteredKeyView } from "./routes.ts"
import type { CreatedKey } from "../auth/ApiKeys.ts"
import { stateProblemOf } from "../auth/KeyPolicy.ts"
import { hourMs } from "./entity.ts"
import { type QuotaCheck, QuotaChecks } from "./QuotaChecks.ts"
import { type RegisteredKey, RegisteredKeys } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { iso, isoOrNull } from "../../entry/handling/Views.ts"

const shownOf = ({ key, registration }: RegisteredKey) => ({
  keyId: key.id,
  keyPrefix: key.prefix,
  name: key.name,
  provider: registration.provider,
  accountId: registration.accountId,
  expiresAt: isoOrNull(key.expiresAtMs),
  dailyBudget: key.maxRequestsPerDay,
  hourlyBudget: key.rateLimits.find(({ window }) => window * 1_000 === hourMs)?.limit ?? null,
  createdAt: iso(key.createdAtMs)
})

const viewAt =
  (nowMs: number) =>
  (registered: RegisteredKey): RegisteredKeyView => ({
    id: registered.key.id,
    ...shownOf(registered),
    isActive: stateProblemOf(registered.key, nowMs) === null,
    revokedAt: isoOrNull(registered.registration.revokedAtMs),
    lastUsedAt: isoOrNull(registered.key.lastUsedAtMs)
  })

const issuedView = (issued: RegisteredKey & CreatedKey): IssuedKeyView => ({
  key: Redacted.value(issued.secret),
  ...shownOf(issued),
  warning: "Store this key now: it is shown this once and cannot be read again."
})

const checkView = ({ accountId, checkedAtMs, problem, provider }: QuotaCheck) => ({
  allowed: problem === null,
  ...problem,
  provider,
  accountId,
  checkedAt: iso(checkedAtMs)
})

const viewed = <E>(registered: Effect.Effect<RegisteredKey, E>) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => Effect.map(registered, viewAt(nowMs)))

export const layer = HttpApiBuilder.group(contractOf(RegisteredKeysGroup), "registeredKeys", (handlers) =>
  Effect.map(Effect.all([RegisteredKeys, QuotaChecks]), ([keys, quotas]) =>
    handlers
      .handle("check", ({ urlParams: { accountId = null, provider } }) =>
        answered(Effect.map(quotas.check(provider, accountId), checkView))
      )
      .handle("register", ({ payload }) => answered(Effect.map(keys.register(payload), issuedView)))
      .handle("list", ({ urlParams: { accountId = null, provider = null } }) =>
        answered(
          Effect.gen(function* () {
            const all = yield* keys.list(provider, accountId)
            const { items, nextCursor, total } = yield* paged(all, ({ key }) => key.id)
            return { keys: items.map(viewAt(yield* Clock.currentTimeMillis)), nextCursor, total }
          })
        )
      )
      .handle("get", ({ path }) => answered(viewed(keys.get(path.id))))
      .handle("revoke", ({ path }) => answered(viewed(keys.revoke(path.id))))
      .handle("remove", ({ path }) => answered(keys.remove(path.id)))
  )
)
