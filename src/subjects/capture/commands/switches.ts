/** `gateway capture`: what captures, switched on and off. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SetHttpProxy, SetSystemProxy } from "../routes.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const onOff = Args.choice(
  [
    ["on", true],
    ["off", false]
  ],
  { name: "on|off" }
)

const choice = <const A extends string, const B extends string>(first: A, second: B) =>
  Args.choice<A | B>(
    [
      [first, first],
      [second, second]
    ],
    { name: `${first}|${second}` }
  )

const word = (isOn: boolean): string => (isOn ? "on" : "off")
const at = (port: number | null): string => (port === null ? "" : ` at 127.0.0.1:${port}`)

export const captureStatus = asking("status", "inspector", {}, function* (client) {
  const modes = yield* client.modes()
  const { customHosts, gateway, httpProxy, mitm, systemProxy, tlsIntercept, tproxy } = modes
  const lines = [
    `HTTP proxy: ${word(httpProxy.running)}${at(httpProxy.port)}, HTTPS is ${tlsIntercept.enabled ? "decrypted" : "not read"}`,
    `Desktop's proxy: ${systemProxy.applied ? `set until ${Output.shortTime(systemProxy.guardUntil)}` : systemProxy.supported ? "not set" : "cannot be set here"}`,
    `Custom hosts: ${customHosts.enabledCount} of ${customHosts.count} captured`,
    `Decrypting server: ${word(mitm.running)}${at(mitm.port)}`,
    `Transparent mode: ${tproxy.running ? "on" : tproxy.available ? "off" : "not possible here"}`,
    `The gateway's own traffic: ${gateway.enabled ? "recorded" : "not recorded"}`
  ]
  yield* Output.result({
    schema: Schema.Unknown,
    value: modes,
    text: Effect.forEach(lines, Output.print, { discard: true }),
    name: "capture"
  })
})

export const captureProxy = asking("proxy", "capture", { action: choice("start", "stop") }, function* (client, given) {
  const payload = yield* body(SetHttpProxy, { action: given.action }, { action: "start|stop" })
  const answer = yield* client.httpProxy({ payload })
  yield* Output.done(
    answer,
    answer.running
      ? `The HTTP proxy listens on http://127.0.0.1:${answer.port}. 'gateway capture run -- <command>' starts a command with it.`
      : "The HTTP proxy is stopped.",
    answer.running ? String(answer.port) : ""
  )
})

export const captureSystemProxy = asking(
  "system-proxy",
  "capture",
  {
    action: choice("apply", "revert"),
    minutes: Options.integer("minutes").pipe(
      Options.withDescription("After how many minutes it is given back by itself. Default: 30."),
      Options.optional
    )
  },
  function* (client, given) {
    const payload = yield* body(
      SetSystemProxy,
      { action: given.action, guardMinutes: Option.getOrUndefined(given.minutes) },
      { action: "apply|revert", guardMinutes: "--minutes" }
    )
    const answer = yield* client.systemProxy({ payload })
    yield* Output.done(
      answer,
      answer.applied
        ? `The desktop's programs use the proxy on port ${answer.port ?? "?"} until ${Output.shortTime(answer.guardUntil)}.`
        : "The desktop's proxy setting is as it was.",
      answer.applied ? "applied" : "reverted"
    )
  }
)

export const captureTlsIntercept = asking("tls-intercept", "capture", { enabled: onOff }, function* (client, given) {
  const answer = yield* client.tlsIntercept({ payload: { enabled: given.enabled } })
  yield* Output.done(
    answer,
    given.enabled
      ? "HTTPS through the HTTP proxy is decrypted. Its programs have to trust the certificate: 'gateway capture cert'."
      : "HTTPS through the HTTP proxy is handed on unread.",
    word(given.enabled)
  )
})

export const captureGateway = asking("gateway", "inspector", { enabled: onOff }, function* (client, given) {
  const answer = yield* client.gateway({ payload: { enabled: given.enabled } })
  yield* Output.done(
    answer,
    given.enabled ? "The gateway's own traffic is recorded." : "The gateway's own traffic is not recorded.",
    word(given.enabled)
  )
})
