/**
 * Renews the access tokens of OAuth accounts . One renewal per account at a time, for all requests: refresh tokens that
 * rotate can be used once. New tokens are stored before they are used, and then put into the catalogue's snapshot.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type CallOwner, ownerOf } from "../../../subjects/proxies/entity.ts"
import type { Connection, OAuthTokens } from "../../../subjects/connections/entity.ts"
import type { OAuthEndpoint } from "../../../contract/domain/Provider.ts"
import * as Upstream from "../../../net/egress/Upstream.ts"
import * as Flags from "../../../subjects/flags/service.ts"
import * as ConnectionRepo from "../../../subjects/connections/repo.ts"
import { type AskRenewal, Renewals, type RenewalTurns, SharedTurns } from "../../state/Renewals.ts"
import * as Catalog from "../Catalog.ts"
import { dueAtMs, holdMs } from "./Freshness.ts"
import { RefreshDead, type RefreshFailed, RefreshImpossible, RefreshTransient } from "./RefreshFailed.ts"
import * as Replacement from "../TokenReplacement.ts"
import { makeTokenStore, type TokenStore } from "./TokenStore.ts"
import type { TokenAnswer } from "./TokenAnswer.ts"
import { renew, type Unanswered } from "./TokenCall.ts"
import { endpointOf } from "./TokenRequest.ts"
import { startSweep } from "./Sweep.ts"

export type { RefreshFailed } from "./RefreshFailed.ts"

/** `unchanged`: the account has other tokens already than those the caller used. Either way it is called again with the current ones. */
export type RefreshOutcome = "refreshed" | "unchanged"

export class TokenRefresh extends Context.Tag("gateway/plane/providers/oauth/TokenRefresh")<
  TokenRefresh,
  {
    /**
     * Renews the account's tokens, or waits for the renewal that is in progress. `usedAccessToken` is the one that was refused;
     * null renews in any case. Interruption leaves the renewal to the others. Afterwards the account has to be looked up again.
     */
    readonly refresh: (
      connectionId: string,
      usedAccessToken: string | null
    ) => Effect.Effect<RefreshOutcome, RefreshFailed>
    /**
     * Hot. Before a call: nothing while the token is good for long, a renewal in the background while it is still good, else one that
     * is waited for. Fails when the token is over and there is no new one: then no call is made with it. Afterwards the account has to be
     * looked up again.
     */
    readonly ensureFresh: (connection: Connection) => Effect.Effect<void, RefreshFailed>
    /** The same for a call that is made with the connection itself: as it is afterwards. */
    readonly usable: (connection: Connection) => Effect.Effect<Connection, RefreshFailed>
    /** Hot. Whether a refused token may be renewed: there is a refresh token that is not known to be dead, and a token endpoint. */
    readonly canRefresh: (connection: Connection) => boolean
    /** Hot. The account as it is now, with its present tokens; null when it is gone or switched off. */
    readonly current: (connectionId: string) => Catalog.Account | null
  }
>() {}

type Flight = Deferred.Deferred<RefreshOutcome, RefreshFailed>

/** Failure of the last renewal, and the time until the next try. */
interface Trouble {
  /** Tokens that failed: with others or another client everything is open again. */
  readonly tokens: OAuthTokens
  readonly failed: RefreshDead | RefreshTransient
  readonly inARow: number
  /** Null: for ever. */
  readonly untilMs: number | null
}

/** State of an account while it is in the catalogue. */
interface Memory {
  /** The latest tokens that came from here, and when they were asked for. */
  readonly renewed: { readonly replacement: Replacement.Replacement; readonly atMs: number } | null
  readonly trouble: Trouble | null
}

const noMemory: Memory = { renewed: null, trouble: null }

/** A renewal that runs when the gateway stops may end: its answer cannot be had again. */
const graceMs = 5_000

interface Renewable {
  readonly connectionId: string
  readonly tokens: OAuthTokens
  readonly refreshToken: Redacted.Redacted
  readonly endpoint: OAuthEndpoint
  readonly owner: CallOwner
}

