/** `/api/cloud`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Cloud } from "./routes.ts"
import type { CloudCredentials } from "./routes.ts"
import type { SetAlias } from "../aliases/routes.ts"
import { CloudMembers } from "./service.ts"
import { ModelAliases } from "../aliases/service.ts"
import type { ModelAlias } from "../aliases/repo.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { refused } from "../routing/handlers.ts"
import { iso } from "../../entry/handling/Views.ts"

const mapOf = (aliases: ReadonlyArray<ModelAlias>): Readonly<Record<string, string>> =>
  Object.fromEntries(aliases.map(({ alias, model }) => [alias, model]))

export const layer = HttpApiBuilder.group(contractOf(Cloud), "cloud", (handlers) =>
  Effect.gen(function* () {
    const members = yield* CloudMembers
    const aliases = yield* ModelAliases

    const overview = Effect.map(Effect.all([members.connections, members.aliases]), ([connections, all]) => ({
      authenticated: true as const,
      connections: connections.map(({ connection: { authType, id, isActive, name, provider } }) => ({
        id,
        provider,
        name,
        authType,
        isActive
      })),
      modelAliases: mapOf(all)
    }))

    const updateCredentials = ({ connectionId, credentials, provider }: CloudCredentials) =>
      Effect.gen(function* () {
        const { expiresAt, expiresIn, ...values } = credentials
        const nowMs = yield* Clock.currentTimeMillis
        const endsAt = expiresAt ?? (expiresIn === undefined ? undefined : iso(nowMs + expiresIn * 1_000))
        const { connection } = yield* answered(
          members.updateCredentials({ provider, connectionId, ...values, expiresAt: endsAt })
        )
        return { success: true as const, provider: connection.provider, connectionId: connection.id }
      })

    const setAlias = (alias: SetAlias) =>
      answered(Effect.map(aliases.set(alias), (stored) => ({ success: true as const, ...stored })))

    return handlers
      .handle("auth", () => answered(overview))
      .handle("putCredentials", ({ payload }) => updateCredentials(payload))
      .handle("updateCredentials", ({ payload }) => updateCredentials(payload))
      .handle("resolveModel", ({ payload }) => {
        const alias = payload.alias ?? payload.model
        if (alias === undefined) return badField("alias", "is missing")
        return Effect.mapBoth(members.resolve(alias), {
          onFailure: refused,
          onSuccess: ({ combo, places, strategy }) => ({ alias, ...places[0], combo, strategy, targets: places })
        })
      })
      .handle("aliases", () => answered(Effect.map(members.aliases, (all) => ({ aliases: mapOf(all) }))))
      .handle("putAlias", ({ payload }) => setAlias(payload))
      .handle("setAlias", ({ payload }) => setAlias(payload))
  })
)
