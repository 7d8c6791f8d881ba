/** Custom hosts and the routes of the HTTP proxy, below `/api/tools/traffic-inspector`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Capture } from "./routes.ts"
import type { HostChanged } from "../../observe/capture/CaptureViews.ts"
import { LazyCapture } from "../../observe/capture/LazyCapture.ts"
import type { SystemProxyState } from "../../observe/capture/host/SystemProxy.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { captureAnswers, hostAnswers, portAnswers, proxyNotRunning, systemProxyUnsupported } from "./CaptureAnswers.ts"
import { iso } from "../../entry/handling/Views.ts"

const changed = ({ host, warning }: HostChanged) => ({
  ok: true as const,
  host,
  ...(warning === null ? {} : { warning })
})

const desktop = ({ applied, guardUntilMs, platform, port }: SystemProxyState) => ({
  ok: true as const,
  applied,
  port,
  platform: platform ?? process.platform,
  guardUntil: guardUntilMs === null ? null : iso(guardUntilMs)
})

/** A header takes no other characters. */
const forHeader = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 1_000)

export const layer = HttpApiBuilder.group(contractOf(Capture), "capture", (handlers) =>
  Effect.gen(function* () {
    const lazyCapture = yield* LazyCapture
    const ports = portAnswers("INSPECTOR_HTTP_PROXY_PORT")

    return handlers
      .handle("hosts", () =>
        Effect.map(
          Effect.flatMap(lazyCapture.get, (capture) => capture.hosts),
          (hosts) => ({ hosts })
        )
      )
      .handle("addHost", ({ payload: { enabled = true, host, kind = "custom", label = null } }) =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.addHost({ host, enabled, kind, label })).pipe(
          Effect.map(changed),
          Effect.catchTags({
            CaptureBadHost: hostAnswers.CaptureBadHost,
            CaptureHostKnown: hostAnswers.CaptureHostKnown,
            CaptureTooManyHosts: hostAnswers.CaptureTooManyHosts
          }),
          answered
        )
      )
      .handle("enableHost", ({ path: { host }, payload: { enabled } }) =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.enableHost(host, enabled)).pipe(
          Effect.map(changed),
          Effect.catchTag("CaptureHostNotFound", hostAnswers.CaptureHostNotFound),
          answered
        )
      )
      .handle("removeHost", ({ path: { host } }) =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.removeHost(host)).pipe(
          Effect.map((warning) =>
            HttpServerResponse.empty({
              status: 204,
              ...(warning === null ? {} : { headers: { "X-DNS-Warning": forHeader(warning) } })
            })
          ),
          Effect.catchTag("CaptureHostNotFound", hostAnswers.CaptureHostNotFound),
          answered
        )
      )
      .handle("httpProxy", ({ payload: { action } }) =>
        Effect.gen(function* () {
          const capture = yield* lazyCapture.get
          if (action === "stop") {
            yield* capture.stopProxy
            return yield* HttpServerResponse.json({ ok: true, running: false })
          }
          const port = yield* capture.startProxy
          return yield* HttpServerResponse.json({ ok: true, running: true, port }, { status: 201 })
        }).pipe(
          Effect.catchTags({
            ...ports,
            CaptureAuthorityFailed: captureAnswers.CaptureAuthorityFailed,
            HttpBodyError: Effect.die
          })
        )
      )
      .handle("systemProxy", ({ payload: { action, guardMinutes = null } }) =>
        Effect.flatMap(lazyCapture.get, (capture) =>
          action === "apply" ? capture.applySystemProxy(guardMinutes) : capture.revertSystemProxy
        ).pipe(
          Effect.map(desktop),
          Effect.catchTags({
            CaptureProxyNotRunning: proxyNotRunning,
            SystemProxyUnsupported: systemProxyUnsupported,
            HostJournalFailed: captureAnswers.HostJournalFailed
          })
        )
      )
      .handle("tlsIntercept", ({ payload: { enabled } }) =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.interceptTls(enabled)).pipe(
          Effect.as({ ok: true as const, tlsIntercept: { enabled } }),
          Effect.catchTag("CaptureAuthorityFailed", captureAnswers.CaptureAuthorityFailed),
          answered
        )
      )
  })
)