const impossible = (connectionId: string, reason: RefreshImpossible["reason"], message: string): RefreshImpossible =>
  new RefreshImpossible({ connectionId, reason, message })

const said = (words: string): string => (words === "" ? "" : `: ${words}`)

const services = Effect.all({
  catalog: Catalog.Catalog,
  repo: ConnectionRepo.ConnectionRepo,
  upstream: Upstream.Upstream,
  flags: Flags.Flags
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly memories: Map<string, Memory>
  readonly elsewhere: AskRenewal | null
  readonly turns: RenewalTurns | null
  readonly tokenStore: TokenStore
  readonly flights: Map<string, Flight>
  readonly running: Set<Fiber.RuntimeFiber<RefreshOutcome, RefreshFailed>>
}

const memoryOf = ({ memories }: Deps, id: string): Memory => memories.get(id) ?? noMemory

const current = ({ catalog }: Deps, id: string): Catalog.Account | null =>
  catalog.current().byConnection.get(id) ?? null

const tokensOf = ({ authType, oauth }: Connection): OAuthTokens | null => (authType === "oauth" ? oauth : null)

const troubleOf = (deps: Deps, id: string, tokens: OAuthTokens): Trouble | null => {
  const { trouble } = memoryOf(deps, id)
  return trouble !== null && Replacement.isSameLogin(trouble.tokens, tokens) ? trouble : null
}

const renewableOf = (deps: Deps, connectionId: string): Renewable | RefreshImpossible => {
  const account = current(deps, connectionId)
  const tokens = account === null ? null : tokensOf(account.connection)
  if (account === null || tokens === null) {
    return impossible(
      connectionId,
      "no_account",
      "There is no active OAuth account with this id: activate the connection."
    )
  }
  const { refreshToken } = tokens
  if (refreshToken === null) {
    return impossible(connectionId, "no_refresh_token", "The account has no refresh token: sign in again.")
  }
  const endpoint = endpointOf(account.spec, tokens)
  return endpoint === null
    ? impossible(connectionId, "no_token_url", `No token endpoint is known for '${account.spec.id}'.`)
    : { connectionId, tokens, refreshToken, endpoint, owner: ownerOf(account.connection) }
}

const canRefresh = (deps: Deps, connection: Connection): boolean => {
  const renewable = renewableOf(deps, connection.id)
  return !("reason" in renewable) && troubleOf(deps, connection.id, renewable.tokens)?.untilMs !== null
}

const transient = (
  deps: Deps,
  { connectionId, tokens }: Renewable,
  nowMs: number,
  failure: Pick<RefreshTransient, "reason" | "status"> & { readonly words: string; readonly waitMs: number | null }
): RefreshTransient => {
  const inARow = (troubleOf(deps, connectionId, tokens)?.inARow ?? 0) + 1
  const retryAfterMs = holdMs(inARow, failure.waitMs)
  const failed = new RefreshTransient({
    connectionId,
    reason: failure.reason,
    status: failure.status,
    retryAfterMs,
    message: `The access token could not be renewed now${said(failure.words)}`
  })
  const trouble = { tokens, failed, inARow, untilMs: nowMs + retryAfterMs }
  deps.memories.set(connectionId, { ...memoryOf(deps, connectionId), trouble })
  return failed
}

const dead = (deps: Deps, { connectionId, tokens }: Renewable, code: string, words: string): RefreshDead => {
  const message = `The provider does not renew the access token any more (${code}${said(words)})`
  const failed = new RefreshDead({ connectionId, code, message })
  deps.memories.set(connectionId, {
    ...memoryOf(deps, connectionId),
    trouble: { tokens, failed, inARow: 1, untilMs: null }
  })
  return failed
}

const failureOf = (
  deps: Deps,
  renewable: Renewable,
  answer: Exclude<TokenAnswer, { _tag: "Renewed" }> | Unanswered,
  nowMs: number
): RefreshFailed => {
  switch (answer._tag) {
    case "Dead":
    case "ClientRefused":
      return dead(deps, renewable, answer.code, answer.words)
    case "Refused":
      return transient(deps, renewable, nowMs, {
        reason: "status",
        status: answer.status,
        words: `status ${answer.status}${said(answer.words)}`,
        waitMs: answer.waitMs
      })
    case "Malformed":
      return transient(deps, renewable, nowMs, {
        reason: "malformed",
        status: answer.status,
        words: "the token endpoint answered without a token",
        waitMs: null
      })
    case "Unanswered":
      return transient(deps, renewable, nowMs, {
        reason: answer.reason,
        status: null,
        words: answer.words,
        waitMs: null
      })
  }
}

const accept = (
  deps: Deps,
  renewable: Renewable,
  answer: Extract<TokenAnswer, { _tag: "Renewed" }>,
  askedAtMs: number
) =>
  Effect.suspend(() => {
    const { connectionId, tokens: used } = renewable
    const tokens = {
      accessToken: answer.accessToken,
      refreshToken: answer.refreshToken ?? used.refreshToken,
      expiresAtMs: answer.lifetimeMs === null ? null : Math.floor(askedAtMs + answer.lifetimeMs)
    }
    const replacement = Replacement.replace(memoryOf(deps, connectionId).renewed?.replacement ?? null, used, tokens)
    deps.memories.set(connectionId, { renewed: { replacement, atMs: askedAtMs }, trouble: null })
    return Effect.map(deps.tokenStore.put(connectionId, replacement), (stands): RefreshOutcome =>
      stands ? "refreshed" : "unchanged"
    )
  })

const renewal = (deps: Deps, renewable: Renewable): Effect.Effect<RefreshOutcome, RefreshFailed> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const askedAtMs = yield* Clock.currentTimeMillis
      const { endpoint, owner, refreshToken, tokens } = renewable
      const answer = yield* restore(renew(deps.upstream, endpoint, refreshToken, tokens, owner))
      if (answer._tag === "Renewed") return yield* accept(deps, renewable, answer, askedAtMs)
      // An operator may have set new credentials meanwhile: the result of the old ones does not matter.
      const now = renewableOf(deps, renewable.connectionId)
      if (!("reason" in now) && !Replacement.isSameLogin(now.tokens, renewable.tokens)) return "unchanged"
      const failed = failureOf(deps, renewable, answer, yield* Clock.currentTimeMillis)
      yield* Effect.logWarning(`Connection ${renewable.connectionId}: ${failed.message}`)
      return yield* Effect.fail(failed)
    })
  ).pipe(
    Effect.catchAllDefect((defect) =>
      Effect.zipRight(
        Effect.logError(`Connection ${renewable.connectionId}: renewing the access token broke off`, defect),
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
          Effect.fail(
            transient(deps, renewable, nowMs, {
              reason: "internal",
              status: null,
              words: "internal error",
              waitMs: null
            })
          )
        )
      )
    )
  )

