/** All that requests can be routed to. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ModelPrice } from "../pricing/entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { exampleId } from "../../contract/Examples.ts"
import { nextCursor, total } from "../../contract/Inputs.ts"

const known = (what: string) => field(Schema.NullOr(Schema.Boolean), `${what}; null: unknown.`, true)

export const CatalogModel = Schema.Struct({
  id: field(Schema.String, "What a client asks for.", "openai/gpt-4o-mini"),
  kind: field(Schema.Literal("model", "combo", "auto", "alias"), "What it is."),
  provider: field(Schema.NullOr(Schema.String), "The provider of a model; null: it is no model.", "openai"),
  model: field(Schema.NullOr(Schema.String), "The provider's name of the model; null: it is no model.", "gpt-4o-mini"),
  name: field(Schema.NullOr(Schema.String), "Its name for people; null: none is known.", "GPT-4o mini"),
  source: field(
    Schema.NullOr(Schema.Literal("declared", "connection", "upstream", "registry")),
    "Who says that it is there: the operator, the connection, the provider's own list, or the gateway's registry."
  ),
  contextLength: field(Schema.NullOr(Schema.Number), "Tokens of its context window; null: unknown.", 128_000),
  maxOutputTokens: field(Schema.NullOr(Schema.Number), "Most tokens of an answer; null: unknown.", 16_384),
  capabilities: field(
    Schema.NullOr(
      Schema.Struct({
        vision: known("Whether it reads pictures"),
        reasoning: known("Whether it reasons"),
        toolCalling: known("Whether it calls tools"),
        structuredOutput: known("Whether it answers in a given form")
      })
    ),
    "What it can; null: it is no model."
  ),
  converses: field(
    Schema.optional(Schema.Boolean),
    "Whether it can hold a conversation: by what is known of its output, else by its name. A combo and an alias: whether one of their models can.",
    true
  ),
  price: field(Schema.NullOr(ModelPrice), "USD per 1,000,000 tokens; null: unknown."),
  priceSource: field(
    Schema.NullOr(Schema.Literal("override", "synced", "embedded")),
    "Who says so: the operator, a fetched table, or the table the gateway comes with; null: no price is known.",
    "embedded"
  ),
  priceDated: field(Schema.NullOr(Schema.String), "The day the price is of; null: unknown, or set here.", "2035-01-01"),
  health: field(
    Schema.Array(
      Schema.Struct({
        connectionId: field(Schema.String, "Id of the connection.", exampleId),
        name: field(Schema.String, "Its name.", "work"),
        state: field(Schema.Literal("available", "cooling", "terminal", "inactive"), "What can be done with it now.")
      }).annotations({ identifier: "CatalogConnection" })
    ),
    "The connections that serve it."
  )
}).annotations({ identifier: "CatalogModel" })
export type CatalogModel = typeof CatalogModel.Type

export const modelListing = {
  sorts: ["id", "kind", "provider", "contextLength"],
  searched: "id",
  summary: ["id", "kind", "provider", "model", "source", "converses"],
  filters: {
    kind: { description: "of this kind", example: "model", values: ["model", "combo", "auto", "alias"] },
    provider: { description: "of this provider, or of the node with this prefix", example: "openai" },
    connectionId: { description: "that this connection serves", example: exampleId },
    priced: {
      description: "that are models with a price (`true`) or without one (`false`)",
      example: "false",
      values: ["true", "false"]
    }
  }
} as const

const at = endpointsOf("modelCatalog")

export class ModelCatalog extends HttpApiGroup.make("modelCatalog")
  .annotate(OpenApi.Title, "Model catalogue")
  .annotate(OpenApi.Description, "All that requests can be routed to.")
  .add(
    at("list", {
      summary: "List what can be routed to",
      description: "Models of connections, combos, automatic ids and aliases, with prices, windows and health.",
      listed: modelListing
    }).addSuccess(
      Schema.Struct({
        models: field(Schema.Array(CatalogModel), "The entries of the page."),
        nextCursor,
        total
      }).annotations({
        identifier: "ModelCatalog"
      })
    )
  ) {}
