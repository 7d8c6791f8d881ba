/**
 * The transparent capture mode: one session at a time. All that a session changes hangs on its scope, so that a start that fails half-way and a
 * stop leave the machine as it was: rules first, so that nothing new arrives, then the listeners, then the trust in the session's authority,
 * whose key was in memory alone.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { makeLane } from "../../../kernel/Lane.ts"
import { fillSocketMark } from "../../../net/egress/SocketMark.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { Timers } from "../../../platform/Timers.ts"
import { CaptureParts } from "../CaptureParts.ts"
import type { CaptureSink } from "../CaptureSink.ts"
import { HostJournal } from "../host/HostJournal.ts"
import * as CertificateAuthority from "../tls/CertificateAuthority.ts"
import { makeLeafCertificates } from "../tls/LeafCertificates.ts"
import { loadHttp2 } from "../tls/Http2.ts"
import { type Listener, makeListener } from "../tls/Listener.ts"
import { Refusals, type TunnelledHost } from "../tls/Refusals.ts"
import { makeServerTls } from "../tls/ServerLink.ts"
import { type Addon, loadAddon, privilegeProblem } from "./Addon.ts"
import { applyRules, type RulesProblem } from "./AppliedRules.ts"
import * as Front from "./Front.ts"
import { connectMarked, dialMarked } from "./MarkedSockets.ts"
import { SessionTrust, type TrustFailed } from "./SessionTrust.ts"
import { problemsOf, type SettingProblem, type TransparentSettings } from "./Settings.ts"

/** A session runs, or is about to begin or to end. */
export class AlreadyRunning extends Data.TaggedError("TransparentAlreadyRunning") {}

/** `reason` is a sentence. */
export class Unavailable extends Data.TaggedError("TransparentUnavailable")<{ readonly reason: string }> {}

/** Nothing was done. */
export class BadSettings extends Data.TaggedError("TransparentBadSettings")<{
  readonly problems: ReadonlyArray<SettingProblem>
}> {}

export type StartProblem =
  | AlreadyRunning
  | Unavailable
  | BadSettings
  | TrustFailed
  | Front.OnPortInUse
  | Front.FrontFailed
  | Front.ProbeFailed
  | RulesProblem

export interface TransparentStatus {
  readonly running: boolean
  readonly available: boolean
  /** Reason for which it is not available; null where it is. */
  readonly reason: string | null
  readonly startedAtMs: number | null
  /** Exchanges and tunnels of this session. */
  readonly interceptCount: number
  readonly onPort: number | null
  readonly ipv6: boolean
  readonly tunnelled: ReadonlyArray<TunnelledHost>
}

export interface StartRequest {
  readonly settings: TransparentSettings
  readonly sudoPassword: Redacted.Redacted | null
}

export class Transparent extends Context.Tag("gateway/observe/capture/transparent/Transparent")<
  Transparent,
  {
    readonly status: Effect.Effect<TransparentStatus>
    /** All that was done is undone where it fails. */
    readonly start: (request: StartRequest) => Effect.Effect<TransparentStatus, StartProblem>
    /**
     * Stops it, and returns the number of intercepted connections that were broken by it; 0 also where nothing ran. A
     * start in progress is waited for.
     */
    readonly stop: Effect.Effect<number>
  }
>() {}

/** Exchanges and tunnels of a session. */
interface InterceptCount {
  value: number
}

interface Session {
  readonly scope: Scope.CloseableScope
  readonly settings: TransparentSettings
  readonly listener: Listener
  readonly refusals: Refusals
  readonly startedAtMs: number
  readonly ipv6: boolean
  readonly intercepted: InterceptCount
}

/** Time limit in ms of a connection to a server and of its TLS handshake, each. */
const connectTimeoutMs = 15_000

/** Null: it can be used. */
const unavailableReason = (): string | null => {
  const loaded = loadAddon()
  return loaded._tag === "Missing" ? loaded.reason : privilegeProblem(loaded.addon)
}

/** Returns the addon where the mode can be used. */
const usableAddon = Effect.suspend((): Effect.Effect<Addon, Unavailable> => {
  const loaded = loadAddon()
  if (loaded._tag === "Missing") return new Unavailable({ reason: loaded.reason })
  const problem = privilegeProblem(loaded.addon)
  return problem === null ? Effect.succeed(loaded.addon) : new Unavailable({ reason: problem })
})

const countedSink = (sink: CaptureSink, count: InterceptCount): CaptureSink => ({
  ...sink,
  begin: (request) => {
    count.value += 1
    return sink.begin(request)
  }
})

