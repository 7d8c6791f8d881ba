/**
 * Sessions of the administrator and of people who have signed in. The cookie holds 32 random bytes; only their hash is kept, in memory and in the store.
 * A session ends twelve hours after its last use, a week after the login, at logout, and when the password changes. One of the command line has a bearer
 * credential in place of the cookie, and ends a week after the login, however seldom it is used.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { randomBytes } from "node:crypto"
import { type Lane, makeLane } from "../../../kernel/Lane.ts"
import { loginMarker } from "../../../kernel/secrets/GatewayKey.ts"
import { administrator, type Session, type SessionOrigin, type SessionOwner } from "../entity.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { Snapshots } from "../../../store/Snapshots.ts"
import * as SessionRepo from "../repo.ts"
import { csrfTokenOf } from "../Csrf.ts"
import { formatKey, hashKey } from "../KeyFormat.ts"

export const idleMs = 12 * 3_600_000
export const absoluteMs = 7 * 24 * 3_600_000
/** Most sessions; beyond it the one unused for longest ends. */
const maxSessions = 1_000
const maxUserAgentChars = 256
const seenEveryMs = 5 * 60_000

export const isAlive = (session: Session, nowMs: number): boolean =>
  nowMs < session.expiresAtMs && (session.via === "commandLine" || nowMs < session.lastSeenAtMs + idleMs)

export interface Login {
  /** Value of the cookie; of the command line the bearer credential. */
  readonly cookie: Redacted.Redacted
  readonly csrfToken: string
  readonly expiresAtMs: number
}

export class Sessions extends Context.Tag("gateway/subjects/auth/sessions/Sessions")<
  Sessions,
  {
    /** Hot: the id of the valid session a cookie names; counts as a use of it. */
    readonly find: (cookie: string, nowMs: number) => string | null
    /** Hot: the same, and no use of it. */
    readonly look: (cookie: string, nowMs: number) => string | null
    readonly open: (origin: SessionOrigin, owner?: SessionOwner) => Effect.Effect<Login, StoreError>
    /** Lists the valid sessions, the one used last first. */
    readonly list: (nowMs: number) => ReadonlyArray<Session>
    readonly close: (sessionId: string) => Effect.Effect<void, StoreError>
    readonly closeAll: Effect.Effect<void, StoreError>
    /** Ends every session but this one. */
    readonly closeOthers: (sessionId: string) => Effect.Effect<void, StoreError>
    /** Ends the sessions that `isOf` finds: of a person who was suspended, or of an issuer that was taken away. */
    readonly closeThose: (isOf: (session: Session) => boolean) => Effect.Effect<void, StoreError>
    /** Hot: the session of an id; null when there is none. */
    readonly get: (sessionId: string) => Session | null
    /** Returns when a session ends at the latest, epoch milliseconds; null when there is none. */
    readonly endsAtMs: (sessionId: string) => number | null
  }
>() {}

interface Deps {
  readonly repo: typeof SessionRepo.SessionRepo.Service
  readonly sessions: Map<string, Session>
  readonly toWrite: Set<string>
  /** Changes and readings of the table, one after the other: a session that is opened or closed meanwhile would be lost, or be back. */
  readonly inTurn: Lane["inTurn"]
}

const close = Effect.fn("Sessions.close")(function* ({ repo, sessions, toWrite }: Deps, sessionId: string) {
  sessions.delete(sessionId)
  toWrite.delete(sessionId)
  yield* repo.remove(sessionId)
})

const valid = ({ sessions }: Deps, cookie: string, nowMs: number): Session | null => {
  const session = sessions.get(hashKey(cookie))
  return session !== undefined && isAlive(session, nowMs) ? session : null
}

const find = (deps: Deps, cookie: string, nowMs: number): string | null => {
  const { sessions, toWrite } = deps
  const session = valid(deps, cookie, nowMs)
  if (session === null) return null
  const { idHash } = session
  if (nowMs - session.lastSeenAtMs >= seenEveryMs) {
    sessions.set(idHash, { ...session, lastSeenAtMs: nowMs })
    toWrite.add(idHash)
  }
  return idHash
}

const makeRoom = (deps: Deps) =>
  Effect.suspend(() => {
    if (deps.sessions.size < maxSessions) return Effect.void
    const [idlest] = [...deps.sessions.values()].toSorted((a, b) => a.lastSeenAtMs - b.lastSeenAtMs)
    return idlest === undefined ? Effect.void : close(deps, idlest.idHash)
  })

