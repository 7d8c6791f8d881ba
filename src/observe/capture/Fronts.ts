/** The two listeners that clients are led to, and the desktop's proxy setting: the HTTP proxy, and the server for redirected names. */
import * as Effect from "effect/Effect"
import * as Clock from "effect/Clock"
import * as Decrypting from "./Decrypting.ts"
import * as HostServer from "./HostServer.ts"
import * as HttpProxy from "./proxy/HttpProxy.ts"
import type * as StaticAuthority from "./StaticAuthority.ts"
import type { ServerState } from "./CaptureViews.ts"
import { type SystemProxyState, type SystemProxyUnsupported, SystemProxy } from "./host/SystemProxy.ts"
import { ProxyNotRunning } from "./CaptureErrors.ts"
import type { JournalFailed } from "./host/HostJournal.ts"
import { Timers } from "../../platform/Timers.ts"
import { CaptureParts } from "./CaptureParts.ts"
import { CaptureState } from "./CaptureState.ts"
import { wantedHosts, type StoredCapture } from "./CaptureSettings.ts"
import { resolvePastHostsFile, resolveUsual } from "./Resolve.ts"
import { HostsFile } from "./host/HostsFile.ts"
import { makeDialer } from "./proxy/Dialer.ts"

export type ListenProblem = HttpProxy.PortInUse | HttpProxy.ListenFailed | StaticAuthority.AuthorityFailed

export const listenWords = (problem: ListenProblem): string => {
  if (problem._tag === "CaptureAuthorityFailed") return problem.problem
  return problem._tag === "CapturePortInUse"
    ? `another program listens on port ${problem.port}; set MITM_PORT to another one`
    : `port ${problem.port} cannot be opened (${problem.code}); ports below 1024 need the rights of root`
}

const minuteMs = 60_000

const isLoopback = (address: string): boolean => /^(?:127\.|::1$|::ffff:127\.)/iu.test(address)

/** Name of the agent whose hosts the name is one of; null: none. */
const agentOf = ({ agentHosts }: StoredCapture, name: string | null): string | null =>
  Object.entries(agentHosts).find(([, hosts]) => name !== null && hosts.includes(name))?.[0] ?? null

export interface Fronts {
  /** Port of the HTTP proxy; null: it does not run. */
  readonly proxyPort: () => number | null
  readonly isServing: () => boolean
  readonly state: Effect.Effect<ServerState>
  readonly openProxy: Effect.Effect<number, ListenProblem>
  readonly closeProxy: Effect.Effect<void>
  readonly openServer: Effect.Effect<void, ListenProblem>
  /** The warning of the hosts file, if any. */
  readonly closeServer: Effect.Effect<string | null>
  /** Closes the listener behind the fronts when neither needs it. */
  readonly settleListener: Effect.Effect<void>
  readonly applySystemProxy: (
    guardMinutes: number | null
  ) => Effect.Effect<SystemProxyState, ProxyNotRunning | SystemProxyUnsupported | JournalFailed>
  readonly revertProxy: Effect.Effect<SystemProxyState>
}

interface OpenFronts {
  proxy: HttpProxy.HttpProxy | null
  server: { readonly running: HostServer.HostServer; readonly startedAtMs: number } | null
}

const makeProxy = (open: OpenFronts, decrypting: Decrypting.Decrypting, settleListener: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const parts = yield* CaptureParts
    const { inspector, ports, settings } = yield* CaptureState
    const systemProxy = yield* SystemProxy

    const isRedirected = (host: string): boolean =>
      open.server !== null && wantedHosts(settings.current()).includes(host.toLowerCase())

    const closeProxy = Effect.suspend(() => {
      const closing = open.proxy
      open.proxy = null
      ports.proxy = null
      if (closing === null) return Effect.void
      return Effect.zipRight(closing.close, settleListener).pipe(
        Effect.tap(() => Effect.sync(() => parts.changed("stopped", "http-proxy")))
      )
    })

    const openProxy = Effect.gen(function* () {
      if (open.proxy !== null) return open.proxy.port
      if (settings.current().tlsIntercept) yield* decrypting.open
      open.proxy = yield* HttpProxy.start({
        port: inspector.settings.httpProxyPort,
        recording: { sink: parts.sink, timers, maxBodyBytes: parts.maxBodyBytes },
        idleTimeoutMs: parts.idleTimeoutMs,
        timeoutMs: Decrypting.connectTimeoutMs,
        resolve: (host) => (isRedirected(host) ? resolvePastHostsFile(host) : resolveUsual(host)),
        source: () => (systemProxy.isApplied() ? "system-proxy" : "http-proxy"),
        decrypting: () => (settings.current().tlsIntercept ? decrypting.current() : null)
      }).pipe(Effect.tapError(() => settleListener))
      ports.proxy = open.proxy.port
      parts.changed("started", "http-proxy")
      return open.proxy.port
    })

    const revertProxy = systemProxy.revert.pipe(
      Effect.tap((report) =>
        Effect.sync(() =>
          report === null || report.failed.length > 0 ? null : parts.changed("stopped", "system-proxy")
        )
      ),
      Effect.zipRight(systemProxy.state)
    )
    systemProxy.onExpired(() => parts.changed("stopped", "system-proxy", true))

    const applySystemProxy = Effect.fn("Capture.applySystemProxy")(function* (guardMinutes: number | null) {
      if (open.proxy === null) return yield* new ProxyNotRunning()
      const minutes = guardMinutes ?? inspector.settings.systemProxyGuardMinutes
      const applied = yield* systemProxy.apply({ port: open.proxy.port, guardMs: minutes * minuteMs })
      parts.changed("started", "system-proxy")
      return applied
    })

    return { applySystemProxy, closeProxy, openProxy, revertProxy }
  })

const makeServer = (open: OpenFronts, decrypting: Decrypting.Decrypting, settleListener: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const parts = yield* CaptureParts
    const { ports, serverPort, settings } = yield* CaptureState
    const file = yield* HostsFile

    const openServer = Effect.gen(function* () {
      if (open.server !== null) return
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
          const agent = agentOf(settings.current(), name)
          return { source: agent === null ? "custom-host" : "agent-bridge", agent }
        }
      }).pipe(Effect.tapError(() => settleListener))
      open.server = { running, startedAtMs: yield* Clock.currentTimeMillis }
      ports.server = running.port
      parts.changed("started", "server")
    })

    /** The names go first, so that no new connection finds a closed port. */
    const closeServer = Effect.gen(function* () {
      const { warning } = yield* file.set([])
      const closing = open.server
      open.server = null
      ports.server = null
      if (closing !== null) {
        yield* closing.running.close
        parts.changed("stopped", "server")
      }
      yield* settleListener
      return warning
    })

    const state = Effect.sync((): ServerState => ({
      running: open.server !== null,
      port: open.server?.running.port ?? null,
      startedAtMs: open.server?.startedAtMs ?? null
    }))

    return { closeServer, openServer, state }
  })

export const makeFronts = (decrypting: Decrypting.Decrypting) =>
  Effect.gen(function* () {
    const { settings } = yield* CaptureState
    const open: OpenFronts = { proxy: null, server: null }
    const settleListener = Effect.suspend(() =>
      open.server === null && (open.proxy === null || !settings.current().tlsIntercept) ? decrypting.close : Effect.void
    )
    const fronts: Fronts = {
      proxyPort: () => open.proxy?.port ?? null,
      isServing: () => open.server !== null,
      settleListener,
      ...(yield* makeProxy(open, decrypting, settleListener)),
      ...(yield* makeServer(open, decrypting, settleListener))
    }
    return fronts
  })
