/**
 * A recorded request, sent once more to the server that it was sent to, as it is kept or changed. A stored credential goes only to the address
 * of its connection, by that connection's own way; anything else goes under the rules for untrusted addresses (`GuardedFetch`). Redirects are
 * not followed. Both are recorded, and their answers compared by those who asked.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { operatorsOwn } from "../../contract/domain/ContentPermission.ts"
import { ownerOf } from "../../subjects/proxies/entity.ts"
import type { TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import type { UpstreamRequest } from "../../net/egress/Call.ts"
import { GuardedFetch } from "../../net/egress/GuardedFetch.ts"
import type { BlockReason } from "../../net/egress/OutboundPolicy.ts"
import type { PublicFetchError } from "../../net/egress/PublicFetch.ts"
import * as Upstream from "../../net/egress/Upstream.ts"
import type { Inspector, RecordEnd, RecordNotFound, RecordStart } from "../../observe/inspector/Inspector.ts"
import { LazyInspector } from "../../observe/inspector/LazyInspector.ts"
import { bothSecrets, secretsInHeaders, type SentSecrets, sentSecrets } from "../../kernel/secrets/SentSecrets.ts"
import * as Timers from "../../platform/Timers.ts"
import { type Account, Catalog, type CatalogSnapshot } from "../../plane/providers/Catalog.ts"
import { endpointOf } from "../../plane/providers/Endpoints.ts"
import * as TokenRefresh from "../../plane/providers/oauth/TokenRefresh.ts"
import { failureText } from "../../plane/providers/UpstreamAnswer.ts"
import { type DirectChanges, type DirectRequest, type DirectRefusal, directRequest } from "./DirectRequest.ts"

/** Another connection's address, or no active connection. */
export class ConnectionElsewhere extends Data.TaggedError("ConnectionElsewhere")<{ readonly origin: string }> {}

/** The address may not be called. */
export class AddressBlocked extends Data.TaggedError("AddressBlocked")<{ readonly reason: BlockReason }> {}

/** The server gave no answer. */
export class NoDirectAnswer extends Data.TaggedError("NoDirectAnswer")<{ readonly message: string }> {}

/** The exchange that has come; `id`: of its record. */
export interface DirectAnswer {
  readonly id: string
  /** The connection whose credential was sent; null: none was. */
  readonly connectionId: string | null
}

type DirectError = RecordNotFound | DirectRefusal | ConnectionElsewhere | AddressBlocked | NoDirectAnswer

export class DirectReplay extends Context.Tag("gateway/agents/bridge/DirectReplay")<
  DirectReplay,
  {
    /** Sends the request of a record, and records what came back. */
    readonly ask: (id: string, changes: DirectChanges) => Effect.Effect<DirectAnswer, DirectError>
  }
>() {}

const limits: Upstream.RequestLimits = { timeoutMs: 300_000, maxBytes: 16 * 1_048_576 }

/** The members of a connection that are sent. */
interface ConnectionCredentials {
  readonly account: Account
  readonly headers: ReadonlyArray<string>
  readonly secrets: SentSecrets
}

const originsOf = ({ endpoints }: Account): ReadonlyArray<string> =>
  Object.values(endpoints).map((endpoint) => endpoint.origin)

const failureOf = (error: PublicFetchError): AddressBlocked | NoDirectAnswer => {
  switch (error._tag) {
    case "UrlBlocked":
      return new AddressBlocked({ reason: error.reason })
    case "RedirectRefused":
      return new NoDirectAnswer({ message: "The server redirects, which is not followed." })
    default:
      return new NoDirectAnswer({ message: failureText(error) })
  }
}

/** The names and values that go out: those of a connection take the place of what was masked, and never of what the caller gave. */
const withConnection = (asked: DirectRequest, way: ConnectionCredentials | null): ReadonlyArray<string> => {
  const headers = new Map([...asked.headers, ["accept-encoding", "identity"]])
  const own = way?.headers ?? []
  for (let at = 0; at + 1 < own.length; at += 2) {
    const name = own[at] ?? ""
    if (!headers.has(name)) headers.set(name, own[at + 1] ?? "")
  }
  return [...headers].flat()
}

/** Finds the connection that was named, or the first one of the address where a credential is missing. */
const accountFor = (
  { accounts, byConnection }: CatalogSnapshot,
  origin: string,
  connectionId: string | undefined,
  isNeeded: boolean
): Account | null => {
  if (connectionId === undefined) {
    return isNeeded ? (accounts.find((account) => originsOf(account).includes(origin)) ?? null) : null
  }
  const named = byConnection.get(connectionId)
  return named !== undefined && originsOf(named).includes(origin) ? named : null
}

