/** Teams, in a tree of at most four levels, whose limits hold for all below. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleRequestId, exampleTeamId, exampleTime } from "../../contract/Examples.ts"
import {
  body,
  clearable,
  Created,
  Name,
  NoContent,
  nextCursor,
  optional,
  ReadOnly,
  Text,
  total
} from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"
import { observed } from "../../kernel/Observed.ts"
import { GivenOwnerBudget, GivenOwnerLimits, OwnerBudgetView, OwnerLimitsView, OwnerMeter } from "../limits/routes.ts"
import { maxUsers } from "../users/entity.ts"
import { contentReaders, maxRate, noticeOf, teamSources } from "./entity.ts"

const words = {
  name: ["Name of the team; no other has it.", "Research"],
  source: ["Where the team is kept: `local` here, `scim` in a directory that pushes its groups.", "local"],
  parent: ["Id of the team above, whose limits hold too; null: none.", null],
  budget: "Budget of all keys of the team and of the teams below; null: none.",
  models: ["Model ids that keys of the team may use, `*` in them for any text; null or empty: all.", ["openai/*"]],
  limits: "Other limits of all keys of the team and of the teams below; null: none.",
  rate: ["Factor by which what the team costs is billed to it (`billedUsd` of `/api/bills`); 1: as it is.", 1.15],
  content: [
    "Who may see prompts and answers of the team's keys: `none`: nobody, and nothing of them is kept that people could see; `admins`: those who administer the gateway; `leads`: these, and leads of the team.",
    "none"
  ],
  contentNotice: ["What members are told about that; null: the usual text.", null],
  members: ["Ids of the people in the team.", [exampleId]]
} as const

export const TeamView = Schema.Struct({
  id: field(Schema.String, "Id of the team, in paths of this API.", exampleTeamId),
  name: field(Schema.String, ...words.name),
  source: field(Schema.Literal(...teamSources), ...words.source),
  parent: field(Schema.NullOr(Schema.String), ...words.parent),
  budget: field(Schema.NullOr(OwnerBudgetView), words.budget),
  models: field(Schema.NullOr(Schema.Array(Schema.String)), ...words.models),
  limits: field(Schema.NullOr(OwnerLimitsView), words.limits),
  rate: field(Schema.Number, ...words.rate),
  content: field(Schema.Literal(...contentReaders), ...words.content),
  contentNotice: field(Schema.NullOr(Schema.String), ...words.contentNotice),
  notice: field(
    Schema.String,
    "What members are told: `contentNotice`, or the usual text.",
    noticeOf({ content: "none", contentNotice: null })
  ),
  members: field(Schema.Array(Schema.String), ...words.members),
  meters: observed(Schema.Array(OwnerMeter), "The limits as they are now."),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "Team" })
export type TeamView = typeof TeamView.Type

const Id = Text.pipe(Schema.maxLength(100))
const Patterns = Schema.Array(Text.pipe(Schema.maxLength(300))).pipe(Schema.maxItems(1000))
const Members = Schema.Array(Id).pipe(Schema.maxItems(maxUsers))

const Notice = Text.pipe(
  Schema.maxLength(1000),
  Schema.filter((text) => (/[\p{Cc}\p{Bidi_Control}]/u.test(text) ? "must not hold control characters" : true))
)

const Rate = Schema.Number.pipe(Schema.between(0, maxRate))

const settings = {
  parent: field(clearable(Id), ...words.parent),
  budget: field(clearable(GivenOwnerBudget), words.budget),
  models: field(clearable(Patterns), ...words.models),
  limits: field(clearable(GivenOwnerLimits), words.limits),
  rate: field(clearable(Rate), ...words.rate),
  content: field(optional(Schema.Literal(...contentReaders)), ...words.content),
  contentNotice: field(clearable(Notice), ...words.contentNotice),
  members: field(optional(Members), ...words.members)
}

export const CreateTeam = Schema.Struct({ name: field(Name, ...words.name), ...settings }).annotations(
  body("CreateTeam")
)
export type CreateTeam = typeof CreateTeam.Type

/** Update of a team; an absent member stays as it is. */
export const UpdateTeam = Schema.Struct({
  name: field(optional(Name), ...words.name),
  ...settings,
  id: ReadOnly,
  source: ReadOnly,
  notice: ReadOnly,
  meters: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateTeam"))
export type UpdateTeam = typeof UpdateTeam.Type

const Team = Schema.Struct({ team: field(TeamView, "The team.") }).annotations({ identifier: "TeamAnswer" })

export const TeamContent = Schema.Struct({
  requestId: field(Schema.String, "The answer's `X-Gateway-Request-Id`.", exampleRequestId),
  timestamp: field(Schema.String, "When the request arrived, ISO 8601.", exampleTime),
  request: field(
    Schema.NullOr(Schema.String),
    "Body of the request, masked; null: it is not kept any more.",
    '{"model":"auto"}'
  ),
  answer: field(
    Schema.NullOr(Schema.String),
    "Body of the answer, masked; null: it is not kept any more.",
    '{"choices":[]}'
  )
}).annotations({ identifier: "TeamContent" })

const at = endpointsOf("teams", {
  id: ["Id of the team.", exampleTeamId],
  requestId: ["The answer's `X-Gateway-Request-Id`.", exampleRequestId]
})

export class Teams extends HttpApiGroup.make("teams")
  .annotate(OpenApi.Title, "Teams")
  .annotate(OpenApi.Description, "Teams whose keys share their limits, with those of the teams above.")
  .add(
    at("list", { summary: "List teams", description: "All teams, the oldest first.", paged: true }).addSuccess(
      Schema.Struct({
        teams: field(Schema.Array(TeamView), "The teams of the page."),
        nextCursor,
        total
      }).annotations({ identifier: "TeamList" })
    )
  )
  .add(
    at("create", {
      summary: "Add a team",
      description: "A tree has at most four levels.",
      example: { name: "Research", budget: { dailyLimitUsd: 20 } }
    })
      .setPayload(CreateTeam)
      .addSuccess(Created(Team))
      .addError(ConflictAnswer)
  )
  .add(
    at("get", { summary: "Show a team", description: "The team, with what is used of its limits." })
      .addSuccess(Team)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a team",
      description: "What is absent stays as it is; `budget`, `limits`, `models` and `members` are replaced as a whole.",
      example: { budget: { dailyLimitUsd: 30, monthlyLimitUsd: 400 } }
    })
      .setPayload(UpdateTeam)
      .addSuccess(Team)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Remove a team",
      description: "Its keys are refused at once. Refused while teams are below it."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("content", {
      summary: "See the content of a request",
      description:
        "Prompt and answer of a request of one of the team's keys, where the team's `content` lets the caller see them, and while the inspector has them. Each sight is a row of the audit log."
    })
      .addSuccess(TeamContent)
      .addError(NotFoundAnswer)
  ) {}
