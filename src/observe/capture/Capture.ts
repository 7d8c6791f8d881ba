/**
 * Everything that captures traffic of this machine, switched on and off: the HTTP proxy, the desktop's proxy setting, custom hosts and hosts of
 * agents, the certificate authority and the transparent mode. Changes of the machine are undone when the scope closes (`host/HostJournal`).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { makeLane } from "../../kernel/Lane.ts"
import * as Decrypting from "./Decrypting.ts"
import * as Diagnose from "./host/Diagnose.ts"
import * as StaticAuthority from "./StaticAuthority.ts"
import type { TrustFailed, Removed, TrustStore } from "./host/TrustStore.ts"
import { type JournalFailed, type RestoreReport, HostJournal } from "./host/HostJournal.ts"
import type {
  CaptureModes,
  HostView,
  HostChanged,
  ServerState,
  CertificateView,
  Pattern,
  BridgeConfig
} from "./CaptureViews.ts"
import { type CustomHost, wantedHosts } from "./CaptureSettings.ts"
import type { BadHost, HostKnown, TooManyHosts, HostNotFound, ProxyNotRunning, BadValue } from "./CaptureErrors.ts"
import type { StoreError } from "../../store/Errors.ts"
import { type ListenProblem, type Fronts, makeFronts } from "./Fronts.ts"
import { type SystemProxyState, type SystemProxyUnsupported, SystemProxy } from "./host/SystemProxy.ts"
import { Transparent } from "./transparent/Transparent.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { HostsFile } from "./host/HostsFile.ts"
import { CaptureState } from "./CaptureState.ts"
import { slot, makeAuthorityTrust } from "./AuthorityTrust.ts"
import { CaptureParts } from "./CaptureParts.ts"
import { makeCapturedHosts } from "./CapturedHosts.ts"
import { makeBridgeSettings } from "./BridgeSettings.ts"

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

type Machine = AppConfig | HostJournal | HostsFile | SystemProxy | TrustStore

/** Examines the machine, and mends what is wrong with it. */
const makeDiagnosis = (authority: StaticAuthority.StaticAuthority, { isServing }: Fronts) =>
  Effect.gen(function* () {
    const { settings } = yield* CaptureState
    const machine = yield* Effect.context<Machine>()
    const expected = Effect.map(authority.current, (current): Diagnose.Expected => ({
      hosts: isServing() ? wantedHosts(settings.current()) : [],
      authority: current === null ? null : { slot, pem: current.certificate }
    }))
    const onMachine = <A, E>(work: (expected: Diagnose.Expected) => Effect.Effect<A, E, Machine>) =>
      Effect.flatMap(expected, (expectedNow) => Effect.provide(work(expectedNow), machine))
    return { diagnose: onMachine(Diagnose.diagnose), repair: onMachine(Diagnose.repair) }
  })

export const make = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const parts = yield* CaptureParts
  const { settings } = yield* CaptureState
  const systemProxy = yield* SystemProxy
  const journal = yield* HostJournal
  const transparent = yield* Transparent
  const authority = yield* StaticAuthority.make(dataDir)
  const decrypting = yield* Decrypting.make(authority)
  /** Switches follow each other. */
  const turn = makeLane(1)
  const inTurn = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    turn.inTurn(Effect.uninterruptible(effect))
  const fronts = yield* makeFronts(decrypting)
  const hosts = yield* makeCapturedHosts(fronts)
  const trusted = yield* makeAuthorityTrust(authority, decrypting)
  const bridge = yield* makeBridgeSettings
  const { diagnose, repair } = yield* makeDiagnosis(authority, fronts)
  const { closeProxy, closeServer, openProxy, openServer, proxyPort, revertProxy, settleListener, state } = fronts

  const interceptTls = Effect.fn("Capture.interceptTls")(function* (enabled: boolean) {
    if (enabled && proxyPort() !== null) yield* decrypting.open
    yield* settings.set({ tlsIntercept: enabled })
    yield* settleListener
  })

  const modes = Effect.map(
    Effect.all([systemProxy.state, transparent.status, state]),
    ([desktop, kernel, listening]): CaptureModes => {
      const { hosts, tlsIntercept } = settings.current()
      const port = proxyPort()
      return {
        customHosts: { count: hosts.length, enabledCount: hosts.filter(({ enabled }) => enabled).length },
        httpProxy: { running: port !== null, port },
        systemProxy: desktop,
        tlsIntercept,
        transparent: kernel,
        server: listening
      }
    }
  )

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
    hosts: hosts.hosts,
    addHost: (host) => inTurn(hosts.addHost(host)),
    enableHost: (host, enabled) => inTurn(hosts.enableHost(host, enabled)),
    removeHost: (host) => inTurn(hosts.removeHost(host)),
    setAgentHosts: (agent, names) => inTurn(hosts.setAgentHosts(agent, names)),
    capturedAgents: () => new Set(Object.keys(settings.current().agentHosts)),
    startProxy: inTurn(openProxy),
    stopProxy: inTurn(Effect.zipRight(revertProxy, closeProxy)),
    applySystemProxy: (minutes) => inTurn(fronts.applySystemProxy(minutes)),
    revertSystemProxy: inTurn(revertProxy),
    interceptTls: (enabled) => inTurn(interceptTls(enabled)),
    server: state,
    startServer: inTurn(
      openServer.pipe(
        Effect.zipRight(settings.set({ server: "on" })),
        Effect.zipRight(hosts.settleHosts(true)),
        Effect.zipRight(state)
      )
    ),
    stopServer: inTurn(settings.set({ server: "off" }).pipe(Effect.zipRight(closeServer), Effect.zipRight(state))),
    ...trusted,
    regenerate: inTurn(trusted.regenerate),
    trust: (password) => inTurn(trusted.trust(password)),
    untrust: inTurn(trusted.untrust),
    isNeverDecrypted: parts.isNeverDecrypted,
    ...bridge,
    setBypass: (patterns) => inTurn(bridge.setBypass(patterns)),
    setUpstreamCa: (pem) => inTurn(bridge.setUpstreamCa(pem)),
    setConfig: (changed) => inTurn(bridge.setConfig(changed)),
    diagnose,
    repair: inTurn(repair),
    finishEnded: journal
      .restore("ended")
      .pipe(
        Effect.tap(({ kept, restored }) =>
          Effect.sync(() => (restored.length + kept.length === 0 ? null : parts.changed("restored", "machine", true)))
        )
      ),
    transparent,
    intercept: decrypting.setIntercept,
    resume: inTurn(hosts.resume)
  })
})

export const layer = Layer.scoped(Capture, make)
