/**
 * Everything that captures traffic of this machine, switched on and off: the HTTP proxy, the desktop's proxy setting, custom hosts and hosts of
 * agents, the certificate authority and the transparent mode. Changes of the machine are undone when the scope closes (`host/HostJournal`).
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { X509Certificate } from "node:crypto"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { BadHost, BadValue, HostKnown, HostNotFound, ProxyNotRunning, TooManyHosts } from "./CaptureErrors.ts"
import { CaptureParts } from "./CaptureParts.ts"
import { type CustomHost, resumes, wantedHosts } from "./CaptureSettings.ts"
import { CaptureState, idleLimits } from "./CaptureState.ts"
import * as Decrypting from "./Decrypting.ts"
import { readHostName } from "./host/CustomHostName.ts"
import * as Diagnose from "./host/Diagnose.ts"
import { HostJournal, type JournalFailed, type RestoreReport } from "./host/HostJournal.ts"
import { HostsFile, maxHosts } from "./host/HostsFile.ts"
import { SystemProxy, type SystemProxyState, type SystemProxyUnsupported } from "./host/SystemProxy.ts"
import { type Removed, type Slot, type TrustFailed, TrustStore } from "./host/TrustStore.ts"
import * as HostServer from "./HostServer.ts"
import { builtInPatterns, limits as patternLimits, readPattern } from "./NeverDecrypt.ts"
import { makeDialer } from "./proxy/Dialer.ts"
import * as HttpProxy from "./proxy/HttpProxy.ts"
import { resolvePastHostsFile, resolveUsual } from "./Resolve.ts"
import * as StaticAuthority from "./StaticAuthority.ts"
import { Transparent, type TransparentStatus } from "./transparent/Transparent.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export interface HostView extends CustomHost {
  readonly inHostsFile: boolean
}

export interface HostChanged {
  readonly host: HostView
  /** Reason for which the host is not captured, or not everywhere; null: it is. */
  readonly warning: string | null
}

export interface ServerState {
  readonly running: boolean
  readonly port: number | null
  readonly startedAtMs: number | null
}

export interface CertificateView {
  readonly subject: string
  readonly serial: string
  readonly sha256: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly trusted: boolean
}

export interface CaptureModes {
  readonly customHosts: { readonly count: number; readonly enabledCount: number }
  readonly httpProxy: { readonly running: boolean; readonly port: number | null }
  readonly systemProxy: SystemProxyState
  readonly tlsIntercept: boolean
  readonly transparent: TransparentStatus
  readonly server: ServerState
}

export interface BridgeConfig {
  readonly recordPassthrough: boolean
  readonly idleTimeoutMs: number
}

export interface Pattern {
  readonly pattern: string
  readonly source: "default" | "user"
}

export type ListenProblem = HttpProxy.PortInUse | HttpProxy.ListenFailed | StaticAuthority.AuthorityFailed
type TrustProblem = TrustFailed | JournalFailed | StaticAuthority.AuthorityFailed

