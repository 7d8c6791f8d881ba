/**
 * Serves other gateways and programs of the operator by `/api/cloud` (docs/cloud-sync.md): the connections here, the targets of a model name,
 * and new credentials for a connection. A stored credential is never among the answers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { OAuthInput } from "../connections/routes.ts"
import type { Connection, OAuthTokens } from "../connections/entity.ts"
import type { ModelNotFound, NoTarget } from "../../contract/domain/Errors.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { resolve as resolveModel } from "../../plane/routing/resolve/ModelResolver.ts"
import { isFailure } from "../../plane/routing/resolve/ModelTargets.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { ModelAlias } from "../aliases/repo.ts"
import { Connections } from "../connections/service.ts"
import * as Errors from "../Errors.ts"
import { ObjectTurns } from "../ObjectTurns.ts"
import { ModelAliases } from "../aliases/service.ts"
import type { ObservedConnection } from "../connections/ObservedState.ts"

export interface NewCredentials {
  readonly provider: string
  /** Absent: the provider's only connection that holds such a credential. */
  readonly connectionId?: string | undefined
  readonly apiKey?: Redacted.Redacted | undefined
  readonly accessToken?: Redacted.Redacted | undefined
  readonly refreshToken?: Redacted.Redacted | undefined
  /** ISO 8601. */
  readonly expiresAt?: string | undefined
}

export interface Place {
  readonly provider: string
  readonly model: string
}

/** Targets of requests for a name; `places` are in order, each once, and never none. */
export interface Resolved {
  readonly combo: string | null
  readonly strategy: string
  readonly places: readonly [Place, ...ReadonlyArray<Place>]
}

type Refused = Errors.EntityNotFound | Errors.ReadOnly | Errors.InvalidInput | StoreError

export class CloudMembers extends Context.Tag("gateway/subjects/cloud/CloudMembers")<
  CloudMembers,
  {
    readonly connections: Effect.Effect<ReadonlyArray<ObservedConnection>>
    readonly aliases: Effect.Effect<ReadonlyArray<ModelAlias>, StoreError>
    /** Puts a key or tokens in the place of the stored ones. What belongs to the client of the tokens stays. */
    readonly updateCredentials: (input: NewCredentials) => Effect.Effect<ObservedConnection, Refused>
    readonly resolve: (name: string) => Effect.Effect<Resolved, ModelNotFound | NoTarget>
  }
>() {}

const mostPlaces = 100

/** New tokens with the client that they are for; a refresh token that is not given stays. */
const tokensWith = (
  before: OAuthTokens | null,
  accessToken: Redacted.Redacted,
  { expiresAt, refreshToken = before?.refreshToken ?? undefined }: NewCredentials
): OAuthInput => ({
  accessToken,
  ...(refreshToken === undefined ? {} : { refreshToken }),
  ...(expiresAt === undefined ? {} : { expiresAt }),
  ...(before?.clientId == null ? {} : { clientId: before.clientId }),
  ...(before?.clientSecret == null ? {} : { clientSecret: before.clientSecret }),
  ...(before?.tokenUrl == null ? {} : { tokenUrl: before.tokenUrl })
})

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const connections = yield* Connections
  const { list: aliases } = yield* ModelAliases

  /** The connection that new credentials are for. */
  const meant = Effect.fnUntraced(function* ({ accessToken, connectionId, provider }: NewCredentials) {
    const spec = catalog.current().provider(provider)
    if (spec === null) return yield* Errors.unknownProvider(provider)
    const authType = accessToken === undefined ? "apikey" : "oauth"
    const all = catalog.current().connections.filter((one) => one.provider === spec.id)
    const fit = all.filter((one) => (connectionId === undefined ? one.authType === authType : one.id === connectionId))
    const [found, another] = fit
    if (found === undefined) {
      const id = connectionId ?? `of ${spec.id} with ${authType === "oauth" ? "tokens" : "a key"}`
      const field = connectionId === undefined ? "provider" : "connectionId"
      return yield* new Errors.EntityNotFound({ entity: "connection", id: id.slice(0, 100), field })
    }
    if (another !== undefined) {
      return yield* Errors.invalid("connectionId", `is needed: there are ${fit.length} such connections of ${spec.id}`)
    }
    if (found.authType !== authType) {
      const wanted = found.authType === "oauth" ? "accessToken" : "apiKey"
      return yield* Errors.invalid(`credentials.${wanted}`, `is needed: the connection is of type ${found.authType}`)
    }
    return found
  })

  const changeOf = ({ oauth }: Connection, input: NewCredentials) => {
    const { accessToken, apiKey } = input
    if (accessToken !== undefined) return { oauth: tokensWith(oauth, accessToken, input) }
    return apiKey === undefined ? {} : { apiKey }
  }

  const updateCredentials = Effect.fn("CloudMembers.updateCredentials")(function* (input: NewCredentials) {
    const { accessToken, apiKey } = input
    if ((accessToken === undefined) === (apiKey === undefined)) {
      return yield* Errors.invalid("credentials", "must hold either 'accessToken' or 'apiKey'")
    }
    const { id } = yield* meant(input)
    const { inTurn } = yield* ObjectTurns
    return yield* inTurn(
      "providers",
      id
    )(Effect.flatMap(meant({ ...input, connectionId: id }), (found) => connections.update(id, changeOf(found, input))))
  })

  const resolve = Effect.fn("CloudMembers.resolve")(function* (name: string) {
    const { factsOf, modelsOf } = catalog
    const found = resolveModel({ catalog: catalog.current(), factsOf, modelsOf }, name)
    if (isFailure(found)) return yield* found
    const places = new Map<string, Place>()
    for (const { account, model } of found.targets) {
      const place = { provider: account.spec.id, model }
      if (places.size < mostPlaces) places.set(`${place.provider}/${model}`, place)
    }
    const [first, ...others] = places.values()
    if (first === undefined) return yield* Effect.dieMessage("A resolution has no target.")
    return { combo: found.combo?.name ?? null, strategy: found.strategy, places: [first, ...others] } as const
  })

  return CloudMembers.of({ connections: connections.list, aliases, updateCredentials, resolve })
})

export const layer: Layer.Layer<CloudMembers, never, Catalog | Connections | ModelAliases> = Layer.effect(
  CloudMembers,
  make
)