/** The same where other gateways have this account, too: in turn with them, and not with a refresh token that one of them has used meanwhile. */
const renewalInTurn = (
  deps: Deps,
  turns: RenewalTurns,
  renewable: Renewable
): Effect.Effect<RefreshOutcome, RefreshFailed> => {
  const work = Effect.gen(function* () {
    yield* deps.catalog.refresh
    const now = renewableOf(deps, renewable.connectionId)
    if (!("reason" in now) && !Replacement.isSameLogin(now.tokens, renewable.tokens)) return "unchanged" as const
    return yield* renewal(deps, renewable)
  })
  return turns
    .inTurn(renewable.connectionId, work)
    .pipe(
      Effect.catchTag("StoreError", ({ message }) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
          Effect.fail(
            transient(deps, renewable, nowMs, { reason: "internal", status: null, words: message, waitMs: null })
          )
        )
      )
    )
}

const renewalHere = (deps: Deps, renewable: Renewable): Effect.Effect<RefreshOutcome, RefreshFailed> =>
  deps.turns === null ? renewal(deps, renewable) : renewalInTurn(deps, deps.turns, renewable)

/** Time in ms after which a process that is not there is asked again. */
const awayMs = 1_000

/** The same by another process, which has the refresh tokens to itself. */
const renewalElsewhere = (
  ask: AskRenewal,
  { connectionId, tokens }: Renewable
): Effect.Effect<RefreshOutcome, RefreshFailed> =>
  Effect.gen(function* () {
    const told = yield* ask(connectionId, Redacted.value(tokens.accessToken))
    if (told !== null && "outcome" in told) return told.outcome
    if (told?.failed === "dead") return yield* new RefreshDead({ connectionId, code: told.code, message: told.message })
    // That process knows when it may be tried again, and says so at once.
    const isPassing = told?.failed === "transient"
    return yield* new RefreshTransient({
      connectionId,
      reason: "internal",
      status: isPassing ? told.status : null,
      message: told?.message ?? "The access token could not be renewed now: the process that renews them is not there.",
      retryAfterMs: isPassing ? told.retryAfterMs : awayMs
    })
  })

