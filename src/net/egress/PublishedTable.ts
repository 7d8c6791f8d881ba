/**
 * A table that others publish, at an address that the operator names: fetched now and then. The last good copy is kept for the next start, and
 * stays when the address fails.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type { StoreError } from "../../store/Errors.ts"
import { SettingsRepo } from "../../subjects/settings/repo.ts"
import { blockMessage } from "./OutboundPolicy.ts"
import { PublicFetch, type PublicFetchError } from "./PublicFetch.ts"
import type { RequestLimits } from "./Upstream.ts"

/** The copy belongs to its address, and is not used when the operator names another. */
interface CopyOf {
  readonly url: string
}

export interface PublishedTableOptions<Found, Copy extends CopyOf, Encoded> {
  readonly limits: RequestLimits
  /** Time in ms until it is fetched again, and until then after a failure. */
  readonly everyMs: number
  readonly againMs: number
  /** Part of these times by which they vary, so that many gateways do not ask together; 0: none. */
  readonly spread: number
  readonly read: (text: string) => Either.Either<Found, string>
  readonly copyOf: (url: string, found: Found, nowMs: number) => Copy
  /** Place of the copy among the settings, and its form there. */
  readonly place: { readonly namespace: string; readonly key: string; readonly schema: Schema.Schema<Copy, Encoded> }
  /** Returns when the next one is due, from the copy that was kept; null: at once. */
  readonly dueAtMs: (copy: Copy) => number | null
  /** Messages of the log: the kept copy cannot be read (null: that is no news), what was fetched is not used, or cannot be kept. */
  readonly messages: {
    readonly invalid: string | null
    readonly notUsed: (origin: string, reason: string) => string
    readonly notKept: string
  }
  readonly fetched?: (found: Found) => Effect.Effect<void>
}

export interface PublishedTable<Copy> {
  /** Hot: the last good copy; null: there is none. */
  readonly copy: () => Copy | null
  /** Fetches the table where it is due. Never fails: what goes wrong is logged. */
  readonly fetchWhereDue: (url: string) => Effect.Effect<void>
}

const reasonOf = (error: PublicFetchError): string => {
  switch (error._tag) {
    case "UrlBlocked":
      return blockMessage[error.reason]
    case "RedirectRefused":
      return "it redirects too often, or to where it must not"
    case "ResponseTooLarge":
      return `it is larger than ${error.limitBytes} bytes`
    case "TimedOut":
      return `it took longer than ${error.timeoutMs / 1000} seconds`
    case "TransportFailure":
      return error.message
  }
}

export const makePublishedTable = <Found, Copy extends CopyOf, Encoded>({
  againMs,
  copyOf,
  dueAtMs,
  everyMs,
  fetched,
  limits,
  messages,
  place: { key, namespace, schema },
  read,
  spread
}: PublishedTableOptions<Found, Copy, Encoded>): Effect.Effect<
  PublishedTable<Copy>,
  StoreError,
  PublicFetch | SettingsRepo
> =>
  Effect.gen(function* () {
    const repo = yield* SettingsRepo
    const { get } = yield* PublicFetch
    const stored = yield* repo.get(namespace, key)
    const decoded = Schema.decodeUnknownEither(schema)(stored)
    if (Either.isLeft(decoded) && stored !== null && stored !== undefined && messages.invalid !== null) {
      yield* Effect.logWarning(messages.invalid)
    }
    let copy = Either.isRight(decoded) ? decoded.right : null
    const firstAtMs = copy === null ? null : dueAtMs(copy)
    let due = copy === null || firstAtMs === null ? null : { url: copy.url, atMs: firstAtMs }

    const fetchTable = (url: string): Effect.Effect<Either.Either<Found, string>> =>
      get(url, limits, ({ status }) => status === 200, "operator").pipe(
        Effect.map(({ body, status }) =>
          status === 200 ? read(body.toString("utf8")) : Either.left(`it answered with status ${status}`)
        ),
        Effect.catchAll((error) => Effect.succeed(Either.left(reasonOf(error))))
      )

    const sync = Effect.fnUntraced(function* (url: string, nowMs: number) {
      const factor = spread === 0 ? 1 : yield* Random.nextRange(1 - spread, 1 + spread)
      const found = yield* fetchTable(url)
      due = { url, atMs: nowMs + (Either.isRight(found) ? everyMs : againMs) * factor }
      // An address is shown without its path and query, which may hold secrets.
      if (Either.isLeft(found)) return yield* Effect.logWarning(messages.notUsed(new URL(url).origin, found.left))
      copy = copyOf(url, found.right, nowMs)
      if (fetched !== undefined) yield* fetched(found.right)
      yield* Effect.catchAll(repo.set(namespace, key, copy), (error) => Effect.logWarning(messages.notKept, error))
    })

    return {
      copy: () => copy,
      fetchWhereDue: (url) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
          due === null || due.url !== url || nowMs >= due.atMs ? sync(url, nowMs) : Effect.void
        )
    }
  })
