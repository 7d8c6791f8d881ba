/** An entry of the registry as its data files have it: what most providers have in common is left out there, and filled in here. */
import { exactOptional } from "../../../kernel/Documented.ts"
import * as Schema from "effect/Schema"
import { mediaAdapters, MediaKind } from "../../../contract/domain/MediaKind.ts"
import {
  type ProviderAuth,
  providerCategories,
  type ProviderCategory,
  type ProviderSpec
} from "../../../contract/domain/Provider.ts"
import { WireName } from "../../../contract/domain/Wire.ts"
import { dialectOf } from "./dialects.ts"

const bearer: ProviderAuth = { type: "apikey", header: "authorization", prefix: "Bearer " }
export const optionalBearer: ProviderAuth = { ...bearer, type: "optional" }
export const xApiKey: ProviderAuth = { type: "apikey", header: "x-api-key", prefix: "" }
export const googleKey: ProviderAuth = { type: "apikey", header: "x-goog-api-key", prefix: "" }

/** The messages wire is versioned by a header; servers that do not know it ignore it. */
export const messagesVersion: Readonly<Record<string, string>> = { "anthropic-version": "2023-06-01" }

const Texts = Schema.Array(Schema.String)
const Headers = Schema.Record({ key: Schema.String, value: Schema.String })

const Service = Schema.Struct({
  adapter: exactOptional(Schema.Literal(...mediaAdapters)),
  wire: exactOptional(WireName),
  baseUrl: exactOptional(Schema.String),
  path: Schema.String
})

/** The fields are those of `ProviderSpec`. */
export const Entry = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  baseUrl: Schema.String,
  /** Absent: that of the file. */
  category: exactOptional(Schema.Literal(...providerCategories)),
  aliases: exactOptional(Texts),
  class: exactOptional(Schema.Literal("oauth", "apikey", "local")),
  /** Absent: `chat`. */
  wires: exactOptional(Schema.NonEmptyArray(WireName)),
  paths: exactOptional(Schema.partialWith(Schema.Record({ key: WireName, value: Schema.String }), { exact: true })),
  /** Absent: a bearer key. Of a header with another name the key is all that it holds. */
  auth: exactOptional(
    Schema.Struct({
      type: exactOptional(Schema.Literal("apikey", "oauth", "none", "optional")),
      header: exactOptional(Schema.String),
      prefix: exactOptional(Schema.String)
    })
  ),
  headers: exactOptional(Headers),
  env: exactOptional(Texts),
  models: exactOptional(Texts),
  /** Absent: `/models`. */
  modelsPath: exactOptional(Schema.NullOr(Schema.String)),
  paintsOnly: exactOptional(Schema.Literal(true)),
  keepsResponses: exactOptional(Schema.Boolean),
  openAiTools: exactOptional(Schema.Boolean),
  systemBetween: exactOptional(Schema.Boolean),
  batches: exactOptional(Schema.Literal("openai")),
  oauth: exactOptional(Schema.Struct({ tokenUrl: Schema.String, style: Schema.Literal("form", "json") })),
  media: exactOptional(
    Schema.partialWith(Schema.Record({ key: Schema.Union(MediaKind, Schema.Literal("search")), value: Service }), {
      exact: true
    })
  ),
  keyUrl: exactOptional(Schema.String),
  keyHint: exactOptional(Schema.String),
  docsUrl: exactOptional(Schema.String)
})
export type Entry = typeof Entry.Type

const authOf = ({ header = bearer.header, prefix, type = bearer.type }: NonNullable<Entry["auth"]>): ProviderAuth => ({
  type,
  header,
  prefix: prefix ?? (header === bearer.header ? bearer.prefix : "")
})

const mediaOf = (media: NonNullable<Entry["media"]>): ProviderSpec["media"] =>
  Object.fromEntries(
    Object.entries(media).map(([kind, service]) => [kind, { adapter: null, baseUrl: null, ...service }])
  )

/** Makes a provider's facts of an entry. The file's category holds where the entry names none. */
export const specOf =
  (fileCategory: ProviderCategory) =>
  ({ auth, category = fileCategory, media = {}, oauth, ...own }: Entry): ProviderSpec => ({
    aliases: [],
    class: category === "local" ? "local" : "apikey",
    wires: ["chat"],
    paths: {},
    modelsPath: "/models",
    headers: {},
    ownHeaders: {},
    env: [],
    models: [],
    docsUrl: null,
    keyUrl: null,
    keyHint: null,
    keepsResponses: false,
    openAiTools: false,
    systemBetween: false,
    dialect: dialectOf(own.id),
    ...own,
    category,
    auth: auth === undefined ? (category === "local" ? optionalBearer : bearer) : authOf(auth),
    media: mediaOf(media),
    // Every account has a client of its own.
    oauth: oauth === undefined ? null : { ...oauth, clientId: null, clientAuth: "body" }
  })
