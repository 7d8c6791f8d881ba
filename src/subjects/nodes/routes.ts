/** Provider nodes: endpoints the operator added; `prefix` is then a provider id. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import type { MediaKind } from "../../contract/domain/MediaKind.ts"
import { ProviderNodeType } from "./entity.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import {
  body,
  clearable,
  Created,
  HeaderMap,
  HttpUrl,
  Name,
  nextCursor,
  total,
  NoContent,
  optional,
  Secret,
  UrlPath
} from "../../contract/Inputs.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"

const words = {
  name: ["A name for people.", "Server in the cellar"],
  prefix: ["Its provider id: the part before the slash of `<prefix>/<model>`.", "cellar"],
  type: "Which kind of API it has.",
  baseUrl: ["Its address, with the version where it has one.", "http://127.0.0.1:8080/v1"],
  wires: ["The wire formats it speaks; null: those of its type.", ["chat"]],
  headers: ["Sent with every request; null: none. Values may be secrets.", null],
  chatPath: ["Path of its inference route below `baseUrl`; null: the usual one.", null],
  modelsPath: ["Path of its list of models below `baseUrl`; null: the usual one.", "/models"],
  mediaPaths: [
    "Paths of its other endpoints below `baseUrl`, by kind; null, and for kinds that are absent: OpenAI's.",
    { rerank: "/rerank" }
  ]
} as const

const mediaPathWords = {
  embeddings: ["Path for embeddings.", "/embeddings"],
  rerank: ["Path for ranking documents.", "/rerank"],
  moderations: ["Path for moderations.", "/moderations"],
  speech: ["Path for speech.", "/audio/speech"],
  images: ["Path for pictures.", "/images/generations"],
  transcriptions: ["Path for transcriptions.", "/audio/transcriptions"],
  translations: ["Path for transcriptions into English.", "/audio/translations"],
  videos: ["Path for jobs that make films.", "/videos"],
  music: ["Path for jobs that make music.", "/music/generations"],
  imageEdits: ["Path for changing pictures.", "/images/edits"],
  imageVariations: ["Path for variations of a picture.", "/images/variations"]
} as const

const mediaPaths = <A, I, R>(path: Schema.Schema<A, I, R>) =>
  Schema.Struct({
    embeddings: field(optional(path), ...mediaPathWords.embeddings),
    rerank: field(optional(path), ...mediaPathWords.rerank),
    moderations: field(optional(path), ...mediaPathWords.moderations),
    speech: field(optional(path), ...mediaPathWords.speech),
    images: field(optional(path), ...mediaPathWords.images),
    transcriptions: field(optional(path), ...mediaPathWords.transcriptions),
    translations: field(optional(path), ...mediaPathWords.translations),
    videos: field(optional(path), ...mediaPathWords.videos),
    music: field(optional(path), ...mediaPathWords.music),
    imageEdits: field(optional(path), ...mediaPathWords.imageEdits),
    imageVariations: field(optional(path), ...mediaPathWords.imageVariations)
  } satisfies Record<MediaKind, unknown>)

const MediaPathsView = mediaPaths(Schema.String).annotations({ identifier: "MediaPaths" })
const MediaPathsInput = mediaPaths(UrlPath).annotations(body("MediaPathsInput"))

export const NodeView = Schema.Struct({
  id: field(Schema.String, "Id of the node, in paths of this API.", exampleId),
  name: field(Schema.String, ...words.name),
  prefix: field(Schema.String, ...words.prefix),
  type: field(ProviderNodeType, words.type),
  baseUrl: field(Schema.String, ...words.baseUrl),
  wires: field(Schema.NullOr(Schema.Array(WireName)), ...words.wires),
  headers: field(
    Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.String })),
    "Sent with every request; their values are masked.",
    { "x-team": "***" }
  ),
  chatPath: field(Schema.NullOr(Schema.String), ...words.chatPath),
  modelsPath: field(Schema.NullOr(Schema.String), ...words.modelsPath),
  mediaPaths: field(Schema.NullOr(MediaPathsView), ...words.mediaPaths),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "ProviderNode" })
export type NodeView = typeof NodeView.Type

/** A provider id: it becomes the part before the slash of `<prefix>/<model>`. */
const NodePrefix = Schema.Trim.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    message: () => "must be 1 to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit"
  })
)

const nullableFields = {
  wires: field(clearable(Schema.Array(WireName).pipe(Schema.minItems(1), Schema.maxItems(5))), ...words.wires),
  headers: field(clearable(HeaderMap), ...words.headers),
  chatPath: field(clearable(UrlPath), ...words.chatPath),
  modelsPath: field(clearable(UrlPath), ...words.modelsPath),
  mediaPaths: field(clearable(MediaPathsInput), ...words.mediaPaths)
}

export const CreateNode = Schema.Struct({
  name: field(Name, ...words.name),
  prefix: field(NodePrefix, ...words.prefix),
  type: field(ProviderNodeType, words.type),
  baseUrl: field(HttpUrl, ...words.baseUrl),
  ...nullableFields
}).annotations(body("CreateProviderNode"))
export type CreateNode = typeof CreateNode.Type

/**
 * Update of a node; an absent member stays as it is. The prefix may change only while nothing uses it. `apiKey` replaces the key of
 * the node's connection: needed when `baseUrl` leads it elsewhere, because a stored key is not sent to another address.
 */
export const UpdateNode = Schema.Struct({
  name: field(optional(Name), ...words.name),
  prefix: field(optional(NodePrefix), ...words.prefix),
  type: field(optional(ProviderNodeType), words.type),
  baseUrl: field(optional(HttpUrl), ...words.baseUrl),
  apiKey: field(
    optional(Secret),
    "The key of the node's connection, again: needed when `baseUrl` leads a stored key to another address."
  ),
  ...nullableFields
}).annotations(body("UpdateProviderNode"))
export type UpdateNode = typeof UpdateNode.Type

const Nodes = Schema.Struct({
  nodes: field(Schema.Array(NodeView), "The nodes of the page."),
  nextCursor,
  total
}).annotations({ identifier: "ProviderNodeList" })
const Node = Schema.Struct({ node: field(NodeView, "The node.") }).annotations({ identifier: "ProviderNodeAnswer" })

const at = endpointsOf("providerNodes", { id: ["Id of the node.", exampleId] })

export class ProviderNodes extends HttpApiGroup.make("providerNodes")
  .annotate(OpenApi.Title, "Provider nodes")
  .annotate(OpenApi.Description, "Providers that the operator added: an address and the wires it speaks.")
  .add(
    at("list", { summary: "List provider nodes", description: "All nodes, the oldest first.", paged: true }).addSuccess(
      Nodes
    )
  )
  .add(
    at("create", {
      summary: "Add a provider node",
      description: "Afterwards add a connection whose `provider` is the prefix of the node.",
      example: {
        name: "Server in the cellar",
        prefix: "cellar",
        type: "openai-compatible",
        baseUrl: "http://127.0.0.1:8080/v1"
      }
    })
      .setPayload(CreateNode)
      .addSuccess(Created(Node))
      .addError(ConflictAnswer)
  )
  .add(
    at("get", { summary: "Show a provider node", description: "The node; values of its headers are masked." })
      .addSuccess(Node)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a provider node",
      description: "What is absent stays as it is. The prefix may change only while nothing uses it.",
      example: { name: "Server in the attic" }
    })
      .setPayload(UpdateNode)
      .addSuccess(Node)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", { summary: "Delete a provider node", description: "Its connections are deleted with it." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}
