/** Tunnels as a table, and what is said of one. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { TunnelView } from "../routes.ts"
import type { TunnelBackend } from "../entity.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"

export const Tunnels = Schema.Struct({ tunnels: Schema.Array(TunnelView) })

export const columns: ReadonlyArray<Column.Column<TunnelView>> = [
  Column.name("TUNNEL", ({ backend }) => backend),
  Column.text("PHASE", ({ phase }) => phase, { fit: "keep" }),
  Column.text("BASE ADDRESS", ({ apiUrl }) => apiUrl, { fit: "keep" }),
  Column.time("SINCE", ({ since }) => since),
  Column.number("RESTARTS", ({ restarts }) => restarts),
  Column.yesNo("KEYLESS", ({ allowKeyless }) => allowKeyless, { in: "wide" }),
  Column.text("ENTERS BY", ({ targetUrl }) => targetUrl, { in: "wide" }),
  Column.prose("LAST ERROR", ({ lastError }) => lastError)
]

/** One line for people. */
export const lineOf = ({ apiUrl, backend, lastError, phase }: TunnelView): string =>
  [`${backend}: ${phase}`, apiUrl, lastError].filter((part) => part !== null).join("  ")

export const all = (to: Client.Target) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "tunnels")
    return yield* client.list().pipe(Client.orExplain(to))
  })

export const one = (to: Client.Target, backend: TunnelBackend) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "tunnels")
    return yield* client[backend]().pipe(Client.orExplain(to))
  })
