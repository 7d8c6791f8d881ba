/** `gateway provider nodes …`: providers of the operator's own, each an address and the wires it speaks. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { NodeView, UpdateNode } from "../../nodes/routes.ts"
import { WireName } from "../../../contract/domain/Wire.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { confirm, yes } from "../../../cli/asking/confirm.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { changes } from "../../../cli/flags/Flags.ts"
import * as Column from "../../../cli/output/Column.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { keyOfFlags } from "../../../cli/asking/providerKey.ts"
import { keyFlags } from "./add.ts"
import { nodeArg, nodes } from "./found.ts"
import { findOne, listOf, on } from "../../../cli/verbs/noun.ts"

const Nodes = Schema.Struct({ nodes: Schema.Array(NodeView) })
export const OneNode = Schema.Struct({ node: NodeView })

const columns: ReadonlyArray<Column.Column<NodeView>> = [
  Column.name("PREFIX", ({ prefix }) => prefix),
  Column.prose("NAME", ({ name }) => name),
  Column.text("BASE URL", ({ baseUrl }) => baseUrl),
  Column.text("WIRES", ({ type, wires }) => wires?.join(", ") ?? type),
  Column.id("ID", ({ id }) => id)
]

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

export const nodesList = listOf(nodes, {
  schema: Nodes,
  columns,
  empty: "There are no nodes. Make one with 'gateway provider add custom --base-url <address> --wire chat'."
})

export const nodesShow = on("show", nodes, {}, function* ({ client, found, to }) {
  const answer = yield* client.get({ path: { id: found.id } })
  const { baseUrl, chatPath, headers, id, modelsPath, name, prefix, type, wires } = answer.node
  const page = fields([
    ["Prefix", prefix],
    ["Name", name],
    ["Base URL", baseUrl],
    ["Type", type],
    ["Wires", wires?.join(", ") ?? "those of its type"],
    ["Headers", Object.keys(headers ?? {}).join(", ") || "-"],
    ["Chat path", chatPath ?? "the usual one"],
    ["Models path", modelsPath ?? "the usual one"],
    ["Id", id]
  ])
  yield* Output.result({
    schema: OneNode,
    value: answer,
    text: Output.print(page),
    name: prefix,
    version: latestVersion(to)
  })
})

const editFlags = {
  node: nodeArg,
  name: text("name", "Another name."),
  baseUrl: text("base-url", "Another address. A stored key has to be given again."),
  ...keyFlags,
  wires: Options.choice("wire", WireName.literals).pipe(
    Options.withDescription("A wire format it speaks; may be given several times."),
    Options.repeated
  ),
  chatPath: text("chat-path", "Path of its inference route; '' is the usual one."),
  modelsPath: text("models-path", "Path of its list of models; '' is the usual one."),
  ...Client.editing
}

const clearing = (given: Option.Option<string>): string | null | undefined =>
  Option.getOrUndefined(Option.map(given, (value) => (value === "" ? null : value)))

export const nodesEdit = Command.make("edit", editFlags, (given) =>
  Effect.gen(function* () {
    const key = yield* keyOfFlags(given)
    const payload = yield* changes(
      UpdateNode,
      {
        name: Option.getOrUndefined(given.name),
        baseUrl: Option.getOrUndefined(given.baseUrl),
        apiKey: key === null ? undefined : Redacted.value(key),
        wires: given.wires.length === 0 ? undefined : given.wires,
        chatPath: clearing(given.chatPath),
        modelsPath: clearing(given.modelsPath)
      },
      {
        name: "--name",
        baseUrl: "--base-url",
        apiKey: "--api-key",
        wires: "--wire",
        chatPath: "--chat-path",
        modelsPath: "--models-path"
      },
      "provider nodes edit cellar --base-url http://10.0.0.5:8080/v1"
    )
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(nodes, to, given.node)
    const answer = yield* client.update({ path: { id: found.id }, payload })
    const { prefix } = answer.node
    yield* Output.result({
      schema: OneNode,
      value: answer,
      text: Output.note(`The node '${prefix}' is changed.`),
      name: prefix
    })
  })
)

const removeFlags = {
  node: nodeArg,
  withConnections: Options.boolean("with-connections").pipe(
    Options.withDescription("Remove its connections and their keys, too.")
  ),
  yes,
  ...Client.connection
}

export const nodesRemove = Command.make("remove", removeFlags, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(nodes, to, given.node)
    const providers = yield* Client.group(to, "providers")
    const { connections } = yield* providers.list().pipe(Client.orExplain(to))
    const names = connections.filter(({ provider }) => provider === found.prefix).map(({ name }) => name)
    if (names.length > 0 && !given.withConnections) {
      return yield* new BadArgument({
        message: `The node '${found.prefix}' has ${Output.counted(names.length, "connection")}: ${names.join(", ")}.`,
        hint: "Remove them first, or give --with-connections to remove them with it."
      })
    }
    const also = names.length === 0 ? "" : ` and its ${Output.counted(names.length, "connection")}`
    yield* confirm(given, `Remove the node '${found.prefix}'${also}?`)
    yield* client.remove({ path: { id: found.id } })
    yield* Output.done(
      { removed: found.id, prefix: found.prefix, connections: names },
      `The node '${found.prefix}'${also} is gone.`,
      found.prefix
    )
  })
)
