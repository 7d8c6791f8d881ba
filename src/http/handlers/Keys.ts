/** `/api/keys`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { GatewayApi } from "../../api/Api.ts"
import { ApiKeys } from "../../auth/ApiKeys.ts"
import { QuotaGroupRepo } from "../../store/repo/QuotaGroupRepo.ts"
import { ConfigChanges, notFound, stored } from "./Support.ts"
import { keyView } from "./Views.ts"

const timeOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso))

export const layer = HttpApiBuilder.group(GatewayApi, "keys", (handlers) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const groups = yield* QuotaGroupRepo
    const changes = yield* ConfigChanges
    return handlers
      .handle("list", () => Effect.sync(() => ({ keys: keys.list().map(keyView) })))
      .handle("get", ({ path }) =>
        Effect.suspend(() => {
          const key = keys.get(path.id)
          return key === null ? notFound("API key", path.id) : Effect.succeed({ key: keyView(key) })
        })
      )
      .handle("create", ({ payload }) =>
        keys
          .create({
            name: payload.name,
            scopes: payload.scopes ?? [],
            allowedModels: payload.allowedModels ?? null,
            expiresAtMs: timeOf(payload.expiresAt ?? null),
            rateLimits: payload.rateLimits ?? [],
            isActive: payload.isActive ?? true
          })
          .pipe(
            Effect.map(({ key, secret }) => ({ key: keyView(key), secret: Redacted.value(secret) })),
            stored
          )
      )
      .handle("update", ({ path, payload: { expiresAt, ...payload } }) =>
        keys
          .update(path.id, { ...payload, ...(expiresAt === undefined ? {} : { expiresAtMs: timeOf(expiresAt) }) })
          .pipe(
            Effect.flatMap((key) =>
              key === null ? notFound("API key", path.id) : Effect.succeed({ key: keyView(key) })
            ),
            stored
          )
      )
      .handle("remove", ({ path }) =>
        Effect.gen(function* () {
          if (!(yield* keys.remove(path.id))) return yield* notFound("API key", path.id)
          yield* groups.dropApiKey(path.id)
        }).pipe(changes.apply, stored)
      )
  })
)
