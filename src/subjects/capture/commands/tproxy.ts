/** `gateway capture tproxy`: the transparent mode. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { TproxyView } from "../../agentBridge/routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import { passwordField, passwordStdin } from "./bridge.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const stateLines = ({
  interceptCount,
  ipv6,
  notCaptured,
  onPort,
  reason,
  running
}: TproxyView): ReadonlyArray<string> => [
  running
    ? `All HTTPS of this machine is captured by port ${onPort ?? "?"}${ipv6 ? "" : ", over IPv4 alone"}; ${Output.counted(interceptCount, "exchange")} so far.`
    : (reason ?? "The transparent mode is off."),
  ...(running ? notCaptured.map((sentence) => `Not captured: ${sentence}`) : [])
]

const shown = (view: TproxyView) =>
  Output.result({
    schema: TproxyView,
    value: view,
    text: Effect.forEach(stateLines(view), Output.print, { discard: true }),
    name: view.running ? "running" : "stopped"
  })

export const tproxyStatus = asking("status", "agentBridge", {}, function* (client) {
  yield* shown(yield* client.tproxy())
})

const number = (name: string, description: string) =>
  Options.integer(name).pipe(Options.withDescription(description), Options.optional)

export const tproxyStart = asking(
  "start",
  "agentBridge",
  {
    dport: number("dport", "TCP port of the connections that are captured. Default: 443."),
    mark: number("mark", "Firewall mark of their packets. Default: 9011."),
    onPort: number("on-port", "Port of the listener. Default: 8443."),
    routeTable: number("route-table", "Number of the routing table. Default: 233."),
    bypassMark: number("bypass-mark", "Firewall mark of the gateway's own connections. Default: 1337."),
    passwordStdin
  },
  function* (client, given) {
    const one = <K extends string>(name: K, value: Option.Option<number>) =>
      Option.match(value, { onNone: () => ({}), onSome: (chosen) => ({ [name]: chosen }) })
    const payload = {
      ...one("dport", given.dport),
      ...one("mark", given.mark),
      ...one("onPort", given.onPort),
      ...one("routeTable", given.routeTable),
      ...one("bypassMark", given.bypassMark),
      ...(yield* passwordField(given.passwordStdin))
    }
    yield* shown(yield* client.startTproxy({ payload }))
  }
)

export const tproxyStop = asking("stop", "agentBridge", {}, function* (client) {
  const answer = yield* client.stopTproxy()
  yield* Output.done(
    answer,
    `The transparent mode is off; ${Output.counted(answer.brokenConnections, "captured connection")} ended by it.`,
    "stopped"
  )
})
