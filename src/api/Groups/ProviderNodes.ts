/** Provider nodes: endpoints the operator added; `prefix` is then a provider id. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { ProviderNodeType } from "../../domain/ProviderNode.ts"
import { WireName } from "../../domain/Wire.ts"
import { endpointsOf } from "../Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../Errors.ts"
import { body, clearable, Created, HeaderMap, HttpUrl, Name, NoContent, optional, Secret, UrlPath } from "../Inputs.ts"

export const NodeView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  type: ProviderNodeType,
  baseUrl: Schema.String,
  wires: Schema.NullOr(Schema.Array(WireName)),
  headers: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.String })),
  chatPath: Schema.NullOr(Schema.String),
  modelsPath: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  updatedAt: Schema.String
}).annotations({ identifier: "ProviderNode" })
export type NodeView = typeof NodeView.Type

/** A provider id: it becomes the part before the slash of `<prefix>/<model>`. */
const NodePrefix = Schema.Trim.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    message: () => "must be 1 to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit"
  })
)

const nullableFields = {
  wires: clearable(Schema.Array(WireName).pipe(Schema.minItems(1), Schema.maxItems(5))),
  headers: clearable(HeaderMap),
  chatPath: clearable(UrlPath),
  modelsPath: clearable(UrlPath)
}

const CreateNode = Schema.Struct({
  name: Name,
  prefix: NodePrefix,
  type: ProviderNodeType,
  baseUrl: HttpUrl,
  ...nullableFields
}).annotations(body("CreateProviderNode"))
export type CreateNode = typeof CreateNode.Type

/**
 * What is absent stays as it is. The prefix may change only while nothing uses it. `apiKey` replaces the key of the node's connection:
 * needed when `baseUrl` leads it elsewhere, because a stored key is not sent to another address.
 */
const UpdateNode = Schema.Struct({
  name: optional(Name),
  prefix: optional(NodePrefix),
  type: optional(ProviderNodeType),
  baseUrl: optional(HttpUrl),
  apiKey: optional(Secret),
  ...nullableFields
}).annotations(body("UpdateProviderNode"))
export type UpdateNode = typeof UpdateNode.Type

const Nodes = Schema.Struct({ nodes: Schema.Array(NodeView) })
const Node = Schema.Struct({ node: NodeView })

const at = endpointsOf("providerNodes")

export class ProviderNodes extends HttpApiGroup.make("providerNodes")
  .add(at("list").addSuccess(Nodes))
  .add(at("create").setPayload(CreateNode).addSuccess(Created(Node)).addError(ConflictAnswer))
  .add(at("get").addSuccess(Node).addError(NotFoundAnswer))
  .add(at("update").setPayload(UpdateNode).addSuccess(Node).addError(NotFoundAnswer).addError(ConflictAnswer))
  .add(at("remove").addSuccess(NoContent).addError(NotFoundAnswer)) {}
