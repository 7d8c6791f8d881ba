/** `gateway tools` and `gateway tools agents`: what is installed on the gateway's machine. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AgentList, type AgentView } from "./routes.ts"
import { ToolStatusView } from "../tools/routes.ts"
import * as Client from "../../cli/gateway/Client.ts"
import * as Column from "../../cli/output/Column.ts"
import * as Output from "../../cli/output/Output.ts"

const Statuses = Schema.Record({ key: Schema.String, value: ToolStatusView })

interface Row extends ToolStatusView {
  readonly id: string
  readonly setup: string | null
}

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("TOOL", ({ id }) => id),
  Column.text("VERSION", ({ detection }) => detection.version ?? (detection.installed ? "unknown" : null)),
  Column.text("CONFIGURED", ({ config }) => config.status.replaceAll("_", " ")),
  Column.text("SET UP BY", ({ setup }) => setup),
  Column.prose("REMARK", ({ detection, error }) => error ?? (detection.installed ? detection.reason : null))
]

export const toolsList = Command.make("list", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "cliTools")
    const value = yield* client.statuses().pipe(Client.orExplain(to, "1 hour"))
    const { tools } = yield* client.list().pipe(Client.orExplain(to))
    const setups = new Map(tools.map(({ id, setupCommand }) => [id, setupCommand]))
    const rows = Object.entries(value)
      .map(([id, status]): Row => Object.assign({ id, setup: setups.get(id) ?? null }, status))
      .toSorted((a, b) => Number(b.detection.installed) - Number(a.detection.installed))
    yield* Output.list({ schema: Statuses, value, rows, columns, empty: "No tools are known." })
  })
)

const agentColumns: ReadonlyArray<Column.Column<AgentView>> = [
  Column.name("AGENT", ({ id }) => id),
  Column.text("NAME", ({ name }) => name),
  Column.text("VERSION", ({ installed, version }) => version ?? (installed ? "unknown" : null)),
  Column.yesNo("INSTALLED", ({ installed }) => installed),
  Column.text("PROGRAM", ({ binary }) => binary)
]

export const agentsList = Command.make("agents", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "acp")
    const value = yield* client.list().pipe(Client.orExplain(to, "1 hour"))
    yield* Output.list({
      schema: AgentList,
      value,
      rows: value.agents,
      columns: agentColumns,
      empty: "No agents are known."
    })
  })
)
