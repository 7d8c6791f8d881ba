/** The people of this gateway. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import { OwnerBudget, OwnerLimits } from "../limits/entity.ts"
import * as Records from "../../store/engine/Records.ts"
import { type User, userRoles, userSources, userStates } from "./entity.ts"

export class UserRepo extends Context.Tag("gateway/subjects/users/UserRepo")<UserRepo, Records.Records<User, User>>() {}

const Provisioned = Schema.Struct({
  userName: Text,
  externalId: MaybeText,
  displayName: MaybeText,
  formatted: MaybeText,
  givenName: MaybeText,
  familyName: MaybeText,
  emails: Schema.Array(Schema.Struct({ value: Text, type: MaybeText, primary: Schema.Boolean }))
})

const Row = Schema.Struct({
  id: Text,
  name: Text,
  email: Text,
  issuer: MaybeText,
  subject: MaybeText,
  userName: MaybeText,
  provisioned: Schema.NullOr(Json(Provisioned)),
  role: Schema.Literal(...userRoles),
  source: Schema.Literal(...userSources),
  state: Schema.Literal(...userStates),
  budget: Schema.NullOr(Json(OwnerBudget)),
  limits: Schema.NullOr(Json(OwnerLimits)),
  createdAtMs: Whole,
  updatedAtMs: Whole
})

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  UserRepo.of(Records.make(sql, { name: "UserRepo", table: "users", row: Row }))
)

export const layer: Layer.Layer<UserRepo, never, SqlClient.SqlClient> = Layer.effect(UserRepo, make)