/** Makes the listener of a session, with an authority of its own. */
const makeSessionListener = (sink: CaptureSink, refusals: Refusals) =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const parts = yield* CaptureParts
    const [authority, key, http2] = yield* Effect.all(
      [CertificateAuthority.make("Gateway transparent capture"), CertificateAuthority.makeKey, loadHttp2],
      { concurrency: 3 }
    )
    const listener = makeListener({
      recording: { sink, timers, maxBodyBytes: parts.maxBodyBytes },
      http2,
      leaves: makeLeafCertificates(authority, key),
      refusals,
      serverTls: makeServerTls({
        timers,
        timeoutMs: connectTimeoutMs,
        verifies: parts.verifiesServers,
        extraAuthority: parts.extraAuthority
      }),
      isNeverDecrypted: parts.isNeverDecrypted,
      idleTimeoutMs: parts.idleTimeoutMs,
      intercept: null
    })
    return { certificate: authority.certificate, listener }
  })

/** Opens the ports that connections are redirected to, and hands these to the listener. */
const openFront = (addon: Addon, settings: TransparentSettings, listener: Listener) =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const dialling = { addon, mark: settings.bypassMark, timers, timeoutMs: connectTimeoutMs }
    return yield* Front.open({
      addon,
      settings,
      timers,
      onConnection: ({ address, port, socket }) =>
        listener.accept(socket, {
          name: null,
          address,
          port,
          dial: (_name, done) => dialMarked(dialling, address, port, done),
          labelOf: () => ({ source: "tproxy", agent: null })
        })
    })
  })

/** Marks connections of the gateway itself, so that no rule redirects them, while the scope is open. */
const markOwnSockets = (addon: Addon, { bypassMark }: TransparentSettings) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      fillSocketMark((address, port, options) => connectMarked(addon, bypassMark, address, port, options))
    ),
    (empty) => Effect.sync(empty)
  )

const beginSession = ({ settings, sudoPassword }: StartRequest, scope: Scope.CloseableScope) =>
  Effect.gen(function* () {
    const { environment } = yield* AppConfig
    const timers = yield* Timers
    const parts = yield* CaptureParts
    const journal = yield* HostJournal
    const trust = yield* SessionTrust
    const addon = yield* usableAddon
    const refusals = new Refusals()
    const intercepted: InterceptCount = { value: 0 }
    const { certificate, listener } = yield* makeSessionListener(countedSink(parts.sink, intercepted), refusals)
    yield* trust.install(certificate, sudoPassword)
    const front = yield* openFront(addon, settings, listener)
    const startedAtMs = timers.nowMs()
    const ipv6 = front.families.includes(6)
    const started: Session = { scope, settings, listener, refusals, startedAtMs, ipv6, intercepted }
    // What fails from here on must not leave connections to a listener that is going.
    yield* Effect.addFinalizer(() => Effect.sync(() => void listener.close()))
    yield* markOwnSockets(addon, settings)
    yield* applyRules({ journal, environment, settings, families: front.families })
    for (const family of front.families) yield* front.probe(family)
    return started
  }).pipe(Scope.extend(scope))

const statusOf = (current: Session | null, nowMs: number): TransparentStatus => {
  const reason = current === null ? unavailableReason() : null
  return {
    running: current !== null,
    available: reason === null,
    reason,
    startedAtMs: current?.startedAtMs ?? null,
    interceptCount: current?.intercepted.value ?? 0,
    onPort: current?.settings.onPort ?? null,
    ipv6: current?.ipv6 ?? false,
    tunnelled: current?.refusals.tunnelled(nowMs) ?? []
  }
}

export const make = Effect.gen(function* () {
  const timers = yield* Timers
  const parts = yield* CaptureParts
  const machine = yield* Effect.context<AppConfig | Timers | CaptureParts | HostJournal | SessionTrust>()
  /** Starts and stops follow each other. */
  const turn = makeLane(1)
  let session: Session | null = null
  let isStarting = false

  const run = (request: StartRequest) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const exit = yield* Effect.exit(Effect.provide(beginSession(request, scope), machine))
      if (Exit.isFailure(exit)) {
        yield* Scope.close(scope, exit)
        return yield* Effect.failCause(exit.cause)
      }
      session = exit.value
      parts.changed("started", "tproxy")
      return statusOf(session, timers.nowMs())
    }).pipe(Effect.uninterruptible)

  const start = Effect.fn("Transparent.start")(function* (request: StartRequest) {
    const problems = problemsOf(request.settings)
    if (problems.length > 0) return yield* new BadSettings({ problems })
    if (session !== null || isStarting) return yield* new AlreadyRunning()
    isStarting = true
    return yield* turn.inTurn(run(request)).pipe(Effect.ensuring(Effect.sync(() => (isStarting = false))))
  })

  const end = Effect.gen(function* () {
    const ending = session
    if (ending === null) return 0
    const broken = ending.listener.connections()
    yield* Scope.close(ending.scope, Exit.void)
    session = null
    parts.changed("stopped", "tproxy")
    return broken
  })

  const stop = turn.inTurn(Effect.uninterruptible(end)).pipe(Effect.withSpan("Transparent.stop"))
  yield* Effect.addFinalizer(() => stop)

  return Transparent.of({ status: Effect.sync(() => statusOf(session, timers.nowMs())), start, stop })
})

export const layer: Layer.Layer<Transparent, never, AppConfig | Timers | CaptureParts | HostJournal | SessionTrust> =
  Layer.scoped(Transparent, make)
