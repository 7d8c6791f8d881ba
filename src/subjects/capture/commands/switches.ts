/** `gateway capture`: what captures, switched on and off. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SetHttpProxy, SetSystemProxy } from "../routes.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"

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

export const captureStatus = Command.make("status", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "inspector")
    const modes = yield* client.modes().pipe(Client.orExplain(to))
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
)

export const captureProxy = Command.make("proxy", { action: choice("start", "stop"), ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "capture")
    const payload = yield* body(SetHttpProxy, { action: given.action }, { action: "start|stop" })
    const answer = yield* client.httpProxy({ payload }).pipe(Client.orExplain(to))
    yield* Output.done(
      answer,
      answer.running
        ? `The HTTP proxy listens on http://127.0.0.1:${answer.port}. 'gateway capture run -- <command>' starts a command with it.`
        : "The HTTP proxy is stopped.",
      answer.running ? String(answer.port) : ""
    )
  })
)

export const captureSystemProxy = Command.make(
  "system-proxy",
  {
    action: choice("apply", "revert"),
    minutes: Options.integer("minutes").pipe(
      Options.withDescription("After how many minutes it is given back by itself. Default: 30."),
      Options.optional
    ),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "capture")
      const payload = yield* body(
        SetSystemProxy,
        { action: given.action, guardMinutes: Option.getOrUndefined(given.minutes) },
        { action: "apply|revert", guardMinutes: "--minutes" }
      )
      const answer = yield* client.systemProxy({ payload }).pipe(Client.orExplain(to))
      yield* Output.done(
        answer,
        answer.applied
          ? `The desktop's programs use the proxy on port ${answer.port ?? "?"} until ${Output.shortTime(answer.guardUntil)}.`
          : "The desktop's proxy setting is as it was.",
        answer.applied ? "applied" : "reverted"
      )
    })
)

export const captureTlsIntercept = Command.make("tls-intercept", { enabled: onOff, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "capture")
    const answer = yield* client.tlsIntercept({ payload: { enabled: given.enabled } }).pipe(Client.orExplain(to))
    yield* Output.done(
      answer,
      given.enabled
        ? "HTTPS through the HTTP proxy is decrypted. Its programs have to trust the certificate: 'gateway capture cert'."
        : "HTTPS through the HTTP proxy is handed on unread.",
      word(given.enabled)
    )
  })
)

export const captureGateway = Command.make("gateway", { enabled: onOff, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "inspector")
    const answer = yield* client.gateway({ payload: { enabled: given.enabled } }).pipe(Client.orExplain(to))
    yield* Output.done(
      answer,
      given.enabled ? "The gateway's own traffic is recorded." : "The gateway's own traffic is not recorded.",
      word(given.enabled)
    )
  })
)
