/** People who use the gateway, whose keys may belong to them. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleKeyId, exampleRequestId, exampleTeamId, exampleTime } from "../../contract/Examples.ts"
import {
  body,
  clearable,
  Created,
  Name,
  NoContent,
  nextCursor,
  optional,
  ReadOnly,
  total
} from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"
import { observed } from "../../kernel/Observed.ts"
import { GivenOwnerBudget, GivenOwnerLimits, OwnerBudgetView, OwnerLimitsView, OwnerMeter } from "../limits/routes.ts"
import { emailPattern, maxEmailChars, userRoles, userSources, userStates } from "./entity.ts"

const words = {
  name: ["Name of the person.", "Ada"],
  email: ["E-mail address, in lower case; one person who is kept here has it.", "ada@example.com"],
  role: ["Rights of the person: `owner`, `admin`, `lead`, `member` or `viewer`.", "member"],
  state: ["`suspended`: the person's keys are refused.", "active"],
  budget: "Budget of all keys of the person; null: none.",
  limits: "Other limits of all keys of the person; null: none.",
  teams: ["Ids of the teams that have the person as a member; they are changed at the team.", [exampleTeamId]],
  issuer: ["Identifier of the issuer that signs the person in; null: none.", null],
  source: ["Where the person is kept: `local` here, `oidc` and `scim` in a directory.", "local"]
} as const

export const UserView = Schema.Struct({
  id: field(Schema.String, "Id of the person, in paths of this API.", exampleId),
  name: field(Schema.String, ...words.name),
  email: field(Schema.String, ...words.email),
  role: field(Schema.Literal(...userRoles), ...words.role),
  teams: field(Schema.Array(Schema.String), ...words.teams),
  source: field(Schema.Literal(...userSources), ...words.source),
  issuer: field(Schema.NullOr(Schema.String), ...words.issuer),
  state: field(Schema.Literal(...userStates), ...words.state),
  budget: field(Schema.NullOr(OwnerBudgetView), words.budget),
  limits: field(Schema.NullOr(OwnerLimitsView), words.limits),
  meters: observed(Schema.Array(OwnerMeter), "The limits as they are now."),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "User" })
export type UserView = typeof UserView.Type

const Email = Schema.Trim.pipe(
  Schema.maxLength(maxEmailChars),
  Schema.pattern(emailPattern, {
    message: () => "must be an e-mail address, such as ada@example.com"
  })
)

const settings = {
  role: field(optional(Schema.Literal(...userRoles)), ...words.role),
  state: field(optional(Schema.Literal(...userStates)), ...words.state),
  budget: field(clearable(GivenOwnerBudget), words.budget),
  limits: field(clearable(GivenOwnerLimits), words.limits)
}

export const CreateUser = Schema.Struct({
  name: field(Name, ...words.name),
  email: field(Email, ...words.email),
  ...settings
}).annotations(body("CreateUser"))
export type CreateUser = typeof CreateUser.Type

/** Update of a person; an absent member stays as it is. */
export const UpdateUser = Schema.Struct({
  name: field(optional(Name), ...words.name),
  email: field(optional(Email), ...words.email),
  ...settings,
  id: ReadOnly,
  teams: ReadOnly,
  source: ReadOnly,
  issuer: ReadOnly,
  meters: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateUser"))
export type UpdateUser = typeof UpdateUser.Type

const User = Schema.Struct({ user: field(UserView, "The person.") }).annotations({ identifier: "UserAnswer" })

export const PersonExport = Schema.Struct({
  user: field(UserView, "The person."),
  teams: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "Id of the team.", exampleTeamId),
        name: field(Schema.String, "Its name.", "Research")
      })
    ),
    "Teams that have the person as a member."
  ),
  keys: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "Id of the key.", exampleKeyId),
        name: field(Schema.String, "Its name.", "laptop"),
        prefix: field(Schema.String, "First characters of its secret.", "gw_Zr8c0f"),
        createdAt: field(Schema.String, "When it was made, ISO 8601.", exampleTime),
        lastUsedAt: field(Schema.NullOr(Schema.String), "When it was last used, ISO 8601; null: never.", exampleTime)
      })
    ),
    "The person's keys."
  ),
  sessions: field(
    Schema.Array(
      Schema.Struct({
        createdAt: field(Schema.String, "When the person signed in, ISO 8601.", exampleTime),
        lastSeenAt: field(Schema.String, "When it was last used, ISO 8601.", exampleTime),
        address: field(Schema.String, "Address that it came from.", "203.0.113.7"),
        userAgent: field(Schema.String, "`User-Agent` of the browser.", "Mozilla/5.0")
      })
    ),
    "Sessions of the dashboard."
  ),
  memories: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "Id of the memory.", exampleId),
        type: field(Schema.String, "Its type.", "factual"),
        content: field(Schema.String, "What was learned.", "Works with TypeScript."),
        createdAt: field(Schema.String, "When it was learned, ISO 8601.", exampleTime)
      })
    ),
    "What was learned of the requests of the person's keys."
  ),
  audit: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "Id of the request.", exampleRequestId),
        timestamp: field(Schema.String, "When it was made, ISO 8601.", exampleTime),
        action: field(Schema.String, "What was done.", "keys.rotate"),
        target: field(Schema.NullOr(Schema.String), "What it was done to; null: no single thing.", exampleKeyId),
        ip: field(Schema.String, "Address that it came from.", "203.0.113.7")
      })
    ),
    "The person's rows of the audit log, the newest 10,000."
  ),
  usage: field(
    Schema.Struct({
      requests: field(Schema.Number, "Number of requests.", 120),
      tokensIn: field(Schema.Number, "Tokens of prompts.", 52_000),
      tokensOut: field(Schema.Number, "Tokens of answers.", 9_100),
      costUsd: field(Schema.Number, "What they have cost, USD.", 0.21)
    }),
    "Sums of all requests of keys that were the person's when they came."
  )
}).annotations({ identifier: "PersonExport" })