export class Capture extends Context.Tag("gateway/observe/capture/Capture")<
  Capture,
  {
    readonly modes: Effect.Effect<CaptureModes>
    readonly hosts: Effect.Effect<ReadonlyArray<HostView>>
    readonly addHost: (host: CustomHost) => Effect.Effect<HostChanged, BadHost | HostKnown | TooManyHosts | StoreError>
    readonly enableHost: (host: string, enabled: boolean) => Effect.Effect<HostChanged, HostNotFound | StoreError>
    /** The warning, as in `HostChanged`. */
    readonly removeHost: (host: string) => Effect.Effect<string | null, HostNotFound | StoreError>
    /** Hosts of an agent that are sent here from now on; none: they are not any more. The warning, as in `HostChanged`. */
    readonly setAgentHosts: (agent: string, hosts: ReadonlyArray<string>) => Effect.Effect<string | null, StoreError>
    /** Ids of agents whose hosts are sent here. */
    readonly capturedAgents: () => ReadonlySet<string>
    /** Starts the proxy, and returns its port. */
    readonly startProxy: Effect.Effect<number, ListenProblem>
    readonly stopProxy: Effect.Effect<void>
    readonly applySystemProxy: (
      guardMinutes: number | null
    ) => Effect.Effect<SystemProxyState, ProxyNotRunning | SystemProxyUnsupported | JournalFailed>
    readonly revertSystemProxy: Effect.Effect<SystemProxyState>
    readonly interceptTls: (enabled: boolean) => Effect.Effect<void, StoreError | StaticAuthority.AuthorityFailed>
    readonly server: Effect.Effect<ServerState>
    readonly startServer: Effect.Effect<ServerState, ListenProblem | StoreError>
    readonly stopServer: Effect.Effect<ServerState, StoreError>
    readonly certificate: Effect.Effect<CertificateView | null, StaticAuthority.AuthorityFailed>
    /** PEM; made when there is none. */
    readonly certificatePem: Effect.Effect<string, StaticAuthority.AuthorityFailed>
    /** Another authority. The one before is not trusted any more; this one is not trusted yet. */
    readonly regenerate: Effect.Effect<CertificateView, TrustProblem>
    readonly trust: (password: Redacted.Redacted | null) => Effect.Effect<ReadonlyArray<string>, TrustProblem>
    readonly untrust: Effect.Effect<Removed, TrustProblem>
    /** Hot: checks whether connections to a host are passed on unread. */
    readonly isNeverDecrypted: (host: string) => boolean
    readonly bypass: Effect.Effect<ReadonlyArray<Pattern>>
    readonly setBypass: (patterns: ReadonlyArray<string>) => Effect.Effect<void, BadValue | StoreError>
    /** PEM; null: none. */
    readonly upstreamCa: Effect.Effect<string | null>
    readonly setUpstreamCa: (pem: string | null) => Effect.Effect<void, BadValue | StoreError>
    readonly config: Effect.Effect<BridgeConfig>
    readonly setConfig: (config: Partial<BridgeConfig>) => Effect.Effect<BridgeConfig, BadValue | StoreError>
    readonly diagnose: Effect.Effect<ReadonlyArray<Diagnose.Check>, StaticAuthority.AuthorityFailed>
    readonly repair: Effect.Effect<Diagnose.Repaired, StaticAuthority.AuthorityFailed>
    /** Undoes the changes that ended gateways have left on the machine. */
    readonly finishEnded: Effect.Effect<RestoreReport>
    readonly transparent: typeof Transparent.Service
    /** Answers requests of intercepted connections in place of their servers; null: all are relayed. */
    readonly intercept: (interceptor: Decrypting.Interceptor | null) => void
    /** Takes up what was on when the gateway ended. The warning, as in `HostChanged`. */
    readonly resume: Effect.Effect<string | null>
  }
>() {}

const shown = (host: CustomHost, present: ReadonlySet<string>): HostView => ({
  ...host,
  inHostsFile: present.has(host.host)
})

type Machine = AppConfig | HostJournal | HostsFile | SystemProxy | TrustStore

const slot: Slot = "gateway-mitm-ca.crt"
const minuteMs = 60_000
const maxPemChars = 65_536

const listenWords = (problem: ListenProblem): string => {
  if (problem._tag === "CaptureAuthorityFailed") return problem.problem
  return problem._tag === "CapturePortInUse"
    ? `another program listens on port ${problem.port}; set MITM_PORT to another one`
    : `port ${problem.port} cannot be opened (${problem.code}); ports below 1024 need the rights of root`
}