/** Runs a renewal on its own: a caller that stops waiting does not end it. */
const launch = (deps: Deps, renewable: Renewable, flight: Flight): Effect.Effect<void> =>
  (deps.elsewhere === null ? renewalHere(deps, renewable) : renewalElsewhere(deps.elsewhere, renewable)).pipe(
    Effect.interruptible,
    Effect.onExit((exit) => {
      deps.flights.delete(renewable.connectionId)
      return Deferred.done(flight, exit)
    }),
    Effect.forkDaemon,
    Effect.map((fiber) => {
      deps.running.add(fiber)
      fiber.addObserver(() => deps.running.delete(fiber))
    })
  )

const isPaused = ({ untilMs }: Trouble, nowMs: number): boolean => untilMs === null || nowMs < untilMs

const pending = (failed: RefreshDead | RefreshTransient, leftMs: number): RefreshFailed => {
  if (failed._tag === "RefreshDead") return failed
  // An error's message is not enumerable: spreading one would lose it.
  const { connectionId, message, reason, status } = failed
  return new RefreshTransient({ connectionId, reason, status, message, retryAfterMs: leftMs })
}

/**
 * Decides a call for renewal in one turn: the answer that is there, or a renewal in progress and the effect that
 * starts it.
 */
const join = (
  deps: Deps,
  connectionId: string,
  usedAccessToken: string | null,
  nowMs: number
): Either.Either<RefreshOutcome, RefreshFailed> | { readonly flight: Flight; readonly launch: Effect.Effect<void> } => {
  const { flights } = deps
  const account = current(deps, connectionId)
  const tokens = account === null ? null : tokensOf(account.connection)
  if (tokens !== null && usedAccessToken !== null && Redacted.value(tokens.accessToken) !== usedAccessToken) {
    return Either.right("unchanged")
  }
  const known = flights.get(connectionId)
  if (known !== undefined) return { flight: known, launch: Effect.void }
  const renewable = renewableOf(deps, connectionId)
  if ("reason" in renewable) return Either.left(renewable)
  const trouble = troubleOf(deps, connectionId, renewable.tokens)
  if (trouble !== null && isPaused(trouble, nowMs)) {
    return Either.left(pending(trouble.failed, (trouble.untilMs ?? nowMs) - nowMs))
  }
  const flight: Flight = Deferred.unsafeMake(FiberId.none)
  flights.set(connectionId, flight)
  return { flight, launch: launch(deps, renewable, flight) }
}

const refresh = (
  deps: Deps,
  connectionId: string,
  usedAccessToken: string | null
): Effect.Effect<RefreshOutcome, RefreshFailed> =>
  // A flight that is announced is launched, whatever becomes of the caller.
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs): Effect.Effect<RefreshOutcome, RefreshFailed> => {
      const joined = join(deps, connectionId, usedAccessToken, nowMs)
      return "flight" in joined ? Effect.zipRight(joined.launch, restore(Deferred.await(joined.flight))) : joined
    })
  )