export const PersonErased = Schema.Struct({
  erased: field(Schema.Literal(true), "Always true."),
  keys: field(Schema.Number, "Keys that were removed.", 1),
  memories: field(Schema.Number, "Memories that were removed.", 0),
  audit: field(Schema.Number, "Rows of the audit log that have no name any more.", 4)
}).annotations({ identifier: "PersonErased" })

const at = endpointsOf("users", { id: ["Id of the person.", exampleId] })

export class Users extends HttpApiGroup.make("users")
  .annotate(OpenApi.Title, "People")
  .annotate(OpenApi.Description, "People whose keys share their limits. Without people nothing of this is seen.")
  .add(
    at("list", { summary: "List people", description: "All people, the oldest first.", paged: true }).addSuccess(
      Schema.Struct({
        users: field(Schema.Array(UserView), "The people of the page."),
        nextCursor,
        total
      }).annotations({ identifier: "UserList" })
    )
  )
  .add(
    at("create", {
      summary: "Add a person",
      description: "The role is `member` where none is named.",
      example: { name: "Ada", email: "ada@example.com" }
    })
      .setPayload(CreateUser)
      .addSuccess(Created(User))
      .addError(ConflictAnswer)
  )
  .add(
    at("get", { summary: "Show a person", description: "The person, with what is used of the limits." })
      .addSuccess(User)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a person",
      description: "What is absent stays as it is; `budget` and `limits` are replaced as a whole.",
      example: { state: "active", role: "lead" }
    })
      .setPayload(UpdateUser)
      .addSuccess(User)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Remove a person",
      description: "The person leaves all teams, and the person's keys are refused at once. What they have cost stays."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("export", {
      summary: "Export what is kept of a person",
      description:
        "The person, the teams, keys and sessions, what was learned of the requests, the person's rows of the audit log, and the sums of all requests. People may export their own."
    })
      .addSuccess(PersonExport)
      .addError(NotFoundAnswer)
  )
  .add(
    at("erase", {
      summary: "Erase a person",
      description:
        "Removes the person with the sessions, the keys and what was learned of their requests, and takes the name out of the audit log. The rows and sums of what the keys have used stay, without a name; so do bills of months that are closed."
    })
      .addSuccess(PersonErased)
      .addError(NotFoundAnswer)
  ) {}
