/** `gateway tunnel list`, `status` and `stop`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { TunnelView } from "../routes.ts"
import { TunnelBackend } from "../entity.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { OutputFormat } from "../../../cli/output/Format.ts"
import * as Output from "../../../cli/output/Output.ts"
import { redraw } from "../../../cli/output/spinner.ts"
import { all, columns, lineOf, one, Tunnels } from "./rows.ts"

const empty = "The gateway has no tunnels."

const choices = TunnelBackend.literals.map((name): [string, TunnelBackend] => [name, name])

const backend = Args.choice(choices, { name: "tunnel" }).pipe(
  Args.withDescription("quick, token, mesh or ssh; without it all of them."),
  Args.optional
)

export const tunnelList = Command.make("list", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const value = yield* all(yield* Client.target(given))
    yield* Output.list({ schema: Tunnels, value, rows: value.tunnels, columns, empty })
  })
)

const watch = Options.boolean("watch").pipe(
  Options.withDescription("Go on, and show each change; with a tunnel named until it is stopped, else until Ctrl-C.")
)

const every = "1 second"

/** Shows one line on a terminal that is drawn anew; in pipes a line for each change. */
const follow = (to: Client.Target, wanted: TunnelBackend | null) =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    const isForPeople = format === "table" || format === "wide"
    const isDrawn = isForPeople && process.stderr.isTTY === true
    const told = new Map<TunnelBackend, string>()
    const tell = (tunnel: TunnelView): Effect.Effect<void> =>
      isForPeople ? Output.print(lineOf(tunnel)) : Output.jsonLine(TunnelView, tunnel)
    for (;;) {
      const { tunnels } = yield* all(to)
      const shown = tunnels.filter((tunnel) => (wanted === null ? true : tunnel.backend === wanted))
      for (const tunnel of shown) {
        const line = lineOf(tunnel)
        if (told.get(tunnel.backend) === line) continue
        told.set(tunnel.backend, line)
        if (isDrawn) yield* redraw("")
        yield* tell(tunnel)
      }
      if (wanted !== null && shown.every(({ phase }) => phase === "stopped")) return
      const open = shown.filter(({ running }) => running).length
      if (isDrawn) yield* redraw(`${open} of ${shown.length} open; Ctrl-C stops watching.`)
      yield* Effect.sleep(every)
    }
  })

export const tunnelStatus = Command.make("status", { backend, watch, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    if (given.watch) return yield* follow(to, Option.getOrNull(given.backend))
    if (Option.isNone(given.backend)) {
      const value = yield* all(to)
      return yield* Output.list({ schema: Tunnels, value, rows: value.tunnels, columns, empty })
    }
    const tunnel = yield* one(to, given.backend.value)
    yield* Output.result({
      schema: TunnelView,
      value: tunnel,
      text: Output.rows([tunnel], columns, empty).pipe(
        Effect.zipRight(tunnel.warning === null ? Effect.void : Output.note(tunnel.warning))
      ),
      name: tunnel.backend
    })
  })
)

const everyTunnel = Options.boolean("all").pipe(Options.withDescription("Close all that are not stopped."))

const close = (to: Client.Target, name: TunnelBackend) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "tunnels")
    const payload = { action: "disable" as const }
    switch (name) {
      case "quick":
        return yield* client.setQuick({ payload }).pipe(Client.orExplain(to))
      case "token":
        return yield* client.setToken({ payload }).pipe(Client.orExplain(to))
      case "ssh":
        return yield* client.setSsh({ payload }).pipe(Client.orExplain(to))
      case "mesh":
        return yield* client.disableMesh({ payload: {} }).pipe(Client.orExplain(to))
    }
  })

export const tunnelStop = Command.make("stop", { backend, all: everyTunnel, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    if (Option.isSome(given.backend) === given.all) {
      return yield* new BadArgument({
        message: "Which tunnel is to be closed is not said.",
        hint: "Name one, as in 'gateway tunnel stop quick', or give --all."
      })
    }
    const to = yield* Client.target(given)
    const before = (yield* all(to)).tunnels.filter(({ phase }) => phase !== "stopped")
    const notStopped = before.map(({ backend: name }) => name)
    const names = Option.match(given.backend, {
      onNone: () => notStopped,
      // Also one that says it is stopped: it has nothing left after that.
      onSome: (name) => [name]
    })
    const tunnels = yield* Effect.forEach(names, (name) => close(to, name))
    const closed = names.filter((name) => new Set(notStopped).has(name))
    const sentence = closed.length === 0 ? "No tunnel had to be closed." : `Closed: ${closed.join(", ")}.`
    yield* Output.result({
      schema: Tunnels,
      value: { tunnels },
      text: Output.note(sentence),
      name: names.join(" ")
    })
  })
)
