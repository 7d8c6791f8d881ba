/** `gateway capture hosts`: hosts that the hosts file sends to the gateway. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { AddHost, CustomHostView } from "../routes.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"

const host = Args.text({ name: "host" }).pipe(Args.withDescription("The name, such as api.example.com."))
const columns: ReadonlyArray<Column.Column<CustomHostView>> = [
  Column.name("HOST", (each) => each.host),
  Column.yesNo("CAPTURED", ({ enabled }) => enabled),
  Column.yesNo("IN HOSTS FILE", ({ inHostsFile }) => inHostsFile),
  Column.text("KIND", ({ kind }) => kind),
  Column.text("LABEL", ({ label }) => label)
]

export const hostsList = Command.make("list", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "capture")
    const value = yield* client.hosts().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Schema.Struct({ hosts: Schema.Array(CustomHostView) }),
      value,
      rows: value.hosts,
      columns,
      empty: "No host is captured."
    })
  })
)

export const hostsAdd = Command.make(
  "add",
  {
    host,
    label: Options.text("label").pipe(Options.withDescription("What you call it."), Options.optional),
    kind: Options.choice("kind", ["llm", "app", "custom"]).pipe(
      Options.withDescription("What its requests are listed as. Default: custom."),
      Options.optional
    ),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "capture")
      const payload = yield* body(
        AddHost,
        { host: given.host, label: Option.getOrUndefined(given.label), kind: Option.getOrUndefined(given.kind) },
        { host: "<host>", label: "--label", kind: "--kind" }
      )
      const answer = yield* client.addHost({ payload }).pipe(Client.orExplain(to))
      yield* Output.done(answer, answer.warning ?? `${answer.host.host} leads to the gateway now.`, answer.host.host)
    })
)

export const hostsRemove = Command.make("remove", { host, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "capture")
    yield* client.removeHost({ path: { host: given.host } }).pipe(Client.orExplain(to))
    yield* Output.done({ removed: given.host }, `${given.host} is not captured any more.`, given.host)
  })
)
