/** The refresh service over a real store in memory and a token endpoint that rotates its refresh tokens. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import * as Logger from "effect/Logger"
import * as Cause from "effect/Cause"
import * as HashMap from "effect/HashMap"
import * as Redacted from "effect/Redacted"
import type { Connection, OAuthTokens } from "../../../../src/subjects/connections/entity.ts"
import { fromRaw } from "../../../../src/net/egress/UpstreamHeaders.ts"
import { type RequestError, Upstream, type UpstreamRequest } from "../../../../src/net/egress/Upstream.ts"
import * as Flags from "../../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import * as Catalog from "../../../../src/plane/providers/Catalog.ts"
import * as ModelLists from "../../../../src/plane/providers/ModelLists.ts"
import * as TokenRefresh from "../../../../src/plane/providers/oauth/TokenRefresh.ts"
import { connection, node } from "../../../support/Records.ts"
import { reposInMemory } from "../../store/fixtures.ts"

export const tokens = (given: Partial<OAuthTokens> = {}): OAuthTokens => ({
  accessToken: Redacted.make("access-token-0"),
  refreshToken: Redacted.make("refresh-token-0"),
  expiresAtMs: null,
  clientId: null,
  clientSecret: null,
  tokenUrl: "http://tokens.example/oauth/token?tenant=1",
  ...given
})

export const lab = node({ prefix: "lab" })

export const account = (id: string, oauth: Partial<OAuthTokens> = {}, given: Partial<Connection> = {}): Connection =>
  connection({ id, provider: "lab", authType: "oauth", apiKey: null, oauth: tokens(oauth), ...given })

export interface Answered {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answered => ({
  status,
  body: JSON.stringify(body),
  headers
})

export type Respond = (request: UpstreamRequest, fields: URLSearchParams) => Effect.Effect<Answered, RequestError>

export interface Endpoint {
  readonly requests: Array<UpstreamRequest>
  readonly fields: (n: number) => URLSearchParams
  respond: Respond
  readonly layer: Layer.Layer<Upstream>
}

/** Answers with what `respond` says and remembers what it was asked. */
export const endpoint = (respond: Respond): Endpoint => {
  const requests: Array<UpstreamRequest> = []
  const fieldsOf = (request: UpstreamRequest | undefined) => new URLSearchParams(String(request?.body ?? ""))
  const request = (asked: UpstreamRequest) =>
    Effect.suspend(() => {
      requests.push(asked)
      return Effect.map(self.respond(asked, fieldsOf(asked)), ({ body, headers, status }) => ({
        status,
        headers: fromRaw(
          Object.entries(headers ?? {}).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)])
        ),
        body: Buffer.from(body)
      }))
    })
  const self: Endpoint = {
    requests,
    fields: (n) => fieldsOf(requests[n]),
    respond,
    layer: Layer.succeed(Upstream, {
      dispatch: () => ({ abort: () => {}, resume: () => {} }),
      closeOrigin: () => {},
      egressOf: () => "direct",
      request,
      controlRequest: request,
      requestVia: () => Effect.dieMessage("not used"),
      reachProxy: () => Effect.dieMessage("not used")
    })
  }
  return self
}

/** Gives the n-th pair (from 1) for the refresh token of the pair before, and ends the family when one is used twice. */
export const rotating = (more: Readonly<Record<string, unknown>> = {}, start = 0): Respond => {
  let turn = start
  return (_, fields) =>
    Effect.sync(() => {
      if (fields.get("refresh_token") !== `refresh-token-${turn}`) return json({ error: "invalid_grant" }, 400)
      turn += 1
      return json({
        token_type: "Bearer",
        access_token: `access-token-${turn}`,
        refresh_token: `refresh-token-${turn}`,
        ...more
      })
    })
}

/** Everything above the store. */
export const rooms = (
  upstream: Layer.Layer<Upstream>,
  flags: Readonly<Record<string, string>> = {},
  environment: ReadonlyMap<string, string> = new Map()
) =>
  TokenRefresh.layer.pipe(
    Layer.provideMerge(Catalog.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        upstream,
        ModelLists.layer,
        Flags.layer.pipe(
          Layer.provideMerge(Layer.merge(layerMemory(flags), AppConfig.layerOf({ dataDir: "/nowhere", environment })))
        )
      )
    )
  )

export const house = (
  upstream: Layer.Layer<Upstream>,
  flags: Readonly<Record<string, string>> = {},
  environment: ReadonlyMap<string, string> = new Map()
) => rooms(upstream, flags, environment).pipe(Layer.provideMerge(reposInMemory))

/** Everything that is logged, with causes and annotations, handed to `write`. */
export const logTo = (write: (line: string) => void) =>
  Layer.merge(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ annotations, cause, message }) =>
        write(
          [
            JSON.stringify(message),
            String(message),
            Cause.pretty(cause),
            JSON.stringify(HashMap.toEntries(annotations))
          ].join(" ")
        )
      )
    ),
    Logger.minimumLogLevel(LogLevel.All)
  )

export const accessOf = (connection: Connection | null | undefined): string | null =>
  connection?.oauth == null ? null : Redacted.value(connection.oauth.accessToken)

export const refreshOf = (connection: Connection | null | undefined): string | null =>
  connection?.oauth?.refreshToken == null ? null : Redacted.value(connection.oauth.refreshToken)