const makeWayOf = Effect.map(TokenRefresh.TokenRefresh, (tokens) =>
  Effect.fnUntraced(function* (account: Account, origin: string) {
    const { connection, spec } = account
    const usable = yield* Effect.mapError(tokens.usable(connection), ({ message }) => new NoDirectAnswer({ message }))
    for (const wire of account.wires) {
      const endpoint = endpointOf(spec, usable, wire)
      // Compared once more: a renewed token may come with another address.
      if (endpoint._tag === "Right" && endpoint.right.origin === origin) {
        return { account, headers: endpoint.right.headers, secrets: endpoint.right.secrets }
      }
    }
    return yield* new ConnectionElsewhere({ origin })
  })
)

const makeSend = Effect.gen(function* () {
  const upstream = yield* Upstream.Upstream
  const guarded = yield* GuardedFetch
  return (asked: DirectRequest, way: ConnectionCredentials | null) => {
    const headers = withConnection(asked, way)
    const secrets = bothSecrets(
      bothSecrets(secretsInHeaders(headers), sentSecrets(asked.given.map((value) => Redacted.value(value)))),
      way?.secrets ?? secretsInHeaders([])
    )
    const { body, method, origin, path } = asked
    if (way === null) {
      const request = { url: origin + path, method, headers, body, redirect: "manual", secrets } as const
      return Effect.mapError(
        guarded.send(request, limits, () => true),
        failureOf
      )
    }
    const owner = ownerOf(way.account.connection)
    const request: UpstreamRequest = { origin, path, method, headers, body, secrets, owner }
    return Effect.mapError(upstream.request(request, limits), (error) =>
      error._tag === "TransportFailure" && error.kind === "blocked"
        ? new AddressBlocked({ reason: "private" })
        : new NoDirectAnswer({ message: failureText(error) })
    )
  }
})

/** The body comes decoded. */
const isEncoding = (name: string): boolean => name === "content-encoding" || name === "transfer-encoding"

/** Keeps what is sent and what comes back as a record of its own. */
const recorded = (
  inspector: typeof Inspector.Service,
  monotonicMs: () => number,
  start: RecordStart,
  answered: Effect.Effect<Upstream.UpstreamResponse, AddressBlocked | NoDirectAnswer>
) =>
  Effect.gen(function* () {
    const startedAtMs = monotonicMs()
    const id = inspector.begin(operatorsOwn, start)
    const finish = (end: Omit<RecordEnd, "totalLatencyMs">) =>
      Effect.zipRight(
        Effect.sync(() => inspector.finish(id, { ...end, totalLatencyMs: monotonicMs() - startedAtMs })),
        inspector.listed(id)
      )
    const broken = (error: string) => finish({ status: "error", error })
    const { body, headers, status } = yield* answered.pipe(
      Effect.tapError((error) => broken(error._tag === "AddressBlocked" ? "The address is blocked." : error.message)),
      Effect.onInterrupt(() => broken("It was given up."))
    )
    const responseHeaders = [...headers].flat().filter((_, at, all) => !isEncoding(all[at - (at % 2)] ?? ""))
    yield* finish({ status, responseHeaders, responseBody: body })
    return id
  })

export const make = Effect.gen(function* () {
  const lazyInspector = yield* LazyInspector
  const catalog = yield* Catalog
  const { monotonicMs } = yield* Timers.Timers
  const wayOf = yield* makeWayOf
  const send = yield* makeSend

  const ask = Effect.fn("DirectReplay.ask")(function* (id: string, changes: DirectChanges) {
    const { inspector } = yield* lazyInspector.get
    // As it is kept: it goes to whom it was sent before.
    const record: TrafficRecord = yield* inspector.get(id, true)
    const asked = yield* directRequest(record, changes)
    const { connectionId } = changes
    const account = accountFor(catalog.current(), asked.origin, connectionId, asked.missing.length > 0)
    if (connectionId !== undefined && account === null) return yield* new ConnectionElsewhere({ origin: asked.origin })
    const way = account === null ? null : yield* wayOf(account, asked.origin)
    const ready = way === null ? yield* asked.withoutCredential : asked
    const start: RecordStart = {
      source: record.source,
      method: ready.method,
      scheme: record.scheme,
      host: record.host,
      path: ready.path,
      headers: withConnection(ready, way),
      body: ready.body === null ? null : Buffer.from(ready.body),
      areBodiesWhole: true,
      agent: record.agent,
      replayOf: id,
      note: "Sent once more to its own server."
    }
    const replayId = yield* recorded(inspector, monotonicMs, start, send(ready, way))
    return { id: replayId, connectionId: way?.account.connection.id ?? null }
  })

  return DirectReplay.of({ ask })
})

export const layer: Layer.Layer<
  DirectReplay,
  never,
  LazyInspector | Catalog | TokenRefresh.TokenRefresh | Upstream.Upstream | GuardedFetch | Timers.Timers
> = Layer.effect(DirectReplay, make)