const dueOf = (deps: Deps, id: string, { accessToken, expiresAtMs }: OAuthTokens): number | null => {
  if (expiresAtMs === null) return null
  const { renewed } = memoryOf(deps, id)
  const isOurs =
    renewed !== null && Redacted.value(renewed.replacement.tokens.accessToken) === Redacted.value(accessToken)
  return dueAtMs(expiresAtMs, isOurs ? renewed.atMs : null)
}

const renewNow = (
  deps: Deps,
  connection: Connection,
  tokens: OAuthTokens
): Effect.Effect<RefreshOutcome, RefreshFailed> => refresh(deps, connection.id, Redacted.value(tokens.accessToken))

const ensureFresh = (deps: Deps, connection: Connection): Effect.Effect<void, RefreshFailed> => {
  const tokens = tokensOf(connection)
  if (tokens === null || tokens.expiresAtMs === null) return Effect.void
  const { expiresAtMs } = tokens
  return Effect.clockWith((clock): Effect.Effect<void, RefreshFailed> => {
    const nowMs = clock.unsafeCurrentTimeMillis()
    if (nowMs < (dueOf(deps, connection.id, tokens) ?? Infinity)) return Effect.void
    if (nowMs >= expiresAtMs) return Effect.asVoid(renewNow(deps, connection, tokens))
    const trouble = troubleOf(deps, connection.id, tokens)
    if (trouble !== null && isPaused(trouble, nowMs)) return Effect.void
    if (deps.flights.has(connection.id) || "reason" in renewableOf(deps, connection.id)) return Effect.void
    return Effect.asVoid(Effect.forkDaemon(Effect.ignore(renewNow(deps, connection, tokens))))
  })
}

const usable = (deps: Deps, connection: Connection): Effect.Effect<Connection, RefreshFailed> =>
  Effect.map(ensureFresh(deps, connection), () => {
    const now = tokensOf(connection) === null ? null : current(deps, connection.id)
    return now === null ? connection : { ...connection, oauth: now.connection.oauth }
  })

const forgetGone = ({ catalog, memories }: Deps): void => {
  for (const id of memories.keys()) if (!catalog.current().byConnection.has(id)) memories.delete(id)
}

const isSweeping = ({ flags }: Deps): boolean =>
  !flags.isOn("GATEWAY_DISABLE_TOKEN_HEALTHCHECK") && !flags.isOn("GATEWAY_DISABLE_BACKGROUND_SERVICES")

export const make = Effect.gen(function* () {
  const all = yield* services

  const running = new Set<Fiber.RuntimeFiber<RefreshOutcome, RefreshFailed>>()
  const tokenStore = yield* makeTokenStore(all.repo, all.catalog)

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => Fiber.awaitAll([...running])).pipe(
      Effect.interruptible,
      Effect.timeoutOption(graceMs),
      Effect.zipRight(Effect.suspend(() => Fiber.interruptAll([...running])))
    )
  )
  const elsewhere = yield* Renewals
  const turns = yield* SharedTurns
  const deps: Deps = { ...all, elsewhere, turns, memories: new Map(), tokenStore, flights: new Map(), running }

  yield* startSweep((nowMs) => {
    forgetGone(deps)
    if (!isSweeping(deps)) return []
    return deps.catalog.current().accounts.flatMap(({ connection }) => {
      const tokens = tokensOf(connection)
      const dueMs = tokens === null ? null : dueOf(deps, connection.id, tokens)
      return tokens !== null && dueMs !== null && dueMs <= nowMs && canRefresh(deps, connection)
        ? [{ dueMs, renew: Effect.ignore(renewNow(deps, connection, tokens)) }]
        : []
    })
  })

  return TokenRefresh.of({
    refresh: (connectionId, usedAccessToken) => refresh(deps, connectionId, usedAccessToken),
    ensureFresh: (connection) => ensureFresh(deps, connection),
    usable: (connection) => usable(deps, connection),
    canRefresh: (connection) => canRefresh(deps, connection),
    current: (id) => current(deps, id)
  })
})

export const layer: Layer.Layer<TokenRefresh, never, Effect.Effect.Context<typeof services>> = Layer.scoped(
  TokenRefresh,
  make
)