export const make = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const timers = yield* Timers
  const parts = yield* CaptureParts
  const { idleTimeoutMs, inspector, ports, serverPort, settings } = yield* CaptureState
  const file = yield* HostsFile
  const systemProxy = yield* SystemProxy
  const trustStore = yield* TrustStore
  const journal = yield* HostJournal
  const transparent = yield* Transparent
  const machine = yield* Effect.context<Machine>()
  const authority = yield* StaticAuthority.make(dataDir)
  const decrypting = yield* Decrypting.make(authority)
  /** Switches follow each other. */
  const turn = yield* Effect.makeSemaphore(1)
  const inTurn = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    turn.withPermits(1)(Effect.uninterruptible(effect))

  let proxy: HttpProxy.HttpProxy | null = null
  let server: { readonly running: HostServer.HostServer; readonly startedAtMs: number } | null = null

  const isRedirected = (host: string): boolean =>
    server !== null && wantedHosts(settings.current()).includes(host.toLowerCase())

  const agentOf = (name: string | null): string | null =>
    Object.entries(settings.current().agentHosts).find(([, hosts]) => name !== null && hosts.includes(name))?.[0] ??
    null

  const isLoopback = (address: string): boolean => /^(?:127\.|::1$|::ffff:127\.)/iu.test(address)

  /** Closed when neither the server nor the proxy needs it. */
  const settleListener = Effect.suspend(() =>
    server === null && (proxy === null || !settings.current().tlsIntercept) ? decrypting.close : Effect.void
  )

  const closeProxy = Effect.suspend(() => {
    const closing = proxy
    proxy = null
    ports.proxy = null
    if (closing === null) return Effect.void
    return Effect.zipRight(closing.close, settleListener).pipe(
      Effect.tap(() => Effect.sync(() => parts.changed("stopped", "http-proxy")))
    )
  })

  const openProxy = Effect.gen(function* () {
    if (proxy !== null) return proxy.port
    if (settings.current().tlsIntercept) yield* decrypting.open
    proxy = yield* HttpProxy.start({
      port: inspector.settings.httpProxyPort,
      recording: { sink: parts.sink, timers, maxBodyBytes: parts.maxBodyBytes },
      idleTimeoutMs: parts.idleTimeoutMs,
      timeoutMs: Decrypting.connectTimeoutMs,
      resolve: (host) => (isRedirected(host) ? resolvePastHostsFile(host) : resolveUsual(host)),
      source: () => (systemProxy.isApplied() ? "system-proxy" : "http-proxy"),
      decrypting: () => (settings.current().tlsIntercept ? decrypting.current() : null)
    }).pipe(Effect.tapError(() => settleListener))
    ports.proxy = proxy.port
    parts.changed("started", "http-proxy")
    return proxy.port
  })

  const revertProxy = systemProxy.revert.pipe(
    Effect.tap((report) =>
      Effect.sync(() => (report === null || report.failed.length > 0 ? null : parts.changed("stopped", "system-proxy")))
    ),
    Effect.zipRight(systemProxy.state)
  )
  systemProxy.onExpired(() => parts.changed("stopped", "system-proxy", true))

  const openServer = Effect.gen(function* () {
    if (server !== null) return
    yield* decrypting.open
    const running = yield* HostServer.start({
      port: serverPort,
      listener: decrypting.current,
      dial: (own) =>
        makeDialer({
          timers,
          timeoutMs: Decrypting.connectTimeoutMs,
          resolve: resolvePastHostsFile,
          isSelf: (address, port) => port === own && isLoopback(address)
        }),
      labelOf: (name) => {
        const agent = agentOf(name)
        return { source: agent === null ? "custom-host" : "agent-bridge", agent }
      }
    }).pipe(Effect.tapError(() => settleListener))
    server = { running, startedAtMs: yield* Clock.currentTimeMillis }
    ports.server = running.port
    parts.changed("started", "server")
  })

  /** The names go first, so that no new connection finds a closed port. */
  const closeServer = Effect.gen(function* () {
    const { warning } = yield* file.set([])
    const closing = server
    server = null
    ports.server = null
    if (closing !== null) {
      yield* closing.running.close
      parts.changed("stopped", "server")
    }
    yield* settleListener
    return warning
  })

  const state = Effect.sync((): ServerState => ({
    running: server !== null,
    port: server?.running.port ?? null,
    startedAtMs: server?.startedAtMs ?? null
  }))

  /** Brings server and hosts file to what is wanted. Names lead here only while the server listens. */
  const settleHosts = (mayStart: boolean) =>
    Effect.gen(function* () {
      const wanted = wantedHosts(settings.current())
      if (wanted.length === 0 && server !== null && settings.current().server !== "on") return yield* closeServer
      if (wanted.length > 0 && server === null) {
        if (!mayStart) return null
        const problem = yield* openServer.pipe(
          Effect.as(null),
          Effect.catchAll((failed) => Effect.succeed(listenWords(failed)))
        )
        if (problem !== null) {
          return `The hosts file was left as it is, because the decrypting server does not run: ${asSentence(problem)}`
        }
      }
      return server === null ? null : (yield* file.set(wanted)).warning
    })

  const viewOf = (host: CustomHost) => Effect.map(file.present, (present) => shown(host, present))

  const putHosts = (hosts: ReadonlyArray<CustomHost>, mayStart: boolean) =>
    Effect.gen(function* () {
      const wasStopped = settings.current().server === "off"
      yield* settings.set({ hosts, ...(mayStart && wasStopped ? { server: null } : {}) })
      return yield* settleHosts(mayStart)
    })

  const addHost = Effect.fn("Capture.addHost")(function* (given: CustomHost) {
    const name = readHostName(given.host)
    if (!name.ok) return yield* new BadHost({ problem: name.problem })
    const { hosts } = settings.current()
    if (hosts.some(({ host }) => host === name.host)) return yield* new HostKnown({ host: name.host })
    if (wantedHosts(settings.current()).length >= maxHosts || hosts.length >= maxHosts) {
      return yield* new TooManyHosts({ most: maxHosts })
    }
    const added = { ...given, host: name.host }
    const warning = yield* putHosts([...hosts, added], added.enabled)
    return { host: yield* viewOf(added), warning }
  })

  const found = (host: string): Effect.Effect<CustomHost, HostNotFound> => {
    const known = settings.current().hosts.find((each) => each.host === host.toLowerCase())
    return known === undefined ? new HostNotFound({ host }) : Effect.succeed(known)
  }

  const enableHost = Effect.fn("Capture.enableHost")(function* (host: string, enabled: boolean) {
    const known = yield* found(host)
    const changed = { ...known, enabled }
    const hosts = settings.current().hosts.map((each) => (each.host === known.host ? changed : each))
    const warning = yield* putHosts(hosts, enabled)
    return { host: yield* viewOf(changed), warning }
  })

  const removeHost = Effect.fn("Capture.removeHost")(function* (host: string) {
    const known = yield* found(host)
    return yield* putHosts(
      settings.current().hosts.filter((each) => each.host !== known.host),
      false
    )
  })

  const setAgentHosts = Effect.fn("Capture.setAgentHosts")(function* (agent: string, hosts: ReadonlyArray<string>) {
    const { [agent]: _before, ...others } = settings.current().agentHosts
    const wasStopped = settings.current().server === "off"
    yield* settings.set({
      agentHosts: hosts.length === 0 ? others : { ...others, [agent]: hosts },
      ...(hosts.length > 0 && wasStopped ? { server: null } : {})
    })
    return yield* settleHosts(hosts.length > 0)
  })

  const applySystemProxy = Effect.fn("Capture.applySystemProxy")(function* (guardMinutes: number | null) {
    if (proxy === null) return yield* new ProxyNotRunning()
    const minutes = guardMinutes ?? inspector.settings.systemProxyGuardMinutes
    const applied = yield* systemProxy.apply({ port: proxy.port, guardMs: minutes * minuteMs })
    parts.changed("started", "system-proxy")
    return applied
  })

  const interceptTls = Effect.fn("Capture.interceptTls")(function* (enabled: boolean) {
    if (enabled && proxy !== null) yield* decrypting.open
    yield* settings.set({ tlsIntercept: enabled })
    yield* settleListener
  })

  const certificateOf = (found: Effect.Effect.Success<StaticAuthority.StaticAuthority["get"]>) =>
    Effect.map(
      Effect.orElseSucceed(trustStore.isTrusted(slot, found.certificate), () => false),
      (trusted): CertificateView => ({
        subject: found.subject,
        serial: found.serial,
        sha256: found.sha256,
        notBeforeMs: found.notBeforeMs,
        notAfterMs: found.notAfterMs,
        trusted
      })
    )

  const certificate = Effect.flatMap(authority.current, (current) =>
    current === null ? Effect.succeed(null) : certificateOf(current)
  )

  const untrust = Effect.gen(function* () {
    const current = yield* authority.current
    if (current === null || !trustStore.supported) return { left: [], problem: null }
    // To take out what is not there would rebuild the system's store for nothing.
    if ((yield* trustStore.places(slot, current.certificate)).length === 0) return { left: [], problem: null }
    const removed = yield* trustStore.remove(slot, current.certificate)
    if (removed.left.length === 0) parts.changed("untrusted", "certificate")
    return removed
  })

  const regenerate = Effect.gen(function* () {
    yield* untrust
    const isOpen = decrypting.current() !== null
    yield* decrypting.close
    const made = yield* authority.regenerate
    if (isOpen) yield* decrypting.open
    return yield* certificateOf(made)
  }).pipe(Effect.withSpan("Capture.regenerate"))

  const trust = Effect.fn("Capture.trust")(function* (sudoPassword: Redacted.Redacted | null) {
    const { certificate: pem } = yield* authority.get
    const { warnings } = yield* trustStore.install({ slot, pem, sudoPassword, lifetime: "kept" })
    parts.changed("trusted", "certificate")
    return warnings
  })

  const setBypass = Effect.fn("Capture.setBypass")(function* (given: ReadonlyArray<string>) {
    if (given.length > patternLimits.patterns) {
      return yield* new BadValue({ field: "patterns", problem: `must have at most ${patternLimits.patterns} entries` })
    }
    const read = given.map(readPattern)
    for (const [at, one] of read.entries()) {
      if (!one.ok) return yield* new BadValue({ field: `patterns.${at}`, problem: one.problem })
    }
    yield* settings.set({ bypass: [...new Set(read.flatMap((one) => (one.ok ? [one.pattern] : [])))] })
  })

  const setUpstreamCa = Effect.fn("Capture.setUpstreamCa")(function* (pem: string | null) {
    if (pem === null) return yield* settings.set({ upstreamCa: null })
    const own = yield* Effect.try({
      try: () => {
        if (pem.length > maxPemChars || pem.split("-----BEGIN ").length !== 2) throw new Error("not one certificate")
        const read = new X509Certificate(pem)
        if (!read.ca) throw new Error("no authority")
        return read.toString()
      },
      catch: () => new BadValue({ field: "pem", problem: "must be the certificate of one authority in PEM form" })
    })
    yield* settings.set({ upstreamCa: own })
  })

  const config = Effect.sync((): BridgeConfig => ({
    recordPassthrough: settings.current().recordPassthrough,
    idleTimeoutMs: idleTimeoutMs()
  }))

  const setConfig = Effect.fn("Capture.setConfig")(function* (changed: Partial<BridgeConfig>) {
    const { idleTimeoutMs: idle, recordPassthrough } = changed
    if (idle !== undefined && (!Number.isInteger(idle) || idle < idleLimits.least || idle > idleLimits.most)) {
      return yield* new BadValue({
        field: "idleTimeoutMs",
        problem: `must be a whole number from ${idleLimits.least} to ${idleLimits.most}`
      })
    }
    yield* settings.set({
      ...(idle === undefined ? {} : { idleTimeoutMs: idle }),
      ...(recordPassthrough === undefined ? {} : { recordPassthrough })
    })
    return yield* config
  })

  const expected = Effect.map(authority.current, (current): Diagnose.Expected => ({
    hosts: server === null ? [] : wantedHosts(settings.current()),
    authority: current === null ? null : { slot, pem: current.certificate }
  }))
  const onMachine = <A, E>(work: (expected: Diagnose.Expected) => Effect.Effect<A, E, Machine>) =>
    Effect.flatMap(expected, (wanted) => Effect.provide(work(wanted), machine))

  const modes = Effect.map(
    Effect.all([systemProxy.state, transparent.status, state]),
    ([desktop, kernel, listening]): CaptureModes => {
      const { hosts, tlsIntercept } = settings.current()
      return {
        customHosts: { count: hosts.length, enabledCount: hosts.filter(({ enabled }) => enabled).length },
        httpProxy: { running: proxy !== null, port: proxy?.port ?? null },
        systemProxy: desktop,
        tlsIntercept,
        transparent: kernel,
        server: listening
      }
    }
  )

  const resumed = Effect.gen(function* () {
    if (settings.current().server !== "on") return yield* settleHosts(true)
    const problem = yield* openServer.pipe(
      Effect.as(null),
      Effect.catchAll((failed) => Effect.succeed(`The decrypting server does not run: ${listenWords(failed)}.`))
    )
    return problem ?? (yield* settleHosts(true))
  })

  // Names and settings go before the listeners that they lead to.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* revertProxy
      yield* closeServer
      yield* closeProxy
      yield* decrypting.close
    })
  )

  return Capture.of({
    modes,
    hosts: Effect.flatMap(file.present, (present) =>
      Effect.succeed(settings.current().hosts.map((host) => shown(host, present)))
    ),
    addHost: (host) => inTurn(addHost(host)),
    enableHost: (host, enabled) => inTurn(enableHost(host, enabled)),
    removeHost: (host) => inTurn(removeHost(host)),
    setAgentHosts: (agent, hosts) => inTurn(setAgentHosts(agent, hosts)),
    capturedAgents: () => new Set(Object.keys(settings.current().agentHosts)),
    startProxy: inTurn(openProxy),
    stopProxy: inTurn(Effect.zipRight(revertProxy, closeProxy)),
    applySystemProxy: (minutes) => inTurn(applySystemProxy(minutes)),
    revertSystemProxy: inTurn(revertProxy),
    interceptTls: (enabled) => inTurn(interceptTls(enabled)),
    server: state,
    startServer: inTurn(
      Effect.gen(function* () {
        yield* openServer
        yield* settings.set({ server: "on" })
        yield* settleHosts(true)
        return yield* state
      })
    ),
    stopServer: inTurn(
      Effect.gen(function* () {
        yield* settings.set({ server: "off" })
        yield* closeServer
        return yield* state
      })
    ),
    certificate,
    certificatePem: Effect.map(authority.get, ({ certificate: pem }) => pem.replaceAll("\r\n", "\n")),
    regenerate: inTurn(regenerate),
    trust: (password) => inTurn(trust(password)),
    untrust: inTurn(untrust),
    isNeverDecrypted: parts.isNeverDecrypted,
    bypass: Effect.sync(() => [
      ...builtInPatterns.map((pattern): Pattern => ({ pattern, source: "default" })),
      ...settings.current().bypass.map((pattern): Pattern => ({ pattern, source: "user" }))
    ]),
    setBypass: (patterns) => inTurn(setBypass(patterns)),
    upstreamCa: Effect.sync(() => settings.current().upstreamCa),
    setUpstreamCa: (pem) => inTurn(setUpstreamCa(pem)),
    config,
    setConfig: (changed) => inTurn(setConfig(changed)),
    diagnose: onMachine(Diagnose.diagnose),
    repair: inTurn(onMachine(Diagnose.repair)),
    finishEnded: journal
      .restore("ended")
      .pipe(
        Effect.tap(({ kept, restored }) =>
          Effect.sync(() => (restored.length + kept.length === 0 ? null : parts.changed("restored", "machine", true)))
        )
      ),
    transparent,
    intercept: decrypting.setIntercept,
    resume: inTurn(Effect.suspend(() => (resumes(settings.current()) ? resumed : Effect.succeed(null))))
  })
})

export const layer = Layer.scoped(Capture, make)
