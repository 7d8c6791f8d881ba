/** The teams of this gateway. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import { OwnerBudget, OwnerLimits } from "../limits/entity.ts"
import * as Records from "../../store/engine/Records.ts"
import { contentReaders, type Team, teamSources } from "./entity.ts"

export class TeamRepo extends Context.Tag("gateway/subjects/teams/TeamRepo")<TeamRepo, Records.Records<Team, Team>>() {}

const Texts = Json(Schema.Array(Text))

const Row = Schema.Struct({
  id: Text,
  name: Text,
  source: Schema.Literal(...teamSources),
  externalId: MaybeText,
  parent: MaybeText,
  budget: Schema.NullOr(Json(OwnerBudget)),
  models: Schema.NullOr(Texts),
  limits: Schema.NullOr(Json(OwnerLimits)),
  rate: Schema.Number,
  content: Schema.Literal(...contentReaders),
  contentNotice: MaybeText,
  members: Texts,
  createdAtMs: Whole,
  updatedAtMs: Whole
})

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  TeamRepo.of(Records.make(sql, { name: "TeamRepo", table: "teams", row: Row }))
)

export const layer: Layer.Layer<TeamRepo, never, SqlClient.SqlClient> = Layer.effect(TeamRepo, make)
