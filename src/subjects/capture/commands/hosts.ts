/** `gateway capture hosts`: hosts that the hosts file sends to the gateway. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { AddHost, CustomHostView } from "../routes.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const host = Args.text({ name: "host" }).pipe(Args.withDescription("The name, such as api.example.com."))
const columns: ReadonlyArray<Column.Column<CustomHostView>> = [
  Column.name("HOST", (each) => each.host),
  Column.yesNo("CAPTURED", ({ enabled }) => enabled),
  Column.yesNo("IN HOSTS FILE", ({ inHostsFile }) => inHostsFile),
  Column.text("KIND", ({ kind }) => kind),
  Column.text("LABEL", ({ label }) => label)
]

export const hostsList = asking("list", "capture", {}, function* (client) {
  const value = yield* client.hosts()
  yield* Output.list({
    schema: Schema.Struct({ hosts: Schema.Array(CustomHostView) }),
    value,
    rows: value.hosts,
    columns,
    empty: "No host is captured."
  })
})

export const hostsAdd = asking(
  "add",
  "capture",
  {
    host,
    label: Options.text("label").pipe(Options.withDescription("What you call it."), Options.optional),
    kind: Options.choice("kind", ["llm", "app", "custom"]).pipe(
      Options.withDescription("What its requests are listed as. Default: custom."),
      Options.optional
    )
  },
  function* (client, given) {
    const payload = yield* body(
      AddHost,
      { host: given.host, label: Option.getOrUndefined(given.label), kind: Option.getOrUndefined(given.kind) },
      { host: "<host>", label: "--label", kind: "--kind" }
    )
    const answer = yield* client.addHost({ payload })
    yield* Output.done(answer, answer.warning ?? `${answer.host.host} leads to the gateway now.`, answer.host.host)
  }
)

export const hostsRemove = asking("remove", "capture", { host }, function* (client, given) {
  yield* client.removeHost({ path: { host: given.host } })
  yield* Output.done({ removed: given.host }, `${given.host} is not captured any more.`, given.host)
})
