/** Issuers that sign people in. The secrets of their clients are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Flag, Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import * as Records from "../../store/engine/Records.ts"
import { sealedColumn, SecretText, type Stored } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import { userRoles } from "../users/entity.ts"
import { type Issuer, issuerKinds, matchedAttributes } from "./entity.ts"

export type StoredIssuer = Stored<Issuer>

export class IssuerRepo extends Context.Tag("gateway/subjects/issuers/IssuerRepo")<
  IssuerRepo,
  Records.Records<StoredIssuer, Issuer>
>() {}

const Role = Schema.Literal(...userRoles)
const Texts = Json(Schema.Array(Text))

const Row = Schema.Struct({
  id: Text,
  name: Text,
  kind: Schema.Literal(...issuerKinds),
  issuer: Text,
  clientId: Text,
  clientSecret: MaybeText,
  scopes: Texts,
  allowedDomains: Texts,
  allowedGroups: Texts,
  groupsClaim: Text,
  groupRules: Json(Schema.Array(Schema.Struct({ group: Text, role: Schema.NullOr(Role), team: MaybeText }))),
  defaultRole: Schema.NullOr(Role),
  scim: Schema.NullOr(
    Json(Schema.Struct({ claim: Text, attribute: Schema.Literal(...matchedAttributes), parent: MaybeText }))
  ),
  isEnabled: Flag,
  createdAtMs: Whole,
  updatedAtMs: Whole
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = { clientSecret: sealedColumn(yield* Secrets, "issuers", "client_secret", SecretText) }
  const options = { name: "IssuerRepo", table: "issuers", row: Row }
  return IssuerRepo.of(Records.mapped(sql, options, Records.sealed(Row, columns)))
})

export const layer: Layer.Layer<IssuerRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(IssuerRepo, make)