const open = Effect.fn("Sessions.open")(function* (deps: Deps, origin: SessionOrigin, owner: SessionOwner) {
  const nowMs = yield* Clock.currentTimeMillis
  const random = randomBytes(32)
  const cookie = origin.via === "commandLine" ? formatKey(random, loginMarker) : random.toString("base64url")
  const session: Session = {
    ...origin,
    ...owner,
    userAgent: origin.userAgent.slice(0, maxUserAgentChars),
    idHash: hashKey(cookie),
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    expiresAtMs: nowMs + absoluteMs
  }
  yield* makeRoom(deps)
  yield* Effect.catchTag(deps.repo.insert(session), "AlreadyStored", Effect.die)
  deps.sessions.set(session.idHash, session)
  return { cookie: Redacted.make(cookie), csrfToken: csrfTokenOf(cookie), expiresAtMs: session.expiresAtMs }
}, Effect.uninterruptible)

const list = ({ sessions }: Deps, nowMs: number): ReadonlyArray<Session> =>
  [...sessions.values()]
    .filter((session) => isAlive(session, nowMs))
    .toSorted((a, b) => b.lastSeenAtMs - a.lastSeenAtMs)

const closeAll = ({ repo, sessions, toWrite }: Deps) =>
  Effect.suspend(() => {
    sessions.clear()
    toWrite.clear()
    return repo.removeAll
  }).pipe(Effect.withSpan("Sessions.closeAll"))

const closeOthers = Effect.fn("Sessions.closeOthers")((deps: Deps, sessionId: string) =>
  Effect.suspend(() =>
    Effect.forEach(
      [...deps.sessions.keys()].filter((id) => id !== sessionId),
      (sessionId) => close(deps, sessionId),
      { discard: true }
    )
  )
)

const closeThose = Effect.fn("Sessions.closeThose")((deps: Deps, isOf: (session: Session) => boolean) =>
  Effect.forEach([...deps.sessions.values()].filter(isOf), ({ idHash }) => close(deps, idHash), { discard: true })
)

/** Writes last uses and removes ended sessions, so that neither memory nor the table grows. */
const tidy = (deps: Deps) =>
  Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const seen = [...deps.sessions.values()].filter((session) => deps.toWrite.has(session.idHash))
    deps.toWrite.clear()
    yield* Effect.forEach(seen, (session) => Effect.catchTag(deps.repo.update(session), "AlreadyStored", Effect.die), {
      discard: true
    }).pipe(
      Effect.tapError(() =>
        Effect.sync(() => {
          for (const { idHash } of seen) if (deps.sessions.has(idHash)) deps.toWrite.add(idHash)
        })
      )
    )
    const dead = [...deps.sessions.values()].filter((session) => !isAlive(session, nowMs))
    yield* Effect.forEach(dead, (session) => close(deps, session.idHash), { discard: true })
  }).pipe(Effect.catchAll((error) => Effect.logWarning(`Sessions could not be written: ${error.message}`)))

/** Reads again what another process has changed. */
const reload = ({ inTurn, repo, sessions }: Deps): Effect.Effect<void, StoreError> =>
  Effect.map(repo.list, (all) => {
    sessions.clear()
    for (const session of all) sessions.set(session.idHash, session)
  }).pipe(inTurn)

export const make = Effect.gen(function* () {
  const repo = yield* SessionRepo.SessionRepo
  const sessions = new Map<string, Session>()
  const toWrite = new Set<string>()

  const startMs = yield* Clock.currentTimeMillis
  for (const session of yield* repo.list) {
    if (isAlive(session, startMs)) sessions.set(session.idHash, session)
    else yield* repo.remove(session.idHash)
  }
  const { inTurn } = makeLane(1)
  const deps: Deps = { repo, sessions, toWrite, inTurn }
  yield* (yield* Snapshots).register(["sessions"], () => reload(deps))
  yield* Effect.addFinalizer(() => inTurn(tidy(deps)))
  yield* Effect.forkScoped(Effect.repeat(inTurn(tidy(deps)), Schedule.spaced("15 minutes")))

  return Sessions.of({
    find: (cookie, nowMs) => find(deps, cookie, nowMs),
    look: (cookie, nowMs) => valid(deps, cookie, nowMs)?.idHash ?? null,
    open: (origin, owner = administrator) => inTurn(open(deps, origin, owner)),
    list: (nowMs) => list(deps, nowMs),
    close: (sessionId) => inTurn(close(deps, sessionId)),
    closeAll: inTurn(closeAll(deps)),
    closeOthers: (sessionId) => inTurn(closeOthers(deps, sessionId)),
    closeThose: (isOf) => inTurn(closeThose(deps, isOf)),
    get: (sessionId) => sessions.get(sessionId) ?? null,
    endsAtMs: (sessionId) => sessions.get(sessionId)?.expiresAtMs ?? null
  })
})

export const layer: Layer.Layer<Sessions, StoreError, SessionRepo.SessionRepo> = Layer.scoped(Sessions, make)
