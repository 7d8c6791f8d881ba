/** The gateways that share a database. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"

export const NodeView = Schema.Struct({
  id: field(Schema.String, "Its id, another one after each start.", exampleId),
  name: field(Schema.String, "Name of its machine, and its port.", "gateway-1:20128"),
  self: field(Schema.Boolean, "It is the one that answers.", true),
  state: field(Schema.Literal("up", "lost"), "`lost`: it was not seen for 20 seconds."),
  version: field(Schema.String, "Version of its program.", "0.1.0"),
  schemaVersion: field(Schema.Number, "Version of the schema that it knows.", 60),
  startedAt: field(Schema.String, "When it was started, ISO 8601.", exampleTime),
  seenAt: field(Schema.String, "When it was last seen, ISO 8601, by the clock of the database.", exampleTime),
  silentMs: field(Schema.Number, "Milliseconds since then.", 1200),
  changesBehind: field(Schema.Number, "Changes of the configuration that it has not taken over yet.", 0),
  toldBehind: field(
    Schema.Number,
    "Messages of other gateways about accounts and providers that it had not read a second later; 0: none.",
    0
  ),
  leases: field(Schema.Number, "Leases of limits that it holds.", 3),
  work: field(Schema.Number, "Batches, jobs and evaluations that it has begun and not ended.", 0),
  background: field(Schema.Boolean, "It does the work in the background that one gateway does for all.", true)
}).annotations({ identifier: "ClusterNode" })
export type NodeView = typeof NodeView.Type

export const ValkeyView = Schema.Struct({
  address: field(Schema.String, "Host and port.", "valkey:6379"),
  problem: field(Schema.NullOr(Schema.String), "Why it cannot be used; null: it can.", null),
  told: field(Schema.Number, "Messages of the gateway that answers which it has taken.", 1200),
  heard: field(Schema.Number, "Messages of other gateways that were heard over it.", 2400),
  lagMs: field(
    Schema.NullOr(Schema.Number),
    "Milliseconds from the telling of the latest message of another gateway until it was heard; null: none was heard.",
    3
  ),
  overDatabase: field(Schema.Number, "Messages that went over the database because it did not take them.", 0),
  dropped: field(
    Schema.Number,
    "Things about accounts, providers and conversations that were told to nobody, as too much waited while neither could be reached.",
    0
  )
}).annotations({ identifier: "ClusterValkey" })

export const ClusterView = Schema.Struct({
  engine: field(
    Schema.Literal("sqlite", "postgres"),
    "`postgres`: the database is on a server, and gateways may share it; `sqlite`: this one has it for itself.",
    "postgres"
  ),
  database: field(
    Schema.NullOr(Schema.String),
    "Host, port and name of the database; null: a file of the data folder.",
    "db.example:5432/gateway"
  ),
  valkey: field(
    Schema.NullOr(ValkeyView),
    "Valkey as the gateway that answers has found it since its start; null: there is none.",
    null
  ),
  nodes: field(Schema.Array(NodeView), "The gateways on it, the oldest first; empty over SQLite."),
  ownOfEach: field(
    Schema.Array(Schema.String),
    "What each gateway counts or keeps by itself, where others could be expected to know of it (docs/cluster.md).",
    ["the places of maxConcurrent"]
  )
}).annotations({ identifier: "Cluster" })
export type ClusterView = typeof ClusterView.Type

export const ForgottenView = Schema.Struct({
  id: field(Schema.String, "Its id.", exampleId),
  name: field(Schema.String, "Name of its machine, and its port.", "gateway-1:20128"),
  leases: field(Schema.Number, "Leases of limits that it held, which are free now.", 2),
  work: field(Schema.Number, "Batches, jobs and evaluations that it had not ended.", 0)
}).annotations({ identifier: "ForgottenNode" })
export type ForgottenView = typeof ForgottenView.Type

const at = endpointsOf("cluster", { name: ["Name or id of a gateway.", "gateway-2:20128"] })

export class Cluster extends HttpApiGroup.make("cluster")
  .annotate(OpenApi.Title, "Cluster")
  .annotate(OpenApi.Description, "The gateways that share a database.")
  .add(
    at("get", {
      summary: "Show the gateways that share the database",
      description:
        "Each gateway on a database of Postgres with its version, when it was last seen, and how many changes of the configuration it has not taken over yet. What holds over several of them is in docs/cluster.md."
    })
      .addSuccess(ClusterView)
      .addError(UnavailableAnswer)
  )
  .add(
    at("forget", {
      summary: "Forget a gateway that will not come back",
      description:
        "Takes a gateway that was lost off the list, by its name or id, and gives up what it held: leases of limits are free, and batches, jobs and evaluations that it had not ended are taken up by the next gateway that starts (a batch fails, as its lines were in that gateway's data folder). One that runs is refused, and one that was heard of in the last 35 seconds. Should it come back all the same, with its data folder, it books what it had not told, each request once."
    })
      .addSuccess(ForgottenView)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  ) {}
